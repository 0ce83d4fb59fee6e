"""The corpus of commands that coding agents ran is the frozen one, and its rows are well-formed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

CORPUS = Path(__file__).parent / "agent_commands.jsonl"
FROZEN = "a15976064f356f4f9c82e11d3db80d420404254c8a6fccbf2b178832dc2c5d1b"
NEEDED = {"source", "repository", "path", "half", "command"}
ALLOWED = NEEDED | {"cwd", "workspace", "redacted", "left_out"}


def _rows() -> list[dict[str, str | bool]]:
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def test_the_corpus_is_the_frozen_one() -> None:
    assert hashlib.sha256(CORPUS.read_bytes()).hexdigest() == FROZEN


def test_every_row_says_where_its_command_was_run() -> None:
    for row in _rows():
        assert set(row) >= NEEDED, row
        assert set(row) <= ALLOWED, row
        assert str(row["command"]).strip(), row


def test_a_command_stands_in_one_row() -> None:
    commands = [row["command"] for row in _rows()]
    assert len(commands) == len(set(commands))


def test_the_half_follows_from_the_text_of_the_command() -> None:
    for row in _rows():
        digest = hashlib.sha256(str(row["command"]).encode()).hexdigest()
        assert row["half"] == ("unseen" if int(digest, 16) % 2 else "seen"), row
