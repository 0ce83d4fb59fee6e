"""Which files a patch of Codex changes."""

from __future__ import annotations

import pytest

from policy.daemon.agents import AGENTS
from policy.daemon.agents.mapping import Unmapped, mapped


def touched(*lines: str) -> list[tuple[str, str]]:
    patch = "\n".join(("*** Begin Patch", *lines, "*** End Patch", ""))
    found = mapped(AGENTS["codex"].rows, "apply_patch", {"command": patch}, cwd="/w")
    return [(call.tool, call.input["path"]) for call in found.calls]


def test_a_patch_adds_changes_moves_and_deletes_files() -> None:
    assert touched("*** Add File: a", "+x") == [("file_write", "/w/a")]
    assert touched("*** Update File: a", "@@", "-x", "+y") == [
        ("file_read", "/w/a"),
        ("file_write", "/w/a"),
    ]
    assert touched("*** Delete File: /etc/a") == [("file_delete", "/etc/a")]
    assert touched("*** Update File: a", "*** Move to: b", "@@", "+y") == [
        ("file_read", "/w/a"),
        ("file_write", "/w/a"),
        ("file_delete", "/w/a"),
        ("file_write", "/w/b"),
    ]


def test_every_file_of_a_patch_counts() -> None:
    assert touched("*** Add File: a", "+x", "*** Delete File: b", "*** Add File: c", "+y") == [
        ("file_write", "/w/a"),
        ("file_delete", "/w/b"),
        ("file_write", "/w/c"),
    ]


def test_what_is_written_is_judged_too() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+one\n+two\n*** End Patch"
    (call,) = mapped(AGENTS["codex"].rows, "apply_patch", {"command": patch}, cwd="/w").calls
    assert call.input["content"] == "one\ntwo"


def test_blanks_around_a_header_hide_no_file() -> None:
    assert touched("*** Add File: a", "+x", "   *** Delete File: b  ") == [
        ("file_write", "/w/a"),
        ("file_delete", "/w/b"),
    ]


@pytest.mark.parametrize(
    "line",
    ["*** Environment ID: remote", "*** Rename File: a", "***", "*** Add File:", "*** Add a"],
)
def test_a_line_that_is_not_understood_is_refused(line: str) -> None:
    with pytest.raises(Unmapped):
        touched("*** Add File: a", "+x", line)


def test_a_patch_without_files_is_refused() -> None:
    with pytest.raises(Unmapped):
        touched("+x")
