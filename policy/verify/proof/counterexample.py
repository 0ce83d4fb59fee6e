"""`Counterexample`: a call that breaks a claim, decided by the engine and as small as was found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policy.decision import Decision
from policy.model import Caller, Verdict

if TYPE_CHECKING:
    from policy.symbolic import Situation

_USUAL = Caller()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A call that breaks a claim, and the decision on it.

    `unclear`: a condition of the claim is indeterminate for the call, which counts as met.
    """

    situation: Situation
    decision: Decision
    wanted: Verdict
    unclear: bool = False

    def as_test(self, title: str) -> str:
        """Return the call as a test for a rule file, with the verdict that the claim wants.

        A claim `never allow` is content with `ask` as well; the test says `deny`.
        """
        given = given_text(self.situation)
        lines = [f"test {json.dumps(title)}"]
        lines += [f"  given {given}"] if given else []
        return "\n".join([*lines, f"  {call_text(self.situation)} -> deny"])

    def given(self) -> Iterator[tuple[str, Any]]:
        """Yield the facts of the call that are not as usual in a test, by their names."""
        return given_of(self.situation)


def call_text(situation: Situation) -> str:
    """Return a call as a test in a rule file spells it."""
    spec = situation.spec
    name = spec.name if spec.origin.kind == "host" else spec.names_in_rules[-1]
    return f"{name} {_data(situation.input)}"


def given_text(situation: Situation) -> str:
    """Return the facts of a call as a test in a rule file spells them, empty for none."""
    return ", ".join(f"{fact} = {_data(value)}" for fact, value in given_of(situation))


def given_of(situation: Situation) -> Iterator[tuple[str, Any]]:
    """Yield the facts of a call that are not as usual in a test, by their names."""
    caller, facts = situation.caller, situation.facts
    if caller.agent != _USUAL.agent:
        yield "agent.name", caller.agent
    if caller.parent is not None:
        yield "agent.parent", caller.parent.agent
    if caller.role != _USUAL.role:
        yield "session.role", caller.role
        if caller.role == "guest":
            yield "session.scope", {"allowed_tools": ["*"]}
    if caller.session != _USUAL.session:
        yield "session.id", caller.session
    if caller.user is not None:
        yield "user.id", caller.user
    if caller.groups:
        yield "user.groups", list(caller.groups)
    if facts.now is not None:
        yield "now", facts.now.isoformat().replace("+00:00", "Z")
    for name, value in facts.context.items():
        yield f"context.{name}", value


def _data(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value)
