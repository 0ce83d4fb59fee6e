"""What the configuration of the policy in force grants each plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from policy.capabilities import NOTHING, Grants, PluginRefused, grants_of
from policy.generation import Generation


class Current(Protocol):
    """The part of a policy store that returns the generation in force."""

    @property
    def current(self) -> object:
        """The generation in force."""
        ...


def configured_grants(store: Current) -> Callable[[str], Grants]:
    """Return a function for the current `[plugins.NAME] grant = […]`; nothing without a policy."""

    def of(plugin: str) -> Grants:
        generation = store.current
        if not isinstance(generation, Generation):
            return NOTHING
        settings = generation.settings.plugins.get(plugin)
        return NOTHING if settings is None else Grants(settings.grant)

    return of


def fixed_grants(patterns: Mapping[str, Iterable[str]]) -> Callable[[str], Grants]:
    """Return a function for these grants by plugin; raise PluginRefused for an invalid pattern."""
    grants: dict[str, Grants] = {}
    for plugin, texts in patterns.items():
        try:
            grants[plugin] = grants_of(texts)
        except PluginRefused as error:
            raise PluginRefused(*(f"{plugin}: {problem}" for problem in error.problems)) from None
    return lambda plugin: grants.get(plugin, NOTHING)
