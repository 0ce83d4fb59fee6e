"""The policy as a smart filter sees it: a `Classification` of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from policy.decision import Decision, sentence
from policy.model import Caller, Facts, Verdict, thaw
from policy.service.judging.judge import Judge, JudgeSource
from policy.service.refusal_messages import refusal_message


@dataclass(frozen=True, slots=True)
class Allow:
    """The filter does not restrict the call."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """A person must approve; `reason` is for that person. Reasons name the filter as `rule`."""

    reason: str
    rule: str = field(default="filter", kw_only=True)


@dataclass(frozen=True, slots=True)
class Deny:
    """The call must not run; `reason` is for the agent. Reasons name the filter as `rule`."""

    reason: str
    rule: str = field(default="filter", kw_only=True)


Classification: TypeAlias = Allow | Confirm | Deny


class SmartFilter(Protocol):
    """Classifies calls. It sees the repaired name and the validated input, and never waits.

    For a tool with versions it is called with both names, `translate@2` and `translate`, and the
    stricter result counts, unless it has `knows_versions = True`: then with the full name alone.
    """

    def classify(self, name: str, input: Mapping[str, Any]) -> Classification:
        """Classify one call; an exception counts as Deny."""
        ...


def classification_of(decision: Decision) -> Classification:
    """Return the classification that corresponds to a decision."""
    if decision.verdict is Verdict.ALLOW:
        return Allow()
    if decision.verdict is Verdict.ASK:
        return Confirm(sentence(decision))
    return Deny(refusal_message(decision).message)


class _Store(Protocol):
    @property
    def current(self) -> Judge | None: ...


class LayeredPermissionResolver:
    """The policy in force as a SmartFilter, for one caller.

    A service built on a store uses the store's decisions itself and does not need this; it is for
    other services, and for asking what the decision on a call would be. `source` is a policy store,
    or a function that returns the policy in force.
    """

    knows_versions = True

    def __init__(
        self,
        source: JudgeSource | _Store,
        *,
        caller: Caller | None = None,
        facts: Callable[[], Facts] = Facts,
    ) -> None:
        self._source = _source_of(source)
        self._caller = caller or Caller()
        self._facts = facts

    def classify(self, name: str, input: Mapping[str, Any]) -> Classification:
        """Return the verdict of the generation in force; deny if there is none."""
        judge = self._source()
        if judge is None:
            return Deny("no policy is in force")
        answer = judge.answer(name, thaw(input), caller=self._caller, facts=self._facts())
        if answer.decision.rewritten:
            return Deny("the policy would change the input, which a filter cannot do")
        return classification_of(answer.decision)


def _source_of(given: JudgeSource | _Store) -> JudgeSource:
    """Return the function of the policy in force; TypeError if there is none."""
    if callable(given):
        return given
    if not hasattr(given, "current"):
        kind = type(given).__name__
        raise TypeError(f"`{kind}` is no source of policies: pass a `PolicyStore`")
    return lambda: given.current
