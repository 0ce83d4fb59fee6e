"""Grants of a plugin: patterns such as `tool:my_tool` or `http_route:*`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from policy.capabilities.declaration import KINDS, CapabilityDeclaration, PluginRefused
from policy.values import compile_name_glob, quote

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Grants:
    """The patterns granted to one plugin: a kind, a colon, and a name in which `*` is any text."""

    patterns: tuple[str, ...] = ()

    def cover(self, declaration: CapabilityDeclaration) -> bool:
        """Return whether a capability is granted."""
        return any(matches(pattern, declaration) for pattern in self.patterns)


NOTHING = Grants()


def grants_of(patterns: Iterable[str]) -> Grants:
    """Return patterns as grants, each once; raise PluginRefused for an invalid pattern."""
    kept = tuple(dict.fromkeys(patterns))
    problems = [problem for pattern in kept if (problem := pattern_problem(pattern))]
    if problems:
        raise PluginRefused(*problems)
    return Grants(kept)


def pattern_problem(pattern: object) -> str | None:
    """Return why a value is not a pattern of capabilities; None if it is one."""
    if not isinstance(pattern, str) or len(pattern) > _LONGEST:
        return "a grant is a string such as `tool:my_tool`"
    kind, colon, name = pattern.partition(":")
    if not colon or not name:
        return f"{quote(pattern)} is not a grant: write a kind and a name, such as `tool:my_tool`"
    if kind not in KINDS:
        return f"{quote(kind)} is not a kind of capability; the kinds are {', '.join(KINDS)}"
    if not name.isascii() or not name.isprintable() or " " in name:
        return f"{quote(name)} cannot be the name of a capability"
    return None


def matches(pattern: str, declaration: CapabilityDeclaration) -> bool:
    """Return whether a pattern matches this capability."""
    kind, _, name = pattern.partition(":")
    return kind == declaration.type and _glob(name)(declaration.name)


@lru_cache(maxsize=1024)
def _glob(name: str) -> Callable[[str], bool]:
    return compile_name_glob(name)
