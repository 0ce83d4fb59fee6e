"""`Counterexample`: a call that breaks a claim, decided by the engine and as small as was found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from policy.decision import Decision
from policy.model import Caller, Source, Span, Verdict
from policy.syntax import print_path, print_tool, tree, write_number, write_text
from policy.values import role_of

if TYPE_CHECKING:
    from policy.symbolic import Situation

_USUAL = Caller()
_NOWHERE = Span(Source(name="", text=""), 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A call that breaks a claim, and the decision on it.

    `unclear`: a condition of the claim is indeterminate for the call, which is treated as a match.
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
        lines = [f"test {write_text(title)}"]
        lines += [f"  given {given}"] if given else []
        return "\n".join([*lines, f"  {call_text(self.situation)} -> deny"])

    def given(self) -> Iterator[tuple[str, Any]]:
        """Yield the facts of the call that are not as usual in a test, by their names."""
        return given_of(self.situation)


def call_text(situation: Situation) -> str:
    """Return a call as a test in a rule file spells it."""
    spec = situation.spec
    name = tree.ToolRef(origin=None, pattern=spec.name, span=_NOWHERE)
    if spec.origin.kind != "host":
        name = tree.ToolRef(
            origin=spec.origin.kind,
            pattern=f"{spec.origin.server}/{spec.names_at_origin[-1]}",
            span=_NOWHERE,
        )
    return f"{print_tool(name)} {_data(situation.input)}"


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
    if caller.depth > 1:
        yield "agent.depth", caller.depth
    if caller.role != _USUAL.role:
        yield "session.role", caller.role
        if role_of(caller.role) == "guest":
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
        yield _fact("context", name), value


def _fact(*steps: str) -> str:
    return print_path(tree.FieldPath(root=steps[0], steps=steps[1:], span=_NOWHERE))


def _data(value: Any) -> str:
    """Return data as a test spells it: JSON, but for escapes and exponents."""
    match value:
        case str():
            return write_text(value)
        case float():
            return write_number(Decimal(repr(value)))
        case bool() | int() | None:
            return json.dumps(value)
        case Decimal():
            return write_number(value)
        case Mapping():
            return f"{{{', '.join(f'{write_text(k)}: {_data(v)}' for k, v in value.items())}}}"
        case _:
            return f"[{', '.join(map(_data, value))}]"
