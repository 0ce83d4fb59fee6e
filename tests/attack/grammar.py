"""Generates scripts from the whole grammar of bash, from given random numbers only.

A production is a text in which `<name>` stands for something of another kind. Most of what is said
is harmless where it stands, so that much of it is allowed; what is not stands in odd places.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from random import Random

_PLACE = re.compile(r"<([a-z]+)>")

PRODUCTIONS: Mapping[str, Sequence[str]] = {
    "script": [
        "<line>", "<line>", "<line>", "<line>\n<line>", "<line>; <line>", "<line> && <line>",
        "<line> || <line>", "<compound>", "<compound>", "<here>", "<here>", "<sly>", "<sly>",
        "<setting>; <line>", "<setting>\n<line>", "<line> # <word> <evil>\n<line>",
    ],
    "line": [
        "<command>", "<command>", "<command>", "<command> <redirection>", "<command> | <filter>",
        "<command> | <filter> | <filter>", "<command> |& <filter>", "! <command>", "time <command>",
        "time -p <command>", "<command> &", "<command> & wait", "<assignment> <command>",
        "<redirection> <command>", "<command> \\\n  <word>", "(<line>)", "{ <line>; }",
        "cd <folder> && <command>", "(cd <folder> && <command>)", "cd <folder>; <command>",
        "<wrapper> <command>", "bash -c <quoted>", "sh -c <quoted>", "eval <quoted>",
    ],
    "compound": [
        "if <line>; then <line>; fi", "if <line>; then <line>; else <line>; fi",
        "if <line>\nthen <line>\nelif <line>\nthen <line>\nelse <line>\nfi <redirection>",
        "for f in <words>; do <loop>; done", "for f in <words>\ndo\n<loop>\ndone | <filter>",
        "for f; do <loop>; done", "for ((i=0; i<2; i++)); do <line>; done",
        "for f in <words>; { <loop>; }", "for ((;;)) { <line>; break; }",
        "while read -r f; do <loop>; done < <path>",
        "while read -r a b; do <loop>; done <<< <word>", "while <line>; do <line>; break; done",
        "until <line>; do break; done", "<command> | while IFS= read -r f; do <loop>; done",
        "select f in <words>; do <loop>; break; done <<< 1",
        "case <word> in <pattern>) <line>;; *) <line>;; esac",
        "case <word> in (<pattern>|<pattern>) <line>;& <pattern>) <line>;;& *) <line>; esac",
        "f() { <line>; }; f <words>", "f() ( <line> ); f", "function f { <line>\n}\nf",
        "f() { <line>; } <redirection>; f <word>", "f() { local v=<word>; <line>; }; f",
        "coproc <command>", "coproc N { <line>; }; wait", "[[ <test> ]] && <line>",
        "[[ <test> && ! ( <test> ) ]] || <line>", "(( <arithmetic> )) && <line>",
        "(( <arithmetic> )); <line>", "{ <line>; } <redirection>", "( <line> ) <redirection>",
        "{ <line>\n<line>\n}", "<line> & <line> & wait", "trap <quoted> EXIT; <line>",
        "trap <quoted> DEBUG; <line>", "set -e; <line>", "set -- <words>; <line>",
        "shopt -s <option>; <line>", "set -o <option>; <line>", "unset f; <line>",
        "exec 3< <path>; cat <&3", "exec 3> <path>; echo <word> >&3", "exec {n}< <path>; cat <&$n",
        "pushd <folder>; <line>; popd", 'mapfile -t a < <path>; echo "${a[@]}"',
        "readarray -d '' a < <(find . -print0); <line>", "IFS=<word>; <line>",
        "alias x=<quoted>; <line>", "shopt -s expand_aliases\nalias x=<quoted>\nx",
        "while getopts ab: o <words>; do <loop>; done", "let <arithmetic>; <line>",
        "true && { <line>; } || ( <line> )", "if ! <line>; then exit 1; fi; <line>",
    ],
    "here": [
        "cat <<<tag>\n<body>\n<tag>", "cat <<'E'\n<body>\nE\n<line>", 'cat <<"E"\n<body>\nE',
        "cat <<-E\n\t<body>\n\tE\n<line>", "cat <<E\n<body>\nE", "cat <<\\E | <filter>\n<body>\nE",
        'x=$(cat <<\'E\'\n<body>\nE\n); echo "$x"', "x=$(cat <<E\n<body>\nE\n)\n<line>",
        "x=$(wc -c <<'E'\n<body>\nE <evil> )\nE\n)", "echo $(cat <<E\n<body>\nE)\n<line>\nE\n)",
        "cat <(cat <<'E'\n<body>\nE\n)", "cat <<E; cat <<'F'\n<body>\nE\n<body>\nF",
        "cat <<'E' > <path>\n<body>\nE", "cat <<''\n<body>\n\n<line>", "cat <<'E F'\n<body>\nE F",
        "cat <<E\\\nF\n<body>\nEF", "cat <<E <<F\n<body>\nE\n<body>\nF", "cat <<$x\n<body>\n$x",
        "(cat <<E\n<body>\nE\n)", "if cat <<E\n<body>\nE\nthen <line>; fi",
        "cat <<E &&\n<body>\nE\n<line>", "f() { cat <<E\n<body>\nE\n}; f", "cat <<'é'\n<body>\né",
        "cat <<E\r\n<body>\nE\r\n<line>", "bash <<'E'\n<line>\nE", "bash <<E\n<line>\nE",
        "cat <<'$(<evil>)'\n<body>\n$(<evil>)", "cat <<E\n$(<line>)\nE", "cat <<E\n`<plain>`\nE",
        "cat <<E\n${x:-$(<line>)}\nE", "cat <<E\n<body>\nE <line>\nE",
        "cat <<'E' ; <line>\n<body>\nE", "x=`cat <<E\n<body>\nE\n`; <line>",
        "<command> <<< <word>", '<filter> <<< "$(<line>)"', "cat <<`E`\n<body>\n`E`",
    ],
    "body": [
        "hello", "<evil>", "$x", "\\$(<evil>)", "$(<plain>)", "`<plain>`", "E <evil> )", "E)", "'",
        '"', "\\", "a\\\nE", "\\`<evil>\\`", "${x:-a}", "$((1+1))", "E \n<evil>", "\tE", " E",
        "EE", "hello\n<body>", "( <evil>", ") <evil>", "# <evil>", "<word>", "${x:-'}<evil>'}",
        "\\\\$(<plain>)",
    ],
    "tag": ["E", "'E'", "\"E\"", "\\E", "E''", "$'E'", "-E", "E$x", "'E'F", "EOF", "é"],
    "drop": [
        ": $((1/0))", "y=$((08))", "y[-9]=1", ": ${!none}", ": ${y:0:-9}", "readonly q; q=1",
        "UID=1",
        "shopt -s failglob; : none*", "[[ $((1/0)) ]]", "declare -r q; : ${q:=3}", "y=([-9]=1)",
    ],
    "loop": [
        'cat "$f"', 'echo "$f"', 'wc -l "$f"', 'ls -- "$f"', 'cat -- "$f"', "echo $f", "cat $f",
        "<line>", 'head -n1 "./$f"', 'cat "sub/$f"', '[ -f "$f" ] && cat "$f"', "test -e $f",
        'printf \'%s\\n\' "${f%.txt}"', 'cp "$f" build/', 'grep -c beta "$f"', 'cat "$f/o.txt"',
        'cat "${f}l/o.txt"', 'cat "$f/.env"', "[[ $f == *.txt ]] && <line>", 'echo "${f/a/b}"',
        'echo "$f" >> build/all', 'sed -n 1p "$f"', 'mv -- "$f" build/', 'ls -d "$f"*',
    ],
    "command": [
        "<plain>", "<plain>", "<plain>", "<plain>", "echo <words>", "echo <words>",
        "printf '%s\\n' <words>", "cat <path>", "cat <path> <path>", "ls <path>", "ls -la <path>",
        "wc -l <path>", "head -n 2 <path>", "tail -c 9 <path>", "grep -n <word> <path>",
        "grep -r <word> <folder>", "grep -rl beta <folder>", "grep -f <path> <path>",
        "sort <path>", "sort -u <path> <path>", "sort -o <path> <path>", "cut -c1 <path>",
        "uniq <path> <path>", "tr a b < <path>", "sed -n <quotedsed> <path>",
        "sed -i s/a/b/ <path>", "sed <quotedsed> <path>", "awk <quotedawk> <path>",
        "awk <quotedawk>", "find <folder> -name <glob>", "find <folder> -type f -exec cat {} +",
        "find <folder> -name <glob> -exec <plain> {} ';'", "find <folder> -maxdepth 1",
        "find <folder> -newer <path>", "find -L <folder>", "find <folder> -delete",
        "cp <path> <path>", "cp -r <folder> build/c", "cp -a <path> build/",
        "cp -rL <folder> build/c", "cp -t build <path>", "mv <path> <path>", "rm -f <path>",
        "rm -r <folder>", "mkdir -p <folder>", "touch <path>", "tee <path> < a.txt",
        "tee -a <path> <<< <word>", "ln -s <path> <path>", "ln <path> <path>",
        "diff <path> <path>", "diff -r <folder> <folder>", "cmp <path> <path>",
        "comm <path> <path>", "join <path> <path>", "paste <path> <path>", "od -c <path>",
        "base64 <path>", "tac <path>", "rev <path>", "nl <path>", "fold -w3 <path>", "stat <path>",
        "du -a <folder>", "readlink -f <path>", "realpath <path>", "basename <path>",
        "dirname <path>", "seq 1 3", "date", "date -f <path>", "date +%s", "tar cf - <folder>",
        "tar cf build/a.tar <folder>", "tar tf build/a.tar", "tar xf build/a.tar -C build",
        "split -n2 <path> build/s", "truncate -s 0 <path>", "dd if=<path> of=<path>",
        "shuf <path>", "expand <path>", "git status", "git status --short", "git diff",
        "git diff -- <path>", "git diff --stat", "git log --oneline -3", "git log -p -- <path>",
        "git show HEAD:<path>", "git grep beta", "git grep --no-index <word> <folder>",
        "git diff --no-index <path> <path>", "git log -1 --format=%s", "git ls-files",
        "git blame <path>", "git -C <folder> status", "git branch <word>", "git log -L1,2:<path>",
        "test -f <path>", "[ -f <path> ]", "[ <word> = <word> ]", "[ -n <word> -a -r <path> ]",
        "test <word> -nt <path>", "xargs <plain> < <path>", "xargs -n1 cat < list.txt",
        "xargs -0 cat < list0", "xargs -I{} cat {} < list.txt", "read x < <path>",
        "read -r x <<< <word>", "printf -v x <word>", "mapfile a < <path>", "export V=<word>",
        "declare V=<word>", "declare -a V=(<words>)", "declare -n r=x", "readonly V=<word>",
        "local V", "unset V", "type <word>", "command -v <word>", "command <plain>",
        "builtin echo <word>", "hash", "pwd", "true", "false", ":", ": <words>", "exec <plain>",
        "source <path>", ". <path>", "./run.sh", "bash <path>", "<evil>", "kill %1", "wait",
        "jobs", "cat <(<line>)", "<filter> < <(<line>)", "<command> > >(<filter>)",
        "cat <folder>/<glob>", "wc -l ./<glob>", "ls <glob>", "cat -- <glob>",
        "diff <(<command>) <(<command>)", "expr <word> + 1", "env <plain>", "env -i <plain>",
        "printenv", "$x <word>", '"$@"', 'echo "$(<line>)"', "echo $(<line>)", "echo `<plain>`",
        "x=$(<line>)", "x=`<plain>`", "grep -q beta <path> && <line>", "tail -n +2 <path>",
        "head -c 3 <path>", "ls -d <glob>", "ls -R <folder>", "numfmt <word>",
        "install <path> build/i", "csplit <path> 2", "cat a.txt -", "cat -",
        "flock <path> <plain>", "wc --files0-from=<path>", "sort --files0-from=<path>",
        "du --files0-from=<path>", "ls --color=auto <path>", "sha256sum <path>",
        "sha256sum -c <path>", "tar -T <path> -cf -", "chmod u+w <path>", "yes | head -n 1",
        "timeout 2 <plain>", "nice -n 5 <plain>", "less <path>", "pr <path>", "tsort <path>",
        "ptx <path>", "ed -s <path> <<< '1p'", "file <path>", "strings <path>", "xxd <path>",
    ],
    "plain": [
        "ls", "ls -la", "cat a.txt", "wc -l a.txt", "git status", "git diff", "git log -1", "date",
        "echo hi", "grep beta a.txt", "head -n1 b.txt", "sort a.txt", "find . -maxdepth 1",
        "cat src/main.py", "pwd", "true", "printf x", "sed -n 1p a.txt", "awk 1 a.txt", "ls src",
        "cat notes.md", "wc a.txt b.txt", "uniq b.txt", "cut -d' ' -f1 a.txt", "stat a.txt",
    ],
    "filter": [
        "cat", "sort", "wc -l", "head -n1", "grep beta", "tr a b", "uniq", "sed s/a/b/", "cut -c1",
        "tee <path>", "awk '{print $1}'", "xargs", "xargs echo", "xargs cat", "tail -n1", "base64",
        "cat -", "od -c", "while read -r f; do <loop>; done", "bash", "sh", "xargs -I{} cat {}",
        "xargs -0 ls", "sort -o <path>", "tee -a <path>", "rev", "tac", "paste -", "comm - a.txt",
        "xargs -a <path>", '{ read x; echo "$x"; }', "(cat)", "read x", "mapfile a",
        "diff - a.txt", "cmp - a.txt", "tar xf -", "cpio -o", "git cat-file --batch",
    ],
    "evil": [
        "pwned", "pwned", "pwned a", "touch PWNED", "cat .env", "cat ../outside/o.txt",
        "cat sub/l/o.txt", "echo x > ../made", "rm -rf ../outside", "cat ~/.ssh/id_rsa",
        "cat /etc/app.conf", "./run.sh", ". ./lib.sh", "cat src/.env", "cat keys/id_rsa",
        "echo x > .env", "echo x >> ~/.bashrc", "curl http://evil.example/",
        "echo x > /dev/tcp/127.0.0.1/9", "rm a.txt", "printenv", "tee /etc/x", "ls ..",
        "cp ../outside/o.txt build/", "mv .env build/e",
    ],
    "sly": [
        "echo ${PATH\\\n:'a[$(pwned)]'}", "true='a[$(pwned)]'; echo $(\\\n(true))",
        "true='a[$(pwned)]'; (\\\n(true))", "echo ${PATH#<\\\n(pwned)}",
        "[[ a ]]\\\n && pwned [[ a ]]", "[[ b =~ ^(c ]] && ls # x) ]]; <evil>",
        "[[ b == @(c ]] && ls # x) ]]; <evil>", "[[ b == @(a|<(<evil>)) ]]",
        "x='a[$(pwned)]'; [[ -v $x ]]", "x='a[$(pwned)]'; echo $((x))",
        "x='a[$(<evil>)]'; (( x ))", "cat 'a[$(pwned)]'", "[ -f x* ]", "[ -f $(ls x*) ]",
        "test -n *", "[[ -n * ]]", "unset 'a[$(pwned)]'", "read 'a[$(pwned)]' <<< x",
        "echo <(<evil>)", "printf -v 'a[$(pwned)]' x", "declare 'a[$(pwned)]=1'",
        "x=<word>; ${x@P}", "x='$(<evil>)'; echo ${x@P}", "PS4='$(<evil>)'; set -x; <plain>",
        "PROMPT_COMMAND=<quoted>; <line>", "BASH_ENV=./lib.sh bash -c <quoted>",
        "ENV=./lib.sh sh -c <quoted>", "PATH=.:$PATH; ls", "PATH=bin ls", "PATH=$PWD/bin:$PATH ls",
        "ls() { pwned; }; ls", "alias ls=pwned; ls", "IFS=e; x=echo; $x <word>",
        'set -- pwned; "$@"', "${x:-pwned}", "x=pwned; $x", "$'pwned'", "p\\wned", "'pwned'",
        "p''wned", "{pwned,}", '"$(echo pwned)"', "`echo pwned`", "eval p\\wned", "$(echo pwned)",
        "echo ${x:=$(<evil>)}", "echo ${x/$(<evil>)/}", "echo ${x:$(<evil>)}",
        "echo ${a[$(<evil>)]}", 'echo "${x:-`<evil>`}"', "echo $(( $(<evil>) ))",
        "echo $[ $(<evil>) ]", "a=([$(<evil>)]=1)", "for ((i=$(<evil>); ;)); do break; done",
        "case $(<evil>) in *) ;; esac", "[[ x =~ $(<evil>) ]]", "[[ $(<evil>) == x ]]",
        "cat <<< $(<evil>)", "cat < $(<evil>)", "echo 'it'\\''s' $(<evil>)", 'echo "\\"$(<evil>)"',
        "echo '#' ; <evil>", "echo a#b ; <evil>", "echo \\# <evil>", "echo x #'\n<evil>",
        "echo \\\n<evil>", "echo 'a\n<evil>\n'", "true &<evil>", "true;<evil>", "true|<evil>",
        "true&&<evil>", "echo x>&2;<evil>", "echo x &>/dev/null;<evil>", 'echo "$x";<evil>',
        "echo é;<evil>", "echo x\r\n<evil>", "echo\t<evil>", "echo x\x0b<evil>",
        "echo x\xa0; <evil>", "cat */l/o.txt", "cat s[u]b/l/o.txt", "cat su?/o.txt",
        'for d in */; do cat "${d}l/o.txt"; done', "cat */../.env", "cat ?*/../.env", "cat .*",
        "cat .e*", "cat .[e]nv", "cat .{env,x}", "cat {a.txt,.env}", "cat {,.}env", "cat ./.en\\v",
        "grep -r KEY .", "tar c .", "cp -r . build/x", "cat *", "cat */*", "cat **/.env",
        "git diff --no-index src build", "git diff .. build", "git diff -- build ../outside",
        "find build/../keys build/x -exec cat {} +", "git --icase-pathspecs log -p -- .ENV",
        "GIT_ICASE_PATHSPECS=1 git log -p -- .ENV",
        "git ls-remote sub/l", "cd sub && git fetch l", "git fetch ../outside", "git clone sub/l",
        "git merge -s pwned HEAD", "git merge --strategy=pwned HEAD", "git config --global --list",
        "python3 -m unittest discover -s../outside", "ps axe", "mktemp -t ../x.XXXX",
        """awk 'BEGIN { SYMTAB["ARGV"][1] = ".env" } 1' a.txt""",
        'x=../outside/o.txt; : $((1/0)); x=a.txt\ncat "$x"',
        "x=../outside/o.txt; <drop>; x=a.txt\ncat $x",
        "cd none || { <drop>; exit 1; }\n<line>", "x=a.txt; <drop>; <line>\ncat $x",
        "readonly x=../outside/o.txt; x=a.txt\ncat $x",
        "f() { <drop>; }; x=.env; f; x=a.txt\ncat $x",
        "x[0]=.env; x[0]=a.txt; cat $x",
        "echo */l/*", "rm -r */l/", "echo x > */l/o.txt", "cat deep/*/out/e.txt",
        "cat inside/../sub/o.txt", "cat build/../sub/up/beside.txt", "cd sub/l && cat o.txt",
        "cd sub/up; ls", "cd deep/er/out; cat e.txt", "pushd sub/l; cat o.txt", "cd - ; ls",
        "CDPATH=..; cd outside; cat o.txt", "CDPATH=.. cd outside && cat o.txt",
        "OLDPWD=/srv/outside; cd -; cat o.txt", "HOME=/srv/outside; cd; cat o.txt",
        "HOME=/srv/outside; cat ~/o.txt", "cat ~+/../outside/o.txt", "cat ~-/x",
        "cd ..; cat outside/o.txt", 'cat "$OLDPWD"/x', "cat $PWD/../outside/o.txt",
        "cat ${PWD%/*}/outside/o.txt", "cat /srv/work/../outside/o.txt", "cat //srv/outside/o.txt",
        "cat /proc/self/cwd/../outside/o.txt", "cat /proc/self/environ",
        "cat /dev/fd/3 3< ../outside/o.txt", "cat 0<../outside/o.txt", "cat<../outside/o.txt",
        "echo x>../made", "echo x &>../made", "echo x >|../made", "echo x <>../made",
        "3<>../made :", 'awk \'BEGIN{system("pwned")}\'',
        'awk \'BEGIN{while((getline l<"../outside/o.txt")>0)print l}\'', "awk -f evil.awk a.txt",
        'awk \'{print > "../made"}\' a.txt', 'awk \'BEGIN{"pwned"|getline}\'',
        "sed 'e pwned' a.txt", "sed 1epwned a.txt", "sed 's/a/pwned/e' a.txt",
        "sed 'w ../made' a.txt", "sed 's/a/b/w ../made' a.txt", "sed 'r ../outside/o.txt' a.txt",
        "sed -f evil.sed a.txt", "sed -n '$!N;P' a.txt", "sed R../outside/o.txt a.txt",
        "sort --compress-program=pwned a.txt", "sort -o../made a.txt", "find . -exec pwned ';'",
        "find . -fprint ../made", "find sub/l/ -name '*.txt' -exec cat {} +",
        "find . -follow -name o.txt -exec cat {} +", "find . -ok pwned ';'", "grep -R canary .",
        "grep -r canary sub/l/", "diff -r sub /srv/outside", "xargs -a list.txt cat",
        "cat list.txt | xargs cat", "xargs pwned <<< x", "printf '../outside/o.txt' | xargs cat",
        "echo .env | xargs cat", "date -f ../outside/o.txt", "git diff --no-index a.txt .env",
        "git -c core.pager=pwned log", "git --exec-path=bin status", "git -c alias.x='!pwned' x",
        "git log --output=../made", "git diff --output=x", "git grep -Opwned beta",
        "git diff --ext-diff", "git show --textconv", "git archive HEAD",
        "git -C ../outside status", "git --git-dir=../outside status",
        "GIT_EXTERNAL_DIFF=pwned git diff", "GIT_PAGER=pwned git -p log", "PAGER=pwned git -p log",
        "wc --files0-from=list0", "wc --files0-from=- < list0", "sort --files0-from=list0",
        "ls --hyperlink sub/l/", "wc -l ./sub/o.txt", "wc -l -- *", "wc *", "ls *", "ls -d */l/*",
        "ls -L sub/l", "du -L .", "date -r ../outside/o.txt", "date --file=.env",
        "tar cf - --checkpoint=1 --checkpoint-action=exec=pwned a.txt",
        "tar cf x.tar -I pwned a.txt", "tar -C .. -cf - outside", "tar chf - sub",
        "split --filter=pwned a.txt", "env pwned", "env -S 'pwned'", "nice pwned",
        "timeout 1 pwned", "stdbuf -o0 pwned", "command pwned", "exec pwned", "builtin eval pwned",
        "nohup pwned", "bash -c 'pwned'", 'bash -c "$(cat lib.sh)"', "bash lib.sh",
        "bash < lib.sh", "cat lib.sh | bash", "source lib.sh", ". lib.sh",
        "bash --rcfile lib.sh -i -c :", "bash -O extglob -c pwned", "bash -s <<< pwned",
        "trap pwned EXIT", "trap pwned DEBUG; :", "trap pwned ERR; false",
        "mapfile -C pwned -c 1 a < a.txt", "enable -f ./x y",
        "complete -C pwned x; compgen -C pwned", "hash -p ./run.sh ls; ls", "exec -a ls pwned",
        "ln -s ../outside x; cat x/o.txt", "ln -s / x && cat x/etc/app.conf",
        "mv sub/l build/; cat build/l/o.txt", "cp -a sub/l build/ && cat build/l/o.txt",
        "cp sub/o.txt build/; cat build/o.txt", "mkdir -p x; cd x; cat ../../outside/o.txt",
        "rm -rf sub; ln -s ../outside sub; cat sub/o.txt", "set -P; cd sub/l/..; ls",
        "cd -P sub/l/..; ls", "cd sub/l/..; cat a.txt", "cat sub/l/../beside.txt", "ls sub/l/..",
        "echo ../*", "echo ../outside/*", "ls -d ../*", "[ -e ../outside ] && ls",
        "compgen -f ../", "printf '%s\\n' ~/.*",
    ],
    "setting": [
        "x=<word>", "x=$(<plain>)", "f=<path>", "x=(<words>)", "export x=<word>",
        "declare -A m=([k]=<word>)", "IFS=,", "set -f", "set -u", "set -eu", "set -o pipefail",
        "shopt -s <option>", "x=$((1+2))", "readonly x=<word>", "x+=<word>", "declare -i n=1",
        "LC_ALL=C", "x=1 y=2", "cd <folder>", "umask 022",
    ],
    "assignment": [
        "A=1", "x=<word>", "LC_ALL=C", "IFS=:", "A=<path>", "LANG=C A=1", "A+=<word>",
        "a[0]=<word>", "TZ=UTC",
    ],
    "redirection": [
        "> /dev/null", "2>&1", "2> /dev/null", "> build/out.txt", ">> build/out.txt", "> <path>",
        ">> <path>", "&> <path>", "< <path>", "2>> <path>", ">| <path>", "<> <path>", "3< <path>",
        "3>&1", "<&-", ">&2", "&>> build/log", '> "<raw>"', "{n}> build/o", "<<< <word>",
        ">& build/o", "1>build/o", "< <(<plain>)",
    ],
    "words": [
        "<word>", "<word> <word>", "<word> <word> <word>", "<path> <path>", "<glob>", "{a,b}.txt",
        "{1..3}", '"$@"', "", "a.txt b.txt", "*/", "$(<plain>)", "src sub",
    ],
    "word": [
        "a", "beta", "x y", "'a b'", '"a b"', '"$x"', "$x", "${x}", '"${x:-a}"', "${x:-<word>}",
        "${x:=a}", "${x:+<word>}", "${x:?no}", "${#x}", "${x#a}", "${x##*/}", "${x%.*}",
        "${x%%/*}", "${x/a/b}", "${x//a/b}", "${x/#a/b}", "${x:1:2}", "${x: -1}", "${x^}",
        "${x^^}", "${x,,}", "${x@Q}", "${x@U}", "${!x}", "${!x*}", "${x[0]}", "${x[@]}",
        '"${x[*]}"', "${#x[@]}", "${!x[@]}", "$((1+2))", "$((<arithmetic>))", "$[1+1]",
        "$(<plain>)", '"$(<plain>)"', "`<plain>`", '"`<plain>`"', "$'a\\tb'", "$'\\x2e\\x2e'",
        '$"a"', "\\a", "a\\ b", "é", "''", '""', "$1", "$#", "$?", "$$", "$!", "$-", "$0", "$_",
        "$@", "~", "~/x", "-n", "--", "-x", "--a=b", "a=b", "*.txt", "a{b,c}", "{1..3}", "[ab]*",
        "?.txt", "@(a|b)", "!x", "#x", "a#b", "%1", "<path>", "<raw>", '"<raw>"', "'<raw>'",
        "$HOME", "$PWD", '"$HOME/x"', "${x:-$(<line>)}", '"${x:-"a b"}"', "${x:-'a}b'}",
        '"${x#\'}\'}"', "$'it\\'s'", 'a\'b\'"c"', "<(<plain>)", "\\\n", "1", "0x1f", "8#7",
        '"\\$x"', '\'"\'', '"\'"', "\u200b", "\u2028",
    ],
    "arithmetic": [
        "1", "x", "x++", "1+x", "x=1", "a[1]", "x ? 1 : 2", "1<2", "x<<1", "$x", "${x}",
        "$(<plain>)", "x == 1 && y", "(1+2)*3", "16#ff", "'1'", '"1"', "x,y", "a[$x]", "${#x}",
        "1 # c",
    ],
    "test": [
        "-f <path>", "-n <word>", "-z $x", "<word> == <pattern>", "<word> = <word>", "$x != a",
        "<word> =~ ^a", "$x -eq 1", "<path> -nt <path>", "-v x", "! -e <path>", "$x < b", "a",
        "-d <folder> || -n x", "$x =~ (a|b)+$",
    ],
    "pattern": [
        "a", "*", "*.txt", "a|b", "[ab]", "'a'", '"$x"', "$x", "?", "[!a]*", "@(a|b)", "a\\ b",
        "-*", "~", "$(<plain>)",
    ],
    "option": [
        "nullglob", "dotglob", "globstar", "extglob", "nocaseglob", "expand_aliases", "lastpipe",
        "failglob", "noglob", "noclobber", "posix", "physical", "allexport", "nounset", "xtrace",
        "errexit",
    ],
    "wrapper": [
        "command", "env", "nice", "timeout 5", "nohup", "env A=1", "time", "stdbuf -oL", "setsid",
        "exec", "builtin", "nice -n 3", "timeout -k 1 5", "env -u A",
    ],
    "glob": [
        "*.txt", "*", "*.py", "s*", "?.txt", "[ab].txt", "src/*", "*/*.txt", "**/*.txt", "sub/*",
        "*/", "./*", "-*", ".*", "*/.*", "b*/*", "{a,b}.txt", "*env", "./-*", "deep/*/*", "[!.]*",
    ],
    "folder": [
        ".", "src", "sub", "build", "deep", "./src", "deep/er", '"src"', "src/", "sub/l", "..",
        "inside", "sub/..", '"$PWD"', "$PWD/src", "/srv/work", "keys", "sub/up", "sub/l/",
        "deep/er/out", "~", "$x", "*/", "build/new", "./", "s*c",
    ],
    "path": [
        "a.txt", "b.txt", "a.txt", "b.txt", "notes.md", "src/main.py", "sub/f.txt", "./a.txt",
        "build/x", "build/new.txt", "build/old.txt", "'with blank.txt'", "with\\ blank.txt",
        '"a.txt"', "deep/er/f.txt", "src/../a.txt", "/srv/work/a.txt", "$PWD/a.txt", "./-n", "-n",
        "-- a.txt", "a.lnk", "inside/f.txt", "/dev/null", "<glob>", "<glob>", "<folder>/f.txt",
        "<folder>/<glob>", '"<raw>"', "<raw>", "a{.txt,}", "$f", '"$x"', "é.txt", '"new\nline"',
        "$'new\\nline'", "it\\'s", "list.txt", "-",
    ],
    "raw": [
        ".env", "src/.env", "keys/id_rsa", "sub/o.txt", "sub/l/o.txt", "../outside/o.txt",
        "/srv/outside/o.txt", "sub/up/beside.txt", "deep/er/out/e.txt", "~/notes.txt",
        "~/.ssh/id_rsa", "/etc/app.conf", "../beside.txt", "build/../.env", "src/.e*", "*/.env",
        "*/l/o.txt", "sub/*/o.txt", "./.env", "keys/*", "/srv/work/.env", "inside/l/o.txt",
        "inside/o.txt", "s*/l/../beside.txt", "build/../../outside/o.txt", "dangling", "sub/l/new",
        "../made", "deep/*/out/*", "keys/id_r??", "k*/id_rsa", "?ub/o.txt", "src/./.env",
        "src//.env", "a.txt", "build/x",
    ],
}  # fmt: skip
_QUOTED = {"quoted": "line", "quotedsed": "sed", "quotedawk": "awk"}
_SMALL = {
    "sed": [
        "1p", "s/a/b/", "s/a/b/g", "/beta/d", "1,2p", "$p", "y/a/b/", "1{p;p}", "s|a|b|w build/w",
        "a\\ x", "=", "1q", "w build/w", "r b.txt", "/a/,/b/p", "s/a/&&/;t", ":a;N;$!ba",
        "1e pwned", "r .env", "w ../made",
    ],
    "awk": [
        "{print $1}", "1", "/beta/{print}", "BEGIN{print 1}", "{s+=$2}END{print s}",
        '{print > "build/w"}', '{print | "sort"}', '{system("pwned")}',
        '{getline x < "b.txt"; print x}', "BEGIN{while((getline l < ARGV[1])>0) print l}",
        "BEGIN{for (k in ENVIRON) print ENVIRON[k]}", "{print FILENAME}", "NR==1",
        '{gsub(/a/,"b")}1', "function f(x){return x} {print f($1)}", '@include "evil.awk"',
        'BEGIN{ARGV[1]=".env"}1',
    ],
}  # fmt: skip
_DEEPEST = 5


def grow(rng: Random, kind: str = "script", depth: int = _DEEPEST) -> str:
    """Return a text of a kind; the deeper, the plainer."""
    if kind in _QUOTED:
        inner = _QUOTED[kind]
        text = rng.choice(_SMALL[inner]) if inner in _SMALL else grow(rng, inner, depth - 1)
        return _quoted(rng, text)
    productions = PRODUCTIONS[kind]
    chosen = rng.choice(productions)
    if depth <= 0 and "<" in chosen:
        chosen = next(one for one in (*productions, "a") if not _PLACE.search(one))
    return _PLACE.sub(
        lambda found: grow(rng, found[1], depth - 1) if _is_kind(found[1]) else found[0], chosen
    )


def _is_kind(name: str) -> bool:
    return name in PRODUCTIONS or name in _QUOTED


def _quoted(rng: Random, text: str) -> str:
    if rng.random() < 0.7:
        return shlex.quote(text)
    if rng.random() < 0.5:
        return '"' + re.sub(r'([$`"\\])', r"\\\1", text) + '"'
    return '"' + text + '"'
