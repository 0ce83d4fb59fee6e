"""A filter made of three sets of tool names, for services without policy files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from policy.catalog import ALIASES, split_version
from policy.service.judging.classification import Allow, Classification, Confirm, Deny
from policy.values import compile_name_glob


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Denies `blocked` tools and, if `allowed` is set, all others than those; then asks or allows.

    Names may contain `*` and `?`. A tool with a version matches by its full name and by the one its
    versions share; an alias (`bash`) stands for its tool. With a policy store, use the table
    `[permissions.filter]`, which can be tested, changed at run time, and knows categories. Here
    `*` is every tool, those of servers included; there it is not, in a grant.
    Raises TypeError for an argument that is not a collection of strings.
    """

    # It distinguishes versions itself, so it is called with the full name alone.
    knows_versions: ClassVar[bool] = True

    allowed: frozenset[str] | None = None
    blocked: frozenset[str] = frozenset()
    require_confirmation: frozenset[str] = frozenset()
    _may: _Names | None = field(init=False, repr=False, compare=False)
    _may_not: _Names = field(init=False, repr=False, compare=False)
    _asks: _Names = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        allowed: Iterable[str] | None = None,
        blocked: Iterable[str] = (),
        require_confirmation: Iterable[str] = (),
    ) -> None:
        given = None if allowed is None else _texts("allowed", allowed)
        taken = _texts("blocked", blocked)
        asked = _texts("require_confirmation", require_confirmation)
        object.__setattr__(self, "allowed", given)
        object.__setattr__(self, "blocked", taken)
        object.__setattr__(self, "require_confirmation", asked)
        object.__setattr__(self, "_may", None if given is None else _Names.of(given))
        object.__setattr__(self, "_may_not", _Names.of(taken))
        object.__setattr__(self, "_asks", _Names.of(asked))

    def classify(self, name: str, input: Mapping[str, Any]) -> Classification:
        """Classify one call; the input makes no difference."""
        known = _known_as(name)
        if self._may_not.fit(known):
            return Deny("this tool is blocked")
        if self._may is not None and not self._may.fit(known):
            return Deny("this tool is not among the allowed ones")
        if self._asks.fit(known):
            return Confirm("this tool must be confirmed")
        return Allow()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """Exact names, and patterns."""

    exact: frozenset[str]
    patterns: tuple[str, ...]

    @classmethod
    def of(cls, texts: frozenset[str]) -> _Names:
        patterns = frozenset(text for text in texts if any(char in text for char in "*?\\"))
        exact = texts - patterns
        # A call's name is repaired before it is classified, so aliases are resolved.
        aliases = {ALIASES[text] for text in exact if text in ALIASES}
        return cls(exact=exact | aliases, patterns=tuple(sorted(patterns)))

    def fit(self, names: tuple[str, ...]) -> bool:
        if not self.exact.isdisjoint(names):
            return True
        return any(compile_name_glob(pattern)(name) for pattern in self.patterns for name in names)


def _known_as(name: str) -> tuple[str, ...]:
    """Return the names that a tool answers to: its own, and the one its versions share."""
    base, version = split_version(name)
    return (name,) if version is None else (name, base)


def _texts(what: str, given: Iterable[str]) -> frozenset[str]:
    # A string is a collection of its characters, which is never intended here.
    texts = () if isinstance(given, str) else tuple(given)
    if isinstance(given, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{what} must be a collection of tool names")
    return frozenset(texts)
