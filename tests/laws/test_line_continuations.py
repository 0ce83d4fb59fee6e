"""Lines continued by a backslash are joined before operators are looked for, as in bash."""

from __future__ import annotations

import re

import pytest

from policy.shell import Script, printed, read_script

# Scripts in which no character stands for itself alone: no quotes but double ones, no comments.
_SCRIPTS = (
    "echo ${x:-a} ${x#a} ${x##a} ${x%%a} ${x/a/b} ${x//a/b} ${x/#a/b}",
    "echo ${x^^} ${x,,a} ${x~~} ${x@Q} ${x@P} ${x:=a} ${x:?} ${x+b}",
    'echo ${x:1:2} ${x[1]} ${x[@]} ${!x} ${!x*} ${!x[@]} ${#x} ${#} ${!} ${!x@} "${x:a}" ${x:0}',
    'echo ${x#<(a)} "${x#<(a)}" ${x:->(a)} ${x:-$(a)} ${x:-"$(a)"} ${x:-$((1+1))}',
    'echo $((1+1)) $((x[1])) "$((x))" $(a) "$(a)" $(<f) $x "$x" $1 $@ "$@" `a`',
    "[[ a == b && -f c || ! d ]] && ((x++)) && [[ a =~ b ]] && [[ -v x ]] && [[ a -eq b ]]",
    "[[ ! ( a ) || b ]] && [[ a == @(b|c) ]] && x [[ y ]] && [ a = b ] && [[ z ]]",
    "if a && b; then b; elif c; then d; else e; fi",
    "while a; do b; done && until f; do g; done && for i in a b; do c; done",
    "case a in b|c) d;; e) f;& g) h;;& esac && for ((i=0;i<3;i++)); do a; done",
    "a && b || c | d |& e && { a; } && (b) && ! c && time d && ((1)) && ( (b) )",
    "a >b 2>c >>d &>e <f 2>&1 >|g <>h <<<i {x}>j 1>&- &>>k",
    "a=1 b=2 c+=3 d[1]=4 e=(1 2) f && cat <(a) >(b) && tee >(c) < <(d)",
    "f() { a; } && function g { b; } && echo a*b ?c [d]e {a,b} {1..2} ~ ~/x @(a|b) !(c)",
    "cat <<E\nab $x ${x:1} $(a) $((1)) `b`\nE",
)
_CONTINUED = ("\\\n", "\\\n\\\n")


@pytest.mark.parametrize("script", _SCRIPTS)
def test_a_continued_line_is_read_as_the_joined_one_or_refused(script: str) -> None:
    read, spelled = read_script(script), _printed(script)
    assert isinstance(read, Script)
    assert spelled is not None
    for place in range(len(script) + 1):
        for continued in _CONTINUED:
            parted = script[:place] + continued + script[place:]
            found = read_script(parted)
            if isinstance(found, Script):
                assert found.commands == read.commands, parted
                # What bash looks at twice may seem to hold more, since it is noted as spelled.
                assert set(found.gaps) >= set(read.gaps), parted
                assert found.computed >= read.computed, parted
                assert found.texts >= read.texts, parted
                assert _printed(parted) in (None, spelled), parted


def _printed(script: str) -> str | None:
    """Return the printed form, if there is one; a new line ends a command as a `;` does."""
    form = printed(script)
    return re.sub(r";?[ \n]", "\n", form) if isinstance(form, str) else None


@pytest.mark.parametrize(
    "script",
    ["x=$(\\\n  cat a.txt)", "(\\\n  cat a.txt)", "echo ${x:-a\\\nb}", "cat a.txt \\\n  b.txt"],
)
def test_usual_continued_lines_are_read(script: str) -> None:
    assert isinstance(read_script(script), Script)
