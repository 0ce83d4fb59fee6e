"""A sandbox answers asks about tools that run code, if no rule requires a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved, TimedOut
from policy.model import PermissionDenied
from tests.fakes import CountingHandler
from tests.service.asking.stage import ANN, EVE, NO, Stage

PLAIN = "run: allow run with approval\n"


class FakeSandbox:
    def __init__(self, *answers: Any, confirms: Any = True) -> None:
        self.answers = list(answers)
        self._confirms = confirms
        self.requests: list[ApprovalRequest] = []

    @property
    def confirms(self) -> bool:
        if isinstance(self._confirms, Exception):
            raise self._confirms
        return self._confirms  # type: ignore[no-any-return]

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]


YES = Approved(by="sandbox")


def stage(folder: Path, rules: str, *answers: Any, exec_class: bool = True, **spec: Any) -> Stage:
    handler = CountingHandler("run", exec_class=exec_class, **spec)
    return Stage(folder, rules, *answers, tools=(handler,))


async def test_a_sandbox_that_asks_is_asked_in_place_of_the_approver(tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN)
    sandbox = FakeSandbox(YES)
    s.service.set_sandbox(sandbox)
    await s.call("run", code="1")
    assert (s.questions, len(sandbox.requests), s.runs) == (0, 1, 1)
    assert s.approvals == [("approved", "sandbox", ("run",))]


async def test_it_needs_no_approver(tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN)
    s.service.set_approver(None)
    s.service.set_sandbox(FakeSandbox(YES))
    await s.call("run", code="1")
    assert s.runs == 1


@pytest.mark.parametrize("answer", [NO, TimedOut(), None, ValueError(), Approved(by="")])
async def test_its_denial_stands(answer: Any, tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN, EVE)
    s.service.set_sandbox(FakeSandbox(answer))
    with pytest.raises(PermissionDenied):
        await s.call("run", code="1")
    assert (s.questions, s.runs) == (0, 0)


async def test_its_denial_sticks(tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN, EVE)
    s.service.set_sandbox(FakeSandbox(NO))
    with pytest.raises(PermissionDenied):
        await s.call("run", code="1")
    s.service.set_sandbox(None)
    with pytest.raises(PermissionDenied):
        await s.call("run", code="1")
    assert s.questions == 0


@pytest.mark.parametrize("confirms", [False, RuntimeError()])
async def test_one_that_does_not_really_ask_is_not_asked(confirms: Any, tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN, EVE)
    sandbox = FakeSandbox(YES, confirms=confirms)
    s.service.set_sandbox(sandbox)
    await s.call("run", code="1")
    assert (s.questions, sandbox.requests) == (1, [])


class Silent:
    """Asks, but does not say whether it confirms."""

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        return YES


class FixedNo(Silent):
    confirms = False


class MethodInstead(Silent):
    def confirms(self) -> bool:
        return True


@pytest.mark.parametrize(
    "sandbox",
    [Silent(), FixedNo(), MethodInstead(), *(FakeSandbox(YES, confirms=c) for c in (None, "y", 1))],
)
async def test_one_that_never_confirms_is_rejected(sandbox: Any, tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN, EVE)
    s.service.set_sandbox(kept := FakeSandbox(YES))
    with pytest.raises(TypeError, match="never confirms"):
        s.service.set_sandbox(sandbox)
    await s.call("run", code="1")
    assert (s.questions, len(kept.requests)) == (0, 1)


async def test_one_whose_property_is_false_for_now_is_asked_later(tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN, EVE)
    sandbox = FakeSandbox(YES, confirms=False)
    s.service.set_sandbox(sandbox)
    await s.call("run", code="1")
    sandbox._confirms = True
    await s.call("run", code="2")
    assert (s.questions, len(sandbox.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("rules", "spec"),
    [
        (PLAIN, {"exec_class": False}),
        ('run: allow run with approval by "finance"\n', {}),
        ('run: allow run with approval by "finance" remember 1h up to 2 times\n', {}),
        ("run: allow run with approval remember 1h up to 2 times\n", {}),
        ("run: allow run\nodd: ask run when input.code > 5\n", {}),
        ("run: allow run\n", {"requires_confirmation": True}),
    ],
)
async def test_it_answers_nothing_else(rules: str, spec: dict[str, Any], tmp_path: Path) -> None:
    s = stage(tmp_path, rules, ANN, **spec)
    sandbox = FakeSandbox(YES)
    s.service.set_sandbox(sandbox)
    await s.call("run", code="text")
    assert (s.questions, sandbox.requests, s.runs) == (1, [], 1)


async def test_two_people_are_two_people(tmp_path: Path) -> None:
    s = stage(tmp_path, "run: allow run with approval two people\n", EVE, ANN)
    s.service.set_sandbox(FakeSandbox(YES))
    await s.call("run", code="1")
    assert s.questions == 2


async def test_what_is_not_its_own_goes_to_people(tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN + 'more: ask run by "finance"\n', ANN)
    sandbox = FakeSandbox(YES)
    s.service.set_sandbox(sandbox)
    await s.call("run", code="1")
    assert [reason.rule for reason in sandbox.requests[0].reasons] == ["run"]
    assert s.people.asked == [("more",)]


async def test_a_deny_is_not_lifted_by_any_sandbox(tmp_path: Path) -> None:
    s = stage(tmp_path, PLAIN + "no: deny run\n")
    sandbox = FakeSandbox(YES)
    s.service.set_sandbox(sandbox)
    with pytest.raises(PermissionDenied):
        await s.call("run", code="1")
    assert sandbox.requests == []
