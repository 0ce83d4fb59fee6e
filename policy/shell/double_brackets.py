"""Parses `[[ … ]]` as one command of its words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from policy.shell.double_evaluation import (
    note_arithmetic_spelling,
    note_arithmetic_text,
    note_name_spelling,
    note_name_text,
)
from policy.shell.not_readable import NotReadable
from policy.shell.reserved_words import ListReader
from policy.shell.script import SimpleCommand
from policy.shell.shell_state import Findings
from policy.shell.tree import Condition, Parts, Raw
from policy.shell.word import Word
from policy.shell.word_pieces import Piece, literal, to_word

_SIGN = re.compile(r"&&|\|\||[()<>]|!(?=\()")
_BEFORE_PATTERN = frozenset({"=~", "==", "=", "!="})
_NUMBER_TEST = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
# A word as it is spelled, and its pieces.
_Spelled: TypeAlias = tuple[str, list[Piece]]
_Reader: TypeAlias = Callable[[str, Findings], None]
_NAME_TEST = frozenset({"-v", "-R"})


def read_test(reader: ListReader, start: int) -> Condition:
    """Parse the rest of `[[`, whose words undergo neither word splitting nor globbing."""
    cursor, findings, shell = reader.cursor, reader.findings, reader.shell
    position = len(findings.commands)
    findings.commands.append(SimpleCommand())
    words = [Word("[[")]
    spelled: list[_Spelled] = [("", [])]
    nodes: list[Parts] = []
    while spelled[-1][0].replace("\\\n", "") != "]]":
        reader.new_lines()
        before = cursor.position
        pattern = words[-1].text in _BEFORE_PATTERN
        sign = _SIGN.match(cursor.text, before)
        negates = not pattern and cursor.looking_at("!(")
        # As spelled: some shells expand the `~` of the word.
        regex = spelled[-1][0] == "=~" and cursor.looking_at("(")
        follows = cursor.text.startswith("(", before + 1)
        if sign is not None and not regex and (negates or not follows):
            cursor.position = sign.end()
            nodes.append((Raw(sign[0]),))
            words.append(Word(sign[0]))
            spelled.append(("", []))
            continue
        pieces = reader.words.pieces(pattern=pattern)
        if cursor.position == before:
            raise NotReadable("a `[[` that could not be read")
        findings.count_word()
        nodes.append(reader.words.parts)
        spelled.append((cursor.text[before : cursor.position], pieces))
        words.append(replace(to_word(pieces), many=False))
    _note_evaluated(words, spelled, findings)
    command = SimpleCommand(
        words=tuple(words),
        assignments=shell.carried,
        folders=shell.folders[0],
        text=cursor.text[start : cursor.position],
        number=position + 1,
        inside=reader.inside,
    )
    findings.commands[position] = command
    findings.commands += [replace(command, folders=each) for each in shell.folders[1:]]
    return Condition(tuple(nodes[:-1]))


def _note_evaluated(words: list[Word], spelled: list[_Spelled], findings: Findings) -> None:
    """Record what the test evaluates: numbers, and the subscripts of variables."""
    for position, word in enumerate(words):
        if word.text in _NAME_TEST and position + 1 < len(words):
            _note(
                spelled[position + 1], findings, text=note_name_text, otherwise=note_name_spelling
            )
        elif word.text in _NUMBER_TEST:
            for operand in spelled[position - 1 : position] + spelled[position + 1 : position + 2]:
                _note(
                    operand, findings, text=note_arithmetic_text, otherwise=note_arithmetic_spelling
                )


def _note(operand: _Spelled, findings: Findings, *, text: _Reader, otherwise: _Reader) -> None:
    """Analyse a word again by its value, or by its spelling where the value is not known."""
    spelled, pieces = operand
    word = to_word(literal(pieces))
    if word.known:
        text(word.text, findings)
    else:
        otherwise(spelled, findings)
