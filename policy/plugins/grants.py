"""What the configuration of the policy in force grants each plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from policy.capabilities import NOTHING, Grants, PluginRefused, grants_of
from policy.generation import Generation


class Current(Protocol):
    """The part of a policy store that says what is in force."""

    @property
    def current(self) -> object:
        """The generation in force."""
        ...


def configured_grants(store: Current) -> Callable[[str], Grants]:
    """Return what `[plugins.NAME] grant = […]` says now; without a policy in force, nothing."""

    def of(plugin: str) -> Grants:
        generation = store.current
        if not isinstance(generation, Generation):
            return NOTHING
        return Grants(generation.settings.plugins.get(plugin, ()))

    return of


def fixed_grants(patterns: Mapping[str, Iterable[str]]) -> Callable[[str], Grants]:
    """Return grants that are given here, by plugin; raise PluginRefused for what is no pattern."""
    given: dict[str, Grants] = {}
    for plugin, wanted in patterns.items():
        try:
            given[plugin] = grants_of(wanted)
        except PluginRefused as error:
            raise PluginRefused(*(f"{plugin}: {said}" for said in error.problems)) from None
    return lambda plugin: given.get(plugin, NOTHING)
