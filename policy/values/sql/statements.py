"""The result of reading SQL text: its statements, and the tables that each names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStatement:
    """One statement: its tables by their canonical names, in order, each once."""

    kind: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """All tables that the statement names."""
        return _once((*self.writes, *self.reads))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sql:
    """The statements of an SQL text."""

    statements: tuple[SqlStatement, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The tables that some statement reads."""
        return _once(name for one in self.statements for name in one.reads)

    @property
    def writes(self) -> tuple[str, ...]:
        """The tables that some statement changes."""
        return _once(name for one in self.statements for name in one.writes)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that some statement names."""
        return _once(name for one in self.statements for name in one.tables)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
