"""Every command that shfmt finds in a script is found by our parser, or the script is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from policy.shell import SimpleCommand, read_script
from policy.values import Unreadable
from tests.examples import examples
from tests.laws.shell_scripts import found_by_shfmt, scripts

_CORPUS = Path(__file__).parents[1] / "data/corpora/shell_bypass.jsonl"
_ROWS = [json.loads(line) for line in _CORPUS.read_text().splitlines()]


def missing(script: str) -> list[list[str | None]]:
    """Return the commands that shfmt finds in a script and ours does not."""
    found = found_by_shfmt(script)
    ours = read_script(script)
    if found is None or isinstance(ours, Unreadable) or ours.gaps:
        return []
    rest = list(ours.commands)
    lost: list[list[str | None]] = []
    # Those whose program is not literal may be any of the rest.
    for words in sorted(found, key=lambda words: words[0] is None):
        place = next((at for at, each in enumerate(rest) if _is_one(each, words)), None)
        if place is None:
            lost.append(words)
        else:
            del rest[place]
    return lost


def _is_one(command: SimpleCommand, words: list[str | None]) -> bool:
    """Tell whether a command has the literal words, in order and the first one first."""
    if not command.words:
        return False
    # After a `|` bash takes `time` for the program, shfmt does not.
    timed = command.words[0].text == "time" and len(command.words) > 1
    first = command.words[1 if timed else 0]
    if words[0] is not None and (not first.known or first.text != words[0]):
        return False
    texts = iter(word.text for word in command.words if word.known)
    return all(word in texts for word in words if word is not None)


@settings(max_examples=examples(150))
@given(scripts())
def test_no_command_that_shfmt_finds_is_missing(script: str) -> None:
    assert missing(script) == []


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: str(row["id"]))
def test_no_command_of_the_corpus_is_missing(row: dict[str, str]) -> None:
    assert missing(row["command"]) == []
