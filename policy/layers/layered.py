"""All layers of a generation, the global one first, and whom each binds."""

from __future__ import annotations

from typing import assert_never

from policy.checks import CheckedPolicy, LayerKey
from policy.records import dataclass
from policy.values import compile_name_glob


@dataclass(frozen=True, slots=True, kw_only=True)
class LayeredPolicy:
    """Every layer with all of its rules: nothing is merged, their opinions are joined per call."""

    layers: tuple[CheckedPolicy, ...]

    def binding(self, *, agent: str, role: str) -> tuple[CheckedPolicy, ...]:
        """Return the layers that bind an agent in a role, in their order."""
        return tuple(layer for layer in self.layers if binds(layer.key, agent=agent, role=role))


def binds(key: LayerKey, *, agent: str, role: str) -> bool:
    """Tell whether a layer binds this agent in this role; names compare exactly."""
    match key.kind:
        case "every":
            return True
        case "agent":
            return agent in key.names
        case "agents":
            return any(compile_name_glob(pattern)(agent) for pattern in key.names)
        case "role":
            return role in key.names
        case _:
            assert_never(key.kind)
