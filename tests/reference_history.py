"""The reference evaluator's history: looks at every earlier call, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from policy.catalog import Origin, ToolSpec
from policy.model import Facts, PastCall
from policy.syntax import tree
from tests.reference_tools import ref_fits
from tests.reference_values import Truth, any_of

_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


class Scene(Protocol):
    """What a condition about earlier calls may look at."""

    @property
    def facts(self) -> Facts: ...

    @property
    def tools(self) -> Mapping[str, tree.Tools]: ...

    @property
    def labels(self) -> tuple[tree.LabelResults, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Called:
    """The tool of an earlier call, in the place of the tool that is judged."""

    spec: ToolSpec
    tools: Mapping[str, tree.Tools]


def judge_after(
    tools: tree.Tools, within: tree.Duration | None, scene: Scene, *, permits: bool
) -> Truth:
    """Tell whether such a call succeeded; one that did not may still have had its effect."""
    if scene.facts.history is None:
        return None
    assert isinstance(scene.facts.history, tuple)
    return any_of(
        [
            _young(past, within, scene.facts)
            if past.outcome == "ok"
            else _at_most_unsure(past, within, scene.facts)
            for past in scene.facts.history
            if _fits(tools, past, scene, permits=permits)
        ]
    )


def _fits(tools: tree.Tools, past: PastCall, scene: Scene, *, permits: bool) -> bool:
    if past.origin is None:
        raise NotImplementedError("laws draw earlier calls with the origin of their tools")
    own = past.tool.removeprefix(f"{past.server}__") if past.origin == "mcp" else past.tool
    spec = ToolSpec(name=past.tool, origin=Origin(kind=past.origin, server=past.server, tool=own))
    called = _Called(spec=spec, tools=scene.tools)

    def named(ref: tree.ToolRef) -> bool:
        sources = [one.tools for one in scene.labels if one.label == ref.pattern]
        if sources and ref.origin is None:
            return any(_all_fit(source, called, permits=permits) for source in sources)
        return ref_fits(ref, called, grants=permits)

    return any(named(ref) for ref in tools.included) and not any(
        ref_fits(ref, called, grants=not permits) for ref in tools.excluded
    )


def _all_fit(tools: tree.Tools, called: _Called, *, permits: bool) -> bool:
    return any(ref_fits(ref, called, grants=permits) for ref in tools.included) and not any(
        ref_fits(ref, called, grants=not permits) for ref in tools.excluded
    )


def _young(past: PastCall, within: tree.Duration | None, facts: Facts) -> Truth:
    if within is None:
        return True
    if past.at is None or facts.now is None:
        return None
    age = max(facts.now - past.at, timedelta(0))
    return age < within.amount * _UNITS[within.unit]


def _at_most_unsure(past: PastCall, within: tree.Duration | None, facts: Facts) -> Truth:
    return False if _young(past, within, facts) is False else None
