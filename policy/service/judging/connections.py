"""Judges what a confined program may connect to: by the rules in force and the call that runs.

A connection is allowed by a rule that names `sandbox_connect`, by the rule that allows the running
call if that bounds what it `connects` to, or else by the configured hosts. A program that installs
packages reaches the hosts of their index alone, and of these what the rule of the call covers.
Whatever denies or asks about connections counts in any case. Defaults count as nothing: `default
allow` is about tools that somebody calls, and opens no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from msgspec import structs

from policy.admission import Admitted
from policy.catalog import SANDBOX_CONNECT
from policy.decision import Decision
from policy.generation import Generation, Reach
from policy.model import (
    Bound,
    Caller,
    Confinement,
    Facts,
    Reason,
    ResolveHost,
    SandboxTier,
    Verdict,
    strictest,
    thaw,
)
from policy.service.judging.judge import Judge, PolicyAnswer, Refusal
from policy.values import (
    Endpoint,
    HostPattern,
    Unreadable,
    host_in,
    host_violation,
    read_endpoint,
    read_host_pattern,
)

# Verdicts that no rule has given.
_NOTHING_GAVE = frozenset({"default", "none"})
_OUTSIDE = "the rule that allows the call does not let it connect there"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCall:
    """The call whose code connects, as it was judged before it ran; `plugin` is of its tool.

    `installs`: a program installs packages for it, and reaches the hosts of their index alone.
    """

    plugin: str | None = None
    installs: bool = False
    decision: Decision
    caller: Caller
    facts: Facts


# Returns the call that runs here, None outside of all.
FindRunning: TypeAlias = Callable[[], RunningCall | None]


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
    """Judges connections as one generation does, joined with what the running call may do.

    `tier` is the sandbox that this generation configures.
    """

    def __init__(
        self, judge: Judge, running: RunningCall | None, *, tier: SandboxTier | None
    ) -> None:
        self._judge = judge
        self._running = running
        self._tier = tier

    def answer(self, tool: str, input: Any, *, caller: Caller, facts: Facts) -> PolicyAnswer:
        """Read a raw call and decide it; never raises."""
        answer = self._judge.answer(tool, input, caller=caller, facts=facts)
        if answer.admitted is None or answer.decision.call.tool != SANDBOX_CONNECT:
            return answer
        return _Answer(
            decision=self._joined(answer.decision, facts),
            admitted=answer.admitted,
            refused=answer.refused,
        )

    def _joined(self, decision: Decision, facts: Facts) -> Decision:
        given = [reason for reason in decision.reasons if reason.rule not in _NOTHING_GAVE]
        named = len(given) == len(decision.reasons) and decision.verdict is not Verdict.NONE
        endpoint = read_endpoint(decision.call.input["url"])
        if isinstance(endpoint, Unreadable):
            reason = Reason(rule="none", verdict=Verdict.DENY, message=endpoint.reason)
        else:
            endpoint = replace(endpoint, path=None)
            bound = None if (found := self._confinement()) is None else found.connects
            outside = None if bound is None else _outside(bound, endpoint, facts.resolvers.host)
            installs = self._running is not None and self._running.installs
            if outside is None and named and not installs:
                return decision  # every layer has a rule that allows it
            grant = self._listed if installs else partial(self._granting, bound)
            reason = outside or grant(endpoint, facts.resolvers.host)
        reasons = (reason, *given) if reason.verdict is Verdict.ALLOW else (*given, reason)
        verdict = strictest(each.verdict for each in reasons)
        return structs.replace(decision, verdict=verdict, reasons=reasons)

    def _granting(
        self, bound: Bound | None, endpoint: Endpoint, resolve: ResolveHost | None
    ) -> Reason:
        """Return why a connection within a bound is allowed that no rule names, or why not.

        A bound that only takes hosts away grants none.
        """
        if bound is not None and bound.within:
            rule = next(one.rule for union in bound.within for one in union)
            return Reason(rule=rule, verdict=Verdict.ALLOW)
        return self._listed(endpoint, resolve)

    def _listed(self, endpoint: Endpoint, resolve: ResolveHost | None) -> Reason:
        """Return why a connection is allowed by configured hosts, or that it is not."""
        configured = self._configured()
        if host_in(endpoint, _patterns(configured.hosts), (), resolve) is True:
            return Reason(rule=configured.key, verdict=Verdict.ALLOW)
        return Reason(rule="none", verdict=Verdict.DENY, message="no rule allows this")

    def _configured(self) -> _Configured:
        if not isinstance(self._judge, Generation):
            return _Configured(key="", hosts=())
        settings, running = self._judge.settings, self._running
        if running is not None and running.installs:
            return _Configured(key="[service.python] hosts", hosts=settings.service.python.hosts)
        name = None if running is None else running.plugin
        if name is None:
            return _Configured(key="[sandbox] connects", hosts=settings.sandbox.reach.connects)
        plugin = settings.plugins.get(name)
        reach = Reach() if plugin is None else plugin.reach
        hosts = ("*",) if reach.network == "all" else reach.connects
        return _Configured(key=f"[plugins.{name}.sandbox] connects", hosts=hosts)

    def _confinement(self) -> Confinement | None:
        """Return what the running call may touch by the policy that is in force now."""
        running = self._running
        if running is None or not isinstance(self._judge, Generation):
            return None
        decision = running.decision
        if decision.generation != self._judge.id:
            asked, facts = decision.asked, replace(running.facts, sandbox=self._tier)
            decision = self._judge.answer(
                asked.tool, thaw(asked.input), caller=running.caller, facts=facts
            ).decision
        return None if decision.verdict is Verdict.DENY else decision.confinement


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
