"""What the terminal shows a person, and which answers approve."""

from __future__ import annotations

import asyncio
import queue
from typing import Any

import pytest

from policy.approvals import ApprovalRequest, Approved, Denied, TerminalApprover, shown_input
from policy.model import Reason, Verdict, freeze


def request(**more: Any) -> ApprovalRequest:
    given: dict[str, Any] = {
        "id": "1",
        "tool": "file_delete",
        "input": freeze({"path": "x"}),
        "shown": '{"path": "x"}',
        "reasons": (Reason(rule="delete", verdict=Verdict.ASK, file="a.policy", line=3),),
        "resources": ("writes /srv/x",),
        "digest": "sha256:0",
        **more,
    }
    return ApprovalRequest(**given)


@pytest.mark.parametrize(
    ("line", "yes"),
    [
        ("y\n", True),
        (" YES \n", True),
        ("\n", False),
        ("", False),
        ("yep\n", False),
        ("n\n", False),
    ],
)
async def test_only_a_plain_yes_agrees(line: str, *, yes: bool) -> None:
    written: list[str] = []
    gate = TerminalApprover(read=lambda: line, write=written.append, who="ada")
    answer = await gate.ask(request())
    assert answer == (Approved(by="ada") if yes else Denied(by="ada"))
    text = "".join(written)
    assert text.index("writes /srv/x") < text.index("input:")
    assert "delete, a.policy:3" in text


async def test_a_terminal_that_fails_refuses() -> None:
    def gone() -> str:
        raise EOFError

    assert isinstance(await TerminalApprover(read=gone, write=print).ask(request()), Denied)


@pytest.mark.parametrize(
    ("after", "lines", "approved"),
    [(9.0, ["y\n"], True), (1.0, ["y\n", "\n"], False), (1.0, ["y\n", "y\n"], True)],
)
async def test_an_answer_to_a_question_that_was_given_up_is_none_to_the_next(
    after: float, lines: list[str], approved: bool
) -> None:
    typed: queue.SimpleQueue[str] = queue.SimpleQueue()
    written: list[str] = []
    now = 0.0
    gate = TerminalApprover(read=typed.get, write=written.append, ticks=lambda: now)
    first = asyncio.create_task(gate.ask(request()))
    for _ in range(10):
        await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.create_task(gate.ask(request(tool="file_write")))
    for _ in range(10):
        await asyncio.sleep(0)
    now = after
    for line in lines:
        typed.put(line)
    assert isinstance(await second, Approved) is approved
    assert len(written) == 1 + len(lines)


def test_nothing_in_a_question_is_hidden_or_endless() -> None:
    shown = shown_input(freeze({"to": "a\u202eb\x1b[2J\n", "body": "x" * 100_000}))
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert shown.endswith("(cut)")
    assert len(shown) < 10_000
