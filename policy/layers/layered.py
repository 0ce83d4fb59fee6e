"""`LayeredPolicy`: all layers of a generation, the global one first, and their callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from policy.checks import CheckedPolicy, LayerKey
from policy.values import compile_name_glob, normalise, role_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LayeredPolicy:
    """Every layer with all of its rules; their verdicts are combined per call."""

    layers: tuple[CheckedPolicy, ...]

    def applying_to(self, *, agent: str, role: str) -> tuple[CheckedPolicy, ...]:
        """Return the layers that apply to an agent in a role, in order."""
        return tuple(
            layer for layer in self.layers if applies_to(layer.key, agent=agent, role=role)
        )


def applies_to(key: LayerKey, *, agent: str, role: str) -> bool:
    """Return whether a layer applies to this agent in this role.

    Names are compared exactly, after Unicode normalization, and roles as the identity check reads
    them: a caller that counts as a guest there counts as one here.
    """
    match key.kind:
        case "every":
            return True
        case "agent":
            return normalise(agent) in map(normalise, key.names)
        case "agents":
            name = normalise(agent)
            return any(compile_name_glob(normalise(pattern))(name) for pattern in key.names)
        case "role":
            return role_of(role) in map(role_of, key.names)
        case _:
            assert_never(key.kind)
