"""Generates scripts in which bash evaluates a string twice, and may run commands hidden in it.

`second_readings` draws a disguise of a string that makes the file `M` when it is evaluated, and a
place where a shell does arithmetic with strings, or takes them for names of variables. Not all of
them run something; bash itself shows which do.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

_TEXT = "a[$(touch${IFS}M)]"
# What stands before, and the word that is or holds the text.
HIDINGS: tuple[tuple[str, str], ...] = (
    ("", f"'{_TEXT}'"),
    ("", '"a[\\$(touch M)]"'),
    ("", "$'a[\\x24(touch M)]'"),
    ("", "'a[$''(touch M)]'"),
    ("", "a['$(touch M)']"),
    ("", "'a[`touch M`]'"),
    ("", "\"$(echo 'a[$(to''uch M)]')\""),
    ("", "`echo 'a[$(to''uch${IFS}M)]'`"),
    ("", '"${y:-a[\\$(touch M)]}"'),
    ("", f"${{y:-'{_TEXT}'}}"),
    (f"x='{_TEXT}'; ", "$x"),
    (f"x='{_TEXT}'; ", '"$x"'),
    (f"x='{_TEXT}'; ", "x"),
    (f"x='{_TEXT}'; ", "'q[x]'"),
    (f"x='{_TEXT}'; ", "q[x]"),
    (f"x='{_TEXT}'; ", "q['$x']"),
    (f"x='{_TEXT}'; y=x; ", '"${!y}"'),
    (f"x=b; b='{_TEXT}'; ", "'q[x]'"),
    (f"z=(1 '{_TEXT}'); ", '"${z[1]}"'),
    ("x='a[Q(touch${IFS}M)]'; ", '"${x/Q/\\$}"'),
    ("x=$((1))'+a[$(touch M)]+'$((1)); ", "x"),
    (f"x='{_TEXT}'; : $((y)); ", "x"),
    (f"read x <<< '{_TEXT}'; ", "$x"),
    (f"read <<< '{_TEXT}'; ", "REPLY"),
    (f"read -ax <<< '{_TEXT}'; ", "x"),
    (f"mapfile -t <<< '{_TEXT}'; ", "MAPFILE"),
    (f"getopts a: o -a '{_TEXT}'; ", "OPTARG"),
    (f"[[ '{_TEXT}' =~ .* ]]; ", "$BASH_REMATCH"),
    (f"printf -vx %s '{_TEXT}'; ", "x"),
    (f"command read x <<< '{_TEXT}'; ", "x"),
    ("eval \"x='a[\\$(touch\\${IFS}M)]'\"; ", "x"),
    (f"declare -n r=x; r='{_TEXT}'; ", "x"),
    (f": '{_TEXT}'; ", '"$_"'),
    (f": '{_TEXT}'; ", "_"),
    (f"set -- '{_TEXT}'; ", '"$1"'),
    (f"set -- '{_TEXT}'; ", '"$@"'),
    (f"set -- '{_TEXT}'; ", '"${!#}"'),
    (f"set -- '{_TEXT}'; ", "'q[$1]'"),
    (f": > '{_TEXT}'; ", "a*"),
)
# Places where such a word, `W`, is read again.
PLACES: tuple[str, ...] = (
    "[[ -v W ]]",
    "[[ ! ( -n 1 && -v W ) ]]",
    '[[ x != "]]" && -v W ]]',
    "[[ -n x && !(-v W) ]]",
    "[[ W -eq 1 ]]",
    "[[ -n 1 && 3 -lt W ]]",
    "test -v W",
    "[ x = x -a ! -v W ]",
    "command command test -v W",
    "builtin printf -v W x",
    "printf -vW x",
    "(( W == 1 ))",
    "echo $(( 1 + W ))",
    "let W",
    'let "v=1+W"',
    "echo ${PATH:W}",
    "v=(1 2); echo ${v[W]} ${v[@]:W}",
    "echo ${!W}",
    "declare W=1",
    "declare -i v; v=W",
    "declare -n v=W; echo $v",
    "f() { local W=1; }; f",
    "read W <<< x",
    "a=(1); unset W",
    "true & wait -n -p W",
    "exec {W}>/dev/null",
    "v[W]=1",
    "v=(1 [W]=1 2)",
    "v+=([W]=1)",
    "for i in 1; do v=([W]+=1); done",
    "declare v=([W]=1)",
    "RANDOM=W",
    "read OPTIND <<< W",
    "for RANDOM in W; do :; done",
    "for (( v=0; v<W; v++ )); do break; done",
    "f() { test -v \"$1\"; }; f W",
    "f() { test \"$@\"; }; f -v W",
    "f() { [ $1 ]; }; f \"-v W\"",
    "f() { [[ 1 -eq $1 ]]; }; f W",
    "f() { printf -v \"$1\" x; }; f W",
    "f() { read \"$1\" <<< x; }; f W",
    "f() { echo \"${!1}\"; }; f W",
    "f() { local -n v=$1; v=1; }; f W",
    "f() { v=([$1]=1); }; f W",
    "for v in W; do test -v $v; done",
    "for v in W; do [[ $v -gt 1 ]]; done",
    "f() { echo $((v)); }; v=W f",
    "v=W; echo $((v)); v=$((1))",
    "v=W bash -c 'echo $((v))'",
    "export v=W; bash -c '((v))'",
    "env v=W bash -c '((v))'",
    "v=W eval '((v))'",
    "o=-v; test $o W",
    "test {-v,W}",
    "[ -f $(echo x -o -v W) ]",
    "echo W | { read v; [[ v -eq 1 ]]; }",
)  # fmt: skip
# Scripts of other shapes, each of which makes the file in bash 5.2.
OTHERS: tuple[str, ...] = (
    "declare -a 'x=($(touch M))'",
    "x=(); declare x='($(touch M))'",
    "f() { local -a x=\"$1\"; }; f '($(touch M))'",
    "f() { x=(1); declare -g x=\"$1\"; }; f '($(touch M))'",
    "select x in 1; do (( REPLY )); break; done <<< 'a[$(touch M)]'",
    "echo 'a[$(touch M)]' > f; echo $(( ${x:-$(cat f)} ))",
    "x='q[$(touch M)]'; cat /dev/null {a[x]}</dev/null",
    "declare -A a; k='$(touch M)'; test -v \"a[$k]\"",
    "x='b[$(touch M)]' printf -v 'a[x]' 1",
    "env 'BASH_FUNC_ls%%=() { touch M; }' bash -c ls",
    "x='x -o -v a[$(touch${IFS}M)]'; [ -f $x ]",
    "OPTIND='a[$(touch M)]'",
    "q1='a[$(touch M)]'; for i in 1; do (( q$i )); done",
    "q1='a[$(touch M)]'; for i in 1; do a=([q\"$i\"]=1); done",
    "q1='a[$(touch M)]'; for i in 1; do [[ -v a[q$i] ]]; done",
    "q1='a[$(touch M)]'; for i in 1; do [ -v a[q$i] ]; done",
    "q1='a[$(touch M)]'; [[ ${y:-q}1 -eq 1 ]]",
    "q1='a[$(touch M)]'; set -- x; echo ${PATH:q$#}",
)


@st.composite
def second_readings(draw: DrawFn) -> str:
    """Draw a script in which a text is read a second time."""
    before, word = draw(st.sampled_from(HIDINGS))
    return before + draw(st.sampled_from(PLACES)).replace("W", word)
