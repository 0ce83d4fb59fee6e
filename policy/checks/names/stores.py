"""Stores that tools write to and read from, as the `tool` statements of a layer declare them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from policy.catalog import ToolSelector
from policy.checks.checked import CheckedDeclaration, CheckedStore
from policy.checks.report import Report
from policy.diagnostics import Severity, did_you_mean


def stores_of(declarations: Iterable[CheckedDeclaration]) -> tuple[CheckedStore, ...]:
    """Return the stores that some tool writes to.

    A tool that is declared to read from other stores, or to have no other effects, does not read
    from a store. This permits: its wildcards match as in an `allow`.
    """
    declared = tuple(declarations)
    names = dict.fromkeys(name for one in declared for name in one.writes_to)
    return tuple(
        CheckedStore(
            name=name,
            writers=tuple(one.tools for one in declared if name in one.writes_to),
            readers=tuple(one.tools for one in declared if name in one.reads_from),
            others=tuple(
                _granting(one.tools)
                for one in declared
                if name not in one.reads_from and (one.reads_from or one.complete)
            ),
        )
        for name in names
    )


def check_stores_are_written(
    own: Iterable[CheckedDeclaration], stores: tuple[CheckedStore, ...], report: Report
) -> None:
    """Warn of stores that tools read from and none writes to: their names may be misspelled."""
    written = [store.name for store in stores]
    for one in own:
        for name in one.reads_from:
            if name not in written:
                report.add(
                    "unwritten-store",
                    f"no tool writes to the store `{name}`, so what is read from it always counts",
                    span=one.span,
                    help=did_you_mean(name, written)
                    or f'declare the tools that do: `tool TOOL writes to store "{name}"`',
                    severity=Severity.WARNING,
                )


def _granting(selector: ToolSelector) -> ToolSelector:
    return replace(selector, grants=True)
