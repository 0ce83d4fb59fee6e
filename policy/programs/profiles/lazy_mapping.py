"""A mapping whose values are worked out when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

_T = TypeVar("_T")


class LazyMapping(Mapping[str, _T], Generic[_T]):
    """A mapping whose values are computed when they are first needed.

    `names` are the known keys. `others` is called for a key that is none of these, and returns
    further keys with their values.
    """

    __slots__ = ("_found", "_make", "_names", "_others")

    def __init__(
        self,
        names: Iterable[str],
        make: Callable[[str], _T],
        others: Callable[[], Mapping[str, _T]] | None = None,
    ) -> None:
        self._names = dict.fromkeys(names)
        self._make = make
        self._others = others
        self._found: dict[str, _T] = {}

    def __getitem__(self, name: str) -> _T:
        found = self._found.get(name)
        if found is not None:
            return found
        if name in self._names:
            return self._found.setdefault(name, self._make(name))
        self._take_others()
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        self._take_others()
        return iter({**self._names, **self._found})

    def __len__(self) -> int:
        self._take_others()
        return len({**self._names, **self._found})

    def __bool__(self) -> bool:
        return bool(self._names)

    def _take_others(self) -> None:
        if self._others is None:
            return
        for name, value in self._others().items():
            # An own name takes precedence over another name of another entry.
            if name not in self._names:
                self._found.setdefault(name, value)
        self._others = None
