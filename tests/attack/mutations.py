"""Mutates scripts: cuts, duplicates, swaps, wraps and respells their parts.

Nothing here knows what a script means; it only knows where the pieces of one may begin and end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from tests.attack.grammar import grow
from tests.attack.joined_tokens import joined_tokens

Mutation: TypeAlias = Callable[[Random, str, Sequence[str]], str]

_PIECES = re.compile(
    r"\s+|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\(|\$\{|<<-?|>>|&&|\|\||;;|[A-Za-z0-9_./~*?-]+|.", re.S
)
_PATH = re.compile(r"(?<![\w./~-])[\w~./*?-]*[./*?][\w./*?-]*")
_DELIMITERS = (
    ";", "&", "|", "&&", "||", "\n", " ", "\t", "\\\n", "\r", "(", ")", "{", "}", "'", '"', "`",
    "$", "$(", "${", "$((", "))", "<", ">", "<<", "<<<", "<(", ">(", "#", " #", "\\", "!", "*",
    "?", "[", "]", "~", "=", "-", "--", "E", "\nE\n", "é", "\xa0", "\x0b", "\x0c", "\x01", "\x7f",
    ":", ",", "@", "%", "^", "$'", '$"', ";;", "&>", ">|", "<>", ">&", "<&-", "2>", "-n", " -- ",
    "''", '""', "in", "do", "done", "then",
)  # fmt: skip
# A part, `@`, within what it may be put into.
_WRAPS = (
    "(@)", "{ @; }", "{ @\n}", "$(@)", "`@`", '"$(@)"', "echo $(@)", "x=$(@)", "cat <(@)",
    "@ > >(cat)", "if @; then :; fi", "if :; then @; fi", "for i in 1; do @; done",
    "while @; do break; done", "until @; do break; done", "case x in x) @;; esac", "f() { @; }; f",
    "function f { @; }; f", "! @", "time @", "@ &", "@ | cat", "@ |& cat", "true && @",
    "false || @", "@ && true", "coproc @", "eval '@'", "bash -c '@'", "sh -c '@'", 'bash -c "@"',
    "trap '@' EXIT", "cat <<E\n@\nE", "cat <<'E'\n@\nE", "cat <<E\n$(@)\nE", "bash <<'E'\n@\nE",
    "x=$(cat <<'E'\n@\nE\n)", "x=$(cat <<E\n@\nE\n)", ": <<'E' ; @\nE", "[[ -n $(@) ]]",
    "echo ${x:-$(@)}", 'echo "${x:-$(@)}"', "a=($(@))", "echo $(( $(@) ))", "set -e; @",
    "cd src && @", "(cd src; @)", "cd sub/..; @", "@ # c", "# c\n@", "@ 2>&1", "@ > /dev/null",
    "@ > build/o", "@ < a.txt", "shopt -s expand_aliases\nalias q='@'\nq",
    "select s in 1; do @; break; done <<< 1", "@\n@", "@; @", "env @", "nice @", "timeout 5 @",
    "command @", "exec @", "xargs @ < list.txt", "find . -maxdepth 1 -exec @ {} ';'",
    "for f in *; do @; done", "for f in */; do @; done", "set -- *; @", "x=*; @",
    "while read -r f; do @; done < list.txt", "'@'", '"@"', "'@", '"@"\'', "$'@'", "\\@",
    "echo '@'", 'echo "@"', "@\r", "@ \\\n", "{ @; } 2>/dev/null", "( @ ) | tee build/t", "A=1 @",
    "A=1; @",
)  # fmt: skip


def mutate(rng: Random, script: str, others: Sequence[str]) -> str:
    """Return a script with one to three changes; pieces of others may be in it."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        script = rng.choice(_MUTATIONS)(rng, script, others)
    return script[:4000]


def _cut(rng: Random, script: str, others: Sequence[str]) -> str:
    pieces = _pieces(script)
    start, end = _stretch(rng, pieces)
    return "".join(pieces[:start] + pieces[end:])


def _double(rng: Random, script: str, others: Sequence[str]) -> str:
    pieces = _pieces(script)
    start, end = _stretch(rng, pieces)
    place = rng.randint(0, len(pieces))
    return "".join(pieces[:place] + pieces[start:end] + pieces[place:])


def _swap(rng: Random, script: str, others: Sequence[str]) -> str:
    pieces = _pieces(script)
    if len(pieces) < 2:
        return script
    one, two = rng.sample(range(len(pieces)), 2)
    pieces[one], pieces[two] = pieces[two], pieces[one]
    return "".join(pieces)


def _swap_characters(rng: Random, script: str, others: Sequence[str]) -> str:
    if len(script) < 2:
        return script
    place = rng.randrange(len(script) - 1)
    return script[:place] + script[place + 1] + script[place] + script[place + 2 :]


def _insert(rng: Random, script: str, others: Sequence[str]) -> str:
    pieces = _pieces(script)
    place = rng.randint(0, len(pieces))
    return "".join([*pieces[:place], rng.choice(_DELIMITERS), *pieces[place:]])


def _insert_anywhere(rng: Random, script: str, others: Sequence[str]) -> str:
    place = rng.randint(0, len(script))
    return script[:place] + rng.choice(_DELIMITERS) + script[place:]


def _splice(rng: Random, script: str, others: Sequence[str]) -> str:
    mine, theirs = _pieces(script), _pieces(rng.choice(others))
    start, end = _stretch(rng, theirs)
    place, after = _stretch(rng, mine)
    return "".join(mine[:place] + theirs[start:end] + mine[rng.choice((place, after)) :])


def _join(rng: Random, script: str, others: Sequence[str]) -> str:
    between = rng.choice((";", "; ", "\n", " && ", " || ", " | ", " & ", "&", "|&"))
    both = [script, rng.choice(others)]
    rng.shuffle(both)
    return between.join(both)


def _wrap(rng: Random, script: str, others: Sequence[str]) -> str:
    return rng.choice(_WRAPS).replace("@", script)


def _wrap_part(rng: Random, script: str, others: Sequence[str]) -> str:
    pieces = _pieces(script)
    start, end = _stretch(rng, pieces)
    wrapped = rng.choice(_WRAPS).replace("@", "".join(pieces[start:end]))
    return "".join([*pieces[:start], wrapped, *pieces[end:]])


def _put_into(rng: Random, script: str, others: Sequence[str]) -> str:
    """Put something of the grammar in place of a piece."""
    pieces = _pieces(script)
    place = rng.randrange(len(pieces))
    kinds = ("word", "path", "raw", "plain", "redirection", "evil", "sly", "glob", "folder", "line")
    pieces[place] = rng.choice(("", " ", "")) + grow(rng, rng.choice(kinds), 2)
    return "".join(pieces)


def _put_beside(rng: Random, script: str, others: Sequence[str]) -> str:
    """Put something of the grammar between two pieces."""
    pieces = _pieces(script)
    place = rng.randint(0, len(pieces))
    kind = rng.choice(("word", "path", "raw", "redirection", "evil", "line", "setting"))
    return "".join([*pieces[:place], " ", grow(rng, kind, 2), " ", *pieces[place:]])


def _put_tokens(rng: Random, script: str, others: Sequence[str]) -> str:
    """Put joined tokens in place of a piece, or between two."""
    pieces = _pieces(script)
    place = rng.randrange(len(pieces))
    return "".join([*pieces[:place], joined_tokens(rng), *pieces[place + rng.randint(0, 1) :]])


def _another_path(rng: Random, script: str, others: Sequence[str]) -> str:
    found = list(_PATH.finditer(script))
    if not found:
        return script
    one = rng.choice(found)
    return script[: one.start()] + grow(rng, rng.choice(("path", "raw")), 1) + script[one.end() :]


def _spell(rng: Random, script: str, others: Sequence[str]) -> str:
    """Write one word in another way."""
    places = [place for place, piece in enumerate(_pieces(script)) if piece[0].isalnum()]
    if not places:
        return script
    pieces = _pieces(script)
    place = rng.choice(places)
    pieces[place] = rng.choice(_SPELLINGS)(rng, pieces[place])
    return "".join(pieces)


def _as_glob(rng: Random, word: str) -> str:
    place = rng.randrange(len(word))
    glob = rng.choice(("?", "*", f"[{word[place]}]", f"[!/{'x'}]", "[[:alnum:]]"))
    return word[:place] + glob + word[place + 1 :]


def _in_two(rng: Random, word: str) -> str:
    place = rng.randint(0, len(word))
    return (
        word[:place] + rng.choice(("''", '""', "\\\n", "$x", "${x}", "$''", "{,}")) + word[place:]
    )


_SPELLINGS: tuple[Callable[[Random, str], str], ...] = (
    lambda rng, word: f"'{word}'",
    lambda rng, word: f'"{word}"',
    lambda rng, word: "\\" + word,
    lambda rng, word: "$'" + "".join(f"\\x{ord(c):02x}" for c in word if c.isascii()) + "'",
    lambda rng, word: "{" + word + ",}",
    lambda rng, word: f"$(echo {word})",
    lambda rng, word: f"${{y:-{word}}}",
    lambda rng, word: f"./{word}",
    lambda rng, word: f"*/../{word}",
    lambda rng, word: f"sub/../{word}",
    lambda rng, word: f"sub/l/{word}",
    lambda rng, word: f"{word}/.",
    _as_glob,
    _as_glob,
    _in_two,
    _in_two,
)
_MUTATIONS: tuple[Mutation, ...] = (
    _cut, _double, _swap, _swap_characters, _insert, _insert, _insert_anywhere, _splice, _splice,
    _join, _wrap, _wrap_part, _wrap_part, _put_into, _put_into, _put_beside, _put_beside,
    _another_path, _another_path, _spell, _spell, _put_tokens, _put_tokens,
)  # fmt: skip


def _pieces(script: str) -> list[str]:
    return _PIECES.findall(script) or [" "]


def _stretch(rng: Random, pieces: Sequence[str]) -> tuple[int, int]:
    """Return where some pieces in a row begin and end."""
    start = rng.randrange(len(pieces))
    return start, min(len(pieces), start + rng.choice((1, 1, 2, 3, 5, 8)))
