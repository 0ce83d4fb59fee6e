"""Stores that the session tree has written to: what tools read from them then grounds nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from policy.catalog import ToolSelector
from policy.checks import checked
from policy.evaluation.declared_outputs import ReadResult
from policy.evaluation.past_tools import tool_matcher
from policy.evaluation.truth import Value, unknown_history
from policy.model import CalledTool, History, PastCall

_TOOLS_REMEMBERED = 4_096


def written_stores(
    stores: tuple[checked.CheckedStore, ...],
) -> Callable[[History], frozenset[str]]:
    """Return which of the stores were written to, or may have been: also by calls that failed."""
    if not stores:
        return lambda history: frozenset()
    names = frozenset(store.name for store in stores)

    @lru_cache(maxsize=_TOOLS_REMEMBERED)
    def written_by(tool: CalledTool) -> frozenset[str]:
        return frozenset(store.name for store in stores if _any_matches(store.writers, tool))

    def written(history: History) -> frozenset[str]:
        if history.unknown is not None:
            return names
        return frozenset().union(*map(written_by, history.tools))

    return written


def without_stores(
    read: ReadResult, stores: tuple[checked.CheckedStore, ...], written: frozenset[str]
) -> ReadResult:
    """Return the results that `read` has, but for what may come from one of the written stores."""
    if not written:
        return read

    @lru_cache(maxsize=_TOOLS_REMEMBERED)
    def store_of(tool: CalledTool) -> str | None:
        found = (one.name for one in stores if one.name in written and _may_read(tool, one))
        return next(found, None)

    def result_of(call: PastCall) -> Value:
        store = store_of(call.called)
        if store is None:
            return read(call)
        return unknown_history(
            f"this session may have written to the store `{store}` what `{call.tool}` returned"
        )

    return result_of


def _may_read(tool: CalledTool, store: checked.CheckedStore) -> bool:
    """Return whether a tool may read from a store: it does so unless it is declared not to."""
    return _any_matches(store.readers, tool) or not _any_matches(store.others, tool)


def _any_matches(selectors: tuple[ToolSelector, ...], tool: CalledTool) -> bool:
    return any(tool_matcher(selector)(tool) for selector in selectors)
