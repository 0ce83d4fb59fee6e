"""Compares what a server declares now with what was accepted: one state for each definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from policy.model import EMPTY
from policy.pins.definitions import About, Definition, ServerDefinitions, digest
from policy.pins.lock import Lock, Pin


class PinState(StrEnum):
    """How a definition stands to the lock."""

    NEW = "new"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    MISSING = "missing"
    # Declared, and not shown to clients.
    LEFT_OUT = "left-out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One tool or prompt: what was accepted, None if nothing, and what is declared now.

    `left_out` is why what is declared now does not count.
    """

    name: str
    pin: Pin | None
    now: Definition | None
    left_out: str | None = None

    @property
    def state(self) -> PinState:
        """How the definition itself stands to the lock."""
        if self.pin is None:
            return PinState.NEW
        if self.now is None:
            return PinState.MISSING if self.left_out is None else PinState.LEFT_OUT
        same = digest(self.pin.definition) == digest(self.now)
        return PinState.UNCHANGED if same else PinState.CHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class PinComparison:
    """One server beside its pins; `before` is None for a server that is not in the lock."""

    server: str
    before: About | None
    now: About
    tools: Mapping[str, Compared]
    prompts: Mapping[str, Compared]
    problems: tuple[str, ...] = ()

    @property
    def server_state(self) -> PinState:
        """How the server's instructions and program stand to the lock."""
        if self.before is None:
            return PinState.NEW
        same = digest(self.before.as_json()) == digest(self.now.as_json())
        return PinState.UNCHANGED if same else PinState.CHANGED

    def state_of(self, tool: str) -> PinState:
        """Return the verdict on one tool: it is changed if its server is, unless it is new."""
        compared = self.tools.get(tool)
        if compared is None:
            return PinState.MISSING
        if compared.now is None:
            return compared.state
        if compared.state is PinState.UNCHANGED and self.server_state is PinState.CHANGED:
            return PinState.CHANGED
        return compared.state

    @property
    def is_unchanged(self) -> bool:
        """Whether there is nothing to review."""
        states = {one.state for one in (*self.tools.values(), *self.prompts.values())}
        return self.server_state is PinState.UNCHANGED and states <= {PinState.UNCHANGED}


def compare(lock: Lock, definitions: ServerDefinitions) -> PinComparison:
    """Return how each definition of a server stands to the lock."""
    pins = lock.servers.get(definitions.server)
    return PinComparison(
        server=definitions.server,
        before=None if pins is None else pins.about,
        now=definitions.about,
        tools=_compared(
            EMPTY if pins is None else pins.tools, definitions.tools, definitions.left_out
        ),
        prompts=_compared(EMPTY if pins is None else pins.prompts, definitions.prompts),
        problems=definitions.problems,
    )


def _compared(
    pins: Mapping[str, Pin],
    now: Mapping[str, Definition],
    left_out: Mapping[str, str] = EMPTY,
) -> Mapping[str, Compared]:
    return MappingProxyType(
        {
            name: Compared(
                name=name, pin=pins.get(name), now=now.get(name), left_out=left_out.get(name)
            )
            for name in sorted({*pins, *now})
        }
    )
