"""What the service asks of a policy: `Judge` is one generation, `JudgeSource` the current one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from policy.admission import Admitted, RawCall, Refused, admit
from policy.catalog import Catalog, ToolSpec
from policy.decision import Decision
from policy.model import Caller, Facts, ToolCall, Verdict


class Refusal(Protocol):
    """Why a raw call is not a valid call."""

    @property
    def kind(self) -> str:
        """`not-found` if no tool has this name, else what is wrong with the input."""
        ...

    @property
    def message(self) -> str:
        """One sentence for the agent."""
        ...

    @property
    def tool(self) -> str:
        """The name of the tool, as it may be shown; the name as received if there is none."""
        ...

    @property
    def suggestion(self) -> str | None:
        """The name of a tool or field that the message suggests."""
        ...


class PolicyAnswer(Protocol):
    """The answer of one generation to a raw call; `refused` is None for a valid call."""

    @property
    def decision(self) -> Decision:
        """The decision; a deny by `schema` if the call was refused."""
        ...

    @property
    def admitted(self) -> Admitted | None:
        """The admitted call with its tool's definition; None if it was refused."""
        ...

    @property
    def refused(self) -> Refusal | None:
        """Why this is not a valid call."""
        ...


class Judge(Protocol):
    """One immutable policy, already checked and compiled."""

    def answer(self, tool: str, input: Any, *, caller: Caller, facts: Facts) -> PolicyAnswer:
        """Read a raw call and decide it; never raises."""
        ...


# Returns the policy in force; without one it returns None, and everything is denied.
JudgeSource: TypeAlias = Callable[[], Judge | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unjudged:
    """An answer without an opinion, or a refusal."""

    decision: Decision
    admitted: Admitted | None = None
    refused: Refusal | None = None


class NoPolicy:
    """The judge of a service without a policy store: it has no opinion, so a filter must allow.

    With a catalogue it admits calls as a policy does: names repaired, input validated.
    """

    def __init__(self, catalog: Callable[[], Catalog] | None = None) -> None:
        self._catalog = catalog

    def spec(self, name: str) -> ToolSpec | None:
        """Return the tool with this name, if it is known."""
        return None if self._catalog is None else self._catalog().get(name)

    def answer(self, tool: str, input: Any, *, caller: Caller, facts: Facts) -> PolicyAnswer:
        """Return the call as it would run, with the verdict `none`."""
        if self._catalog is None:
            return _Unjudged(decision=_verdict(Verdict.NONE, tool, input))
        admitted = admit(RawCall(tool=tool, input=input), self._catalog())
        if isinstance(admitted, Refused):
            refusal = _verdict(Verdict.DENY, tool, input)
            return _Unjudged(decision=refusal, refused=admitted)
        call = admitted.call
        decision = Decision(
            verdict=Verdict.NONE, call=call, asked=call, reasons=(), repairs=admitted.repairs
        )
        return _Unjudged(decision=decision, admitted=admitted)


def _verdict(verdict: Verdict, tool: object, input: Any) -> Decision:
    # A name that is not a string names no tool.
    name = tool if isinstance(tool, str) else ""
    call = ToolCall(tool=name, input=input if isinstance(input, Mapping) else {})
    return Decision(verdict=verdict, call=call, asked=call, reasons=())
