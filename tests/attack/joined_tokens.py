"""Generates tokens of bash joined without blanks, where it is unclear where one ends.

Among them are names of a command that never may run, known and unknown, and blanks of all kinds.
"""

from __future__ import annotations

from random import Random

_COMMANDS = ("pwned", "${y-pwned}", "${y-pwned}", "$(pwned)", "`pwned`", "cat", '"$y"', "a", "1")
_OPERATORS = (
    *"; & && || | |& ;; ;& ;;& ( ) (( )) { } < > >> << <<- <<< <> >| >& <& &> &>> <( >(".split(),
    *"<&- >&- 2> 1>&2 2>&- <&0- {n}> {n}<&- {n[0]}> {1}> 12345>".split(),
)
_RESERVED = (
    *"! [[ ]] if then elif else fi do done case esac in for while until select".split(),
    *"function coproc time".split(), "time -p", "time --", "coproc N",
)  # fmt: skip
_IN_WORDS = (
    *"= += a= a+= a[0]= a[ ] a=( a=() a=(b) == =~ # a# !! !$ @( ?( *( +( !( ~ ~/ :~ , .. *".split(),
    *"{a,b} {a,} {,} {1..2} {a} {} $ ${ ${y- ${y# $(( )) $# $! $' $\" $'a' $\"a\" \\\\ \\$".split(),
    "''", '""', "'", '"', "`", "``", "a()", "()", "g(){",
)  # fmt: skip
_BLANKS = (" ", "\t", "\n", "\\\n", "\r", "\f", "\xa0", "\u3000", "\\ ", "é", "\\\r", "\x01")


def joined_tokens(rng: Random) -> str:
    """Return two to five tokens in a row, seldom with a blank between them."""
    tokens = [_token(rng) for _ in range(rng.choice((2, 2, 3, 3, 4)))]
    tokens.insert(rng.randint(0, len(tokens)), rng.choice(_COMMANDS))
    if rng.random() < 0.3:
        tokens.insert(rng.randint(0, len(tokens)), rng.choice((" ", " ", "\n", "; ")))
    return "".join(tokens)


def _token(rng: Random) -> str:
    kinds = (_COMMANDS, _OPERATORS, _RESERVED, _IN_WORDS, _IN_WORDS, _BLANKS)
    return rng.choice(rng.choice(kinds))
