"""Decides whether a rule set allows a script, as the service would on this disk."""

from __future__ import annotations

from dataclasses import dataclass

from policy.environment import FactSource
from policy.model import Caller, Verdict
from tests.attack.rule_sets import RuleSet
from tests.attack.scene import HOME, WORKSPACE

_CALLER = Caller(agent="attacker", session="s1", user="mallory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a policy says of a script; `command` is what would run, rewrites applied.

    `raised` is what the decision raised instead, which it never should.
    """

    allowed: bool
    command: str
    raised: str = ""


class Judge:
    """A rule set that decides."""

    def __init__(self, rules: RuleSet) -> None:
        self._generation = rules.load()
        self._world = FactSource(workspace=WORKSPACE, home=HOME)

    def judged(self, script: str) -> Judged:
        """Decide one script, as one call."""
        facts, _ = self._world.facts_for_call(_CALLER)
        try:
            decision = self._generation.answer(
                "bash_exec", {"command": script}, caller=_CALLER, facts=facts
            ).decision
        except Exception as error:  # noqa: BLE001 - any is found
            return Judged(allowed=False, command=script, raised=repr(error))
        command = decision.call.input.get("command")
        return Judged(
            allowed=decision.verdict is Verdict.ALLOW,
            command=command if isinstance(command, str) else script,
        )


class AllowsEverything:
    """The worst of judges: with it, whatever the suite can see is found."""

    def judged(self, script: str) -> Judged:
        """Allow a script."""
        return Judged(allowed=True, command=script)
