"""The policy as a smart filter sees it: a `Classification` of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from policy.decision import Decision, sentence
from policy.model import Caller, Facts, Verdict, thaw
from policy.service.judging.judge import JudgeSource
from policy.service.refusal_messages import refusal_message


@dataclass(frozen=True, slots=True)
class Allow:
    """Nothing stands against the call."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """A person must agree; `reason` tells that person why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Deny:
    """The call must not run; `reason` is read by the agent."""

    reason: str


Classification: TypeAlias = Allow | Confirm | Deny


class SmartFilter(Protocol):
    """Classifies calls. It sees the repaired name and the validated input, and never waits.

    Of a tool with versions it is asked by both names, `translate@2` and `translate`, and the
    stricter answer counts, unless it has `knows_versions = True`: then by the full name alone.
    """

    def classify(self, name: str, input: Mapping[str, Any]) -> Classification:
        """Say what is to become of one call; raising counts as Deny."""
        ...


def classification_of(decision: Decision) -> Classification:
    """Return a decision as a filter would say it."""
    if decision.verdict is Verdict.ALLOW:
        return Allow()
    if decision.verdict is Verdict.ASK:
        return Confirm(sentence(decision))
    return Deny(refusal_message(decision).message)


class LayeredPermissionResolver:
    """The policy in force as a SmartFilter, for one caller.

    A service that was built on a store reads the store's decisions itself and needs none; this is
    for other services, and for asking what would become of a call.
    """

    knows_versions = True

    def __init__(
        self,
        source: JudgeSource,
        *,
        caller: Caller | None = None,
        facts: Callable[[], Facts] = Facts,
    ) -> None:
        self._source = source
        self._caller = caller or Caller()
        self._facts = facts

    def classify(self, name: str, input: Mapping[str, Any]) -> Classification:
        """Return the verdict of the generation in force; deny where there is none."""
        judge = self._source()
        if judge is None:
            return Deny("no policy is in force")
        answer = judge.answer(name, thaw(input), caller=self._caller, facts=self._facts())
        if answer.decision.rewritten:
            return Deny("the policy would change the input, which a filter cannot do")
        return classification_of(answer.decision)
