"""`[[ … ]]` as spelled in, one command of its words out."""

from __future__ import annotations

from policy import later
from policy.commands.pieces import to_word
from policy.commands.refusal import NotReadable
from policy.commands.reserved import Lists
from policy.commands.script import SimpleCommand
from policy.commands.word import Word
from policy.records import replace

_SIGN = later.pattern(r"&&|\|\||[()<>]")
_NUMBER_TEST = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_IDENTIFIER = later.pattern(r"[A-Za-z_][A-Za-z0-9_]*")


def read_test(reader: Lists, start: int) -> None:
    """Read what follows `[[`, whose words are neither split nor replaced by file names."""
    cursor, findings, shell = reader.cursor, reader.findings, reader.shell
    place = len(findings.commands)
    findings.commands.append(SimpleCommand())
    words = [Word("[[")]
    spelled: list[str] = []
    while words[-1].text != "]]":
        reader.new_lines()
        before = cursor.place
        sign = _SIGN.match(cursor.text, before)
        if sign is not None and not cursor.text.startswith("(", before + 1):
            cursor.place = sign.end()
            words.append(Word(sign[0]))
            continue
        pieces = reader.words.pieces(pattern=words[-1].text in ("=~", "==", "=", "!="))
        if cursor.place == before:
            raise NotReadable("a `[[` that could not be read")
        findings.count_word()
        spelled.append(cursor.text[before : cursor.place])
        words.append(replace(to_word(pieces), many=False))
    if any(word.text in _NUMBER_TEST for word in words):
        _compute(reader, " ".join(spelled))
    findings.commands[place] = SimpleCommand(
        words=tuple(words),
        assignments=shell.carried,
        folders=shell.folders,
        text=cursor.text[start : cursor.place],
        number=place + 1,
        inside=reader.inside,
    )


def _compute(reader: Lists, spelled: str) -> None:
    """Note what a test of numbers computes with."""
    if "$(" in spelled or "`" in spelled:
        reader.findings.gap("arithmetic with the output of a command")
    reader.findings.computed |= set(_IDENTIFIER.findall(spelled))
