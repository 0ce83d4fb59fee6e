"""The call whose program connects, and what the policy in force leaves of it after an edit.

It is judged once more as it was when it was released: limits were asked then, and its own start is
no earlier call. What that allows is a bound on what the call was released with, never more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from policy.decision import Decision, answer
from policy.generation import Generation
from policy.model import (
    Bound,
    CalledTool,
    Caller,
    Facts,
    History,
    Moments,
    Reason,
    Recall,
    ResolveHost,
    SandboxTier,
    Verdict,
    thaw,
)
from policy.service.judging.judge import Judge

# The rules of verdicts that no rule has given.
NOTHING_GAVE = frozenset({"default", "none"})
_DENIED = "the call that runs is not allowed any more"
_ASKS = "the call that runs would need an approval now"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCall:
    """The call whose code connects, as it was judged before it ran; `plugin` is of its tool.

    `installs`: a program installs packages for it, and reaches the hosts of their index alone.
    `judge` is the policy that released it; `called` is its tool as histories name it, `names` are
    the names of that which a freeze may have.
    """

    plugin: str | None = None
    installs: bool = False
    decision: Decision
    caller: Caller
    facts: Facts
    judge: Judge | None
    called: CalledTool
    names: tuple[str, ...]
    id: str

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What its rules let it connect to, as it was released; empty if they bound nothing."""
        return _connects(self.decision)

    def is_judged_by(self, judge: Judge) -> bool:
        """Return whether this policy released it, or is none that has rules."""
        return not isinstance(judge, Generation) or self.decision.generation == judge.id


# Returns the call that runs here, None outside of all.
FindRunning: TypeAlias = Callable[[], RunningCall | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a policy leaves of a running call: what bounds its connections, or why it has none.

    `unlike`: its input would be another one, or be confined or redacted by other rules.
    """

    bounds: tuple[Bound, ...] = ()
    refusal: Reason | None = None
    unlike: bool = False


def standing_by(
    running: RunningCall,
    judge: Judge,
    *,
    tier: SandboxTier | None,
    host: ResolveHost | None,
) -> Standing:
    """Return what a policy leaves of a running call.

    `tier` is the sandbox that it configures, and `host` looks up names.
    """
    if running.is_judged_by(judge) or not isinstance(judge, Generation):
        return Standing(bounds=running.bounds)
    facts = replace(
        running.facts,
        sandbox=tier,
        resolvers=replace(
            running.facts.resolvers,
            host=host,
            history=_without_own(running.facts.resolvers.history, running),
        ),
    )
    bounds: list[Bound] = []
    unlike: list[bool] = []
    for input in _inputs(running.decision):
        decision = answer(
            judge.program,
            running.decision.asked.tool,
            thaw(input),
            running.caller,
            judge.complete(facts),
            generation=judge.id,
            charged=True,
        ).decision
        refusal = _refusal(decision, running.decision)
        if refusal is not None:
            return Standing(refusal=refusal)
        bounds += _connects(decision)
        unlike.append(_is_unlike(decision, running.decision))
    # Of one that was rewritten, it is the input as asked for that has to lead to the same call.
    return Standing(bounds=tuple(dict.fromkeys(bounds)), unlike=unlike[0])


def _inputs(decision: Decision) -> Iterator[Mapping[str, Any]]:
    """Yield the inputs to judge: as the call was asked for, and as it runs."""
    yield decision.asked.input
    if decision.rewritten:
        yield decision.call.input


def _is_unlike(now: Decision, released: Decision) -> bool:
    if (now.call, now.confinement) != (released.call, released.confinement):
        return True
    return {*map(_approval, now.redactions)} != {*map(_approval, released.redactions)}


def _connects(decision: Decision) -> tuple[Bound, ...]:
    found = decision.confinement
    return () if found is None or found.connects is None else (found.connects,)


def _refusal(now: Decision, released: Decision) -> Reason | None:
    """Return why a running call has no further connections; None if the rules still allow it."""
    if now.verdict in {Verdict.DENY, Verdict.NONE}:
        return no_further(next(iter(now.deciding), None), _DENIED, released=released)
    agreed = {_approval(reason) for reason in _asking(released)}
    for reason in _asking(now):
        if _approval(reason) not in agreed:
            return no_further(reason, _ASKS, released=released)
    return None


def no_further(by: Reason | None, why: str, *, released: Decision) -> Reason:
    """Return why a running call has no such connection; `by` is the reason that denies or asks.

    What no rule has given is not shown: the denial is then that of the rule that released the call.
    """
    if by is None or by.rule in NOTHING_GAVE:
        by = next(iter(released.deciding), by)
    rule = "none" if by is None else by.rule
    undecided, doubt = (None, None) if by is None else (by.undecided, by.doubt)
    return Reason(rule=rule, verdict=Verdict.DENY, message=why, undecided=undecided, doubt=doubt)


def _asking(decision: Decision) -> Iterator[Reason]:
    return (reason for reason in decision.reasons if reason.verdict is Verdict.ASK)


def _approval(reason: Reason) -> object:
    """Return what an approval was given to: a rule of this meaning."""
    digest = None if reason.terms is None else reason.terms.digest
    return digest if digest is not None else reason


def _without_own(recall: Recall | None, running: RunningCall) -> Recall | None:
    """Return what recalls the earlier calls of a running call, itself left out."""
    if recall is None:
        return None

    def without() -> History | None:
        found = recall()
        return None if found is None else _as_before(found, running)

    return without


def _as_before(history: History, running: RunningCall) -> History:
    """Return a history as if a call had not begun, if it was read after that.

    It holds only the latest call of a tool of which it is not known how it ended: with that one,
    those before it are left out.
    """
    calls, at = history.tools.get(running.called), running.facts.now
    if calls is None or at is None or calls.unsure.latest != at:
        return history
    tools = {**history.tools, running.called: replace(calls, unsure=Moments())}
    return replace(
        history,
        tools=MappingProxyType(tools),
        kept=history.kept.without(running.called, running.id),
    )
