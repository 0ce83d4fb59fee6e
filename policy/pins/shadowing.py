"""Finds tools whose name is, or could be taken for, that of another tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from policy.catalog import snake_case
from policy.values import quote, skeleton

_MOST_TOLD = 8
_USUAL = re.compile(r"[A-Za-z0-9_.\-]{1,64}")


@dataclass(frozen=True, kw_only=True)
class KnownNames:
    """The names that tools have already, each with who has a tool of that name."""

    owners: Mapping[str, tuple[str, ...]]

    @cached_property
    def _by_key(self) -> tuple[tuple[str, Callable[[str], str], Mapping[str, list[str]]], ...]:
        return tuple((how, key, self._keyed(key)) for how, key in _COMPARED)

    def _keyed(self, key: Callable[[str], str]) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self.owners:
            found.setdefault(key(name), []).append(name)
        return found

    def confused_with(self, name: str, *, but: str | None = None) -> Iterator[str]:
        """Yield a sentence for the tools that the name could be taken for, some if there are many.

        `but` is a name that does not count.
        """
        told: set[str] = {but} if but is not None else set()
        for how, key, known in self._by_key:
            for other in islice(known.get(key(name), ()), _MOST_TOLD):
                if other not in told:
                    told.add(other)
                    yield f"{how} {quote(other)} of {' and '.join(self.owners[other])}"


def _itself(name: str) -> str:
    return name


def _drawn(name: str) -> str:
    return skeleton(snake_case(name))


# Each with how it reads before the other name; the closest comes first.
_COMPARED: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the name is that of", _itself),
    ("the name differs only in spelling from", snake_case),
    ("the name looks like", skeleton),
    ("the name looks like", _drawn),
)


def siblings_of(names: Iterable[str]) -> KnownNames:
    """Return the names of one server's tools."""
    return KnownNames(owners=dict.fromkeys(names, ("the same server",)))


def name_findings(name: str, *, siblings: KnownNames, known: KnownNames) -> Iterator[str]:
    """Yield what is wrong with a tool's name; `siblings` are all tools of its server."""
    if not _USUAL.fullmatch(name):
        yield "the name has more than ASCII letters, digits, `_`, `-` and `.`, or is very long"
    yield from known.confused_with(name)
    yield from siblings.confused_with(name, but=name)
