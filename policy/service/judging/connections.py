"""Judges what a confined program may connect to: by the rules in force and the call that runs.

A connection is allowed by a rule that names `sandbox_connect`, by the rule that allows the running
call if that bounds what it `connects` to, or else by the configured hosts. A program that installs
packages reaches the hosts of their index alone, and of these what the rule of the call covers.
Whatever denies or asks about connections counts in any case, and after an edit the policy that
released the call counts as well. Defaults count as nothing: `default
allow` is about tools that somebody calls, and opens no network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from policy.admission import Admitted
from policy.catalog import SANDBOX_CONNECT
from policy.decision import Decision, answer
from policy.generation import Generation, Reach
from policy.model import (
    Bound,
    Caller,
    Confinement,
    Facts,
    Reason,
    ResolveHost,
    Verdict,
    strictest,
    thaw,
)
from policy.service.judging.judge import Judge, PolicyAnswer, Refusal
from policy.service.judging.running_call import (
    NOTHING_GAVE,
    RunningCall,
    Standing,
    no_further,
)
from policy.values import (
    Endpoint,
    HostPattern,
    Unreadable,
    host_in,
    host_violation,
    read_endpoint,
    read_host_pattern,
)

_BEFORE = "the policy that released the running call does not allow it"
_OUTSIDE = "the rule that allows the call does not let it connect there"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The answer of a policy, with a decision joined with what the running call may do."""

    decision: Decision
    admitted: Admitted | None
    refused: Refusal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Configured:
    """The hosts that a key of placet.toml has."""

    key: str
    hosts: tuple[str, ...]


class ConnectionJudge:
    """Judges connections as one policy does, joined with what the running call may do.

    `standing` is what this policy leaves of the running call. One that another policy released has
    no connection that this other one would not allow as well: an edit only takes some away.
    """

    def __init__(self, judge: Judge, running: RunningCall | None, standing: Standing) -> None:
        self._judge = judge
        self._running = running
        self._standing = standing

    def answer(self, tool: str, input: Any, *, caller: Caller, facts: Facts) -> PolicyAnswer:
        """Read a raw call and decide it; never raises."""
        answer = self._judge.answer(tool, input, caller=caller, facts=facts)
        if answer.admitted is None or answer.decision.call.tool != SANDBOX_CONNECT:
            return answer
        return _Answer(
            decision=self._decided(answer.decision, caller, facts),
            admitted=answer.admitted,
            refused=answer.refused,
        )

    def _decided(self, decision: Decision, caller: Caller, facts: Facts) -> Decision:
        running, resolve = self._running, facts.resolvers.host
        if self._standing.refusal is not None:
            return _with(decision, (*_given(decision), self._standing.refusal))
        now = _Permission(judge=self._judge, running=running, bounds=self._standing.bounds)
        decided = now.joined(decision, resolve)
        if running is None or running.is_judged_by(self._judge):
            return decided
        if decided.verdict is Verdict.DENY or not isinstance(running.judge, Generation):
            return decided
        released = _Permission(judge=running.judge, running=running, bounds=running.bounds)
        before = released.joined(_as_released(running.judge, decision, caller, facts), resolve)
        return _no_wider(decided, before, released=running.decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Permission:
    """What one policy lets a running call connect to; `bounds` are those of its rules."""

    judge: Judge
    running: RunningCall | None
    bounds: tuple[Bound, ...]

    def joined(self, decision: Decision, resolve: ResolveHost | None) -> Decision:
        """Return the decision of the policy's rules about a connection, joined with the rest."""
        given = _given(decision)
        named = len(given) == len(decision.reasons) and decision.verdict is not Verdict.NONE
        endpoint = read_endpoint(decision.call.input["url"])
        if isinstance(endpoint, Unreadable):
            reason = Reason(rule="none", verdict=Verdict.DENY, message=endpoint.reason)
        else:
            endpoint = replace(endpoint, path=None)
            outside = self._outside(endpoint, resolve)
            installs = self.running is not None and self.running.installs
            if outside is None and named and not installs:
                return decision  # every layer has a rule that allows it
            grant = self._listed if installs else self._granted
            reason = outside or grant(endpoint, resolve)
        allows = reason.verdict is Verdict.ALLOW
        return _with(decision, (reason, *given) if allows else (*given, reason))

    def _outside(self, endpoint: Endpoint, resolve: ResolveHost | None) -> Reason | None:
        found = (_outside(bound, endpoint, resolve) for bound in self.bounds)
        return next((reason for reason in found if reason is not None), None)

    def _granted(self, endpoint: Endpoint, resolve: ResolveHost | None) -> Reason:
        """Return why a connection within the bounds is allowed that no rule names, or why not.

        A bound that only takes hosts away grants none.
        """
        if self.bounds and all(bound.within for bound in self.bounds):
            unions = (union for bound in self.bounds for union in bound.within)
            rule = next(one.rule for union in unions for one in union)
            return Reason(rule=rule, verdict=Verdict.ALLOW)
        return self._listed(endpoint, resolve)

    def _listed(self, endpoint: Endpoint, resolve: ResolveHost | None) -> Reason:
        """Return why a connection is allowed by configured hosts, or that it is not."""
        configured = self._configured()
        if host_in(endpoint, _patterns(configured.hosts), (), resolve) is True:
            return Reason(rule=configured.key, verdict=Verdict.ALLOW)
        return Reason(rule="none", verdict=Verdict.DENY, message="no rule allows this")

    def _configured(self) -> _Configured:
        if not isinstance(self.judge, Generation):
            return _Configured(key="", hosts=())
        settings, running = self.judge.settings, self.running
        if running is not None and running.installs:
            return _Configured(key="[service.python] hosts", hosts=settings.service.python.hosts)
        name = None if running is None else running.plugin
        if name is None:
            return _Configured(key="[sandbox] connects", hosts=settings.sandbox.reach.connects)
        plugin = settings.plugins.get(name)
        reach = Reach() if plugin is None else plugin.reach
        hosts = ("*",) if reach.network == "all" else reach.connects
        return _Configured(key=f"[plugins.{name}.sandbox] connects", hosts=hosts)


def _as_released(judge: Generation, now: Decision, caller: Caller, facts: Facts) -> Decision:
    """Return how a policy that is no longer in force decides a connection.

    Its limits count nothing any more: those in force do.
    """
    asked, known = now.asked, judge.complete(facts)
    input, id = thaw(asked.input), judge.id
    found = answer(judge.program, asked.tool, input, caller, known, generation=id, charged=True)
    return found.decision


def _no_wider(now: Decision, before: Decision, *, released: Decision) -> Decision:
    """Return a decision with what denies or asks about the connection by an earlier policy."""
    asked = {reason.terms for reason in now.reasons if reason.verdict is Verdict.ASK}
    denials = (
        no_further(reason, _BEFORE, released=released) for reason in _of(before, Verdict.DENY)
    )
    questions = (reason for reason in _of(before, Verdict.ASK) if reason.terms not in asked)
    further = (*denials, *questions)
    return _with(now, (*further, *now.reasons)) if further else now


def _of(decision: Decision, verdict: Verdict) -> Iterator[Reason]:
    return (reason for reason in decision.reasons if reason.verdict is verdict)


def _given(decision: Decision) -> tuple[Reason, ...]:
    """Return the reasons that a rule has given."""
    return tuple(reason for reason in decision.reasons if reason.rule not in NOTHING_GAVE)


def _with(decision: Decision, reasons: tuple[Reason, ...]) -> Decision:
    verdict = strictest(reason.verdict for reason in reasons)
    return structs.replace(decision, verdict=verdict, reasons=reasons)


def _outside(bound: Bound, endpoint: Endpoint, resolve: ResolveHost | None) -> Reason | None:
    """Return why a connection is outside of a bound; None if it is not."""
    outside = host_violation(
        Confinement(connects=bound),
        endpoint.host,
        endpoint.port,
        scheme=endpoint.scheme,
        resolve=resolve,
    )
    if outside is None:
        return None
    return Reason(
        rule=next(iter(outside.rules), "none"),
        verdict=Verdict.DENY,
        message=_OUTSIDE,
        undecided=outside.why or None,
    )


def _patterns(hosts: Iterable[str]) -> tuple[HostPattern, ...]:
    read = map(read_host_pattern, hosts)
    return tuple(pattern for pattern in read if isinstance(pattern, HostPattern))
