"""JSON and TOML data files that rules name."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy import ToolCall
from policy.diagnostics import Diagnostic
from policy.generation import Built, read_policy

RULES = """\
policy for every agent
default allow
strings listed from "data/list.{suffix}" at a.days
no: deny file_read when input.path in listed
"""


def made(root: Path, suffix: str, content: bytes) -> Built:
    (root / "data").mkdir()
    (root / f"data/list.{suffix}").write_bytes(content)
    (root / "global.policy").write_text(RULES.format(suffix=suffix))
    return read_policy(root)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("json", b'{"a": {"days": ["2026-12-25"]}}'),
        ("toml", b"[a]\ndays = ['2026-12-25']"),
        ("toml", b"[a]\ndays = [2026-12-25]"),
        ("toml", b"\xef\xbb\xbf[a]\r\ndays = [2026-12-25]"),
    ],
)
def test_lists_of_both_formats_decide(tmp_path: Path, suffix: str, content: bytes) -> None:
    generation = made(tmp_path, suffix, content).generation
    assert generation is not None
    for path, verdict in (("2026-12-25", "deny"), ("2026-12-26", "allow")):
        call = ToolCall(tool="file_read", input={"path": path})
        assert generation.decide(call).verdict == verdict


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("json", b"{"),
        ("json", b'{"a": {"days": [], "days": []}}'),
        ("json", b"[" * 100_000),
        ("json", b"\xff"),
        ("toml", b"[a"),
        ("toml", b"[a]\ndays = [nan]"),
        ("toml", b"a = " + b"[" * 100_000),
        ("toml", b"\xff\xfe"),
        ("json", b"[" + b" " * 6_000_000 + b"]"),
    ],
)
def test_data_that_cannot_be_read_is_an_error(tmp_path: Path, suffix: str, content: bytes) -> None:
    built = made(tmp_path, suffix, content)
    first: Diagnostic = next(d for d in built.diagnostics if d.place[0] == f"data/list.{suffix}")
    assert built.generation is None
    assert first.code in {"bad-data", "not-utf8", "file-too-large"}


def test_data_that_no_rule_names_is_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    with open(tmp_path / "big.toml", "wb") as file:
        file.truncate(50_000_000)
    (tmp_path / "global.policy").write_text("policy for every agent\ndefault allow\n")
    assert read_policy(tmp_path).generation is not None
