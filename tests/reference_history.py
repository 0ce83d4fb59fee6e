"""The reference evaluator's history: looks at every earlier call, one after the other."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote

from policy.catalog import Origin, ToolSpec
from policy.model import Facts, PastCall
from policy.syntax import tree
from tests.reference_tools import ref_fits
from tests.reference_values import ABSENT, UNKNOWN, UNREADABLE, Truth, any_of, equal

UNITS = {
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


# Whether the conditions of a `label` statement hold for an earlier call.
Marks: TypeAlias = Callable[[tree.LabelResults, PastCall], Truth]


def judge_after(
    tools: tree.Tools,
    within: tree.Duration | None,
    scene: Scene,
    *,
    permits: bool,
    marks: Marks,
) -> Truth:
    """Tell whether such a call succeeded; one that did not may still have had its effect."""
    if scene.facts.history is None:
        return None
    found: list[Truth] = []
    for past in _history(scene):
        fits = _fits(tools, past, scene, permits=permits, marks=marks)
        if fits is False:
            continue
        young = _young(past, within, scene.facts)
        sure = fits is True and past.outcome == "ok"
        found.append(young if sure or young is False else None)
    return any_of(found)


def _history(scene: Scene) -> tuple[PastCall, ...]:
    assert isinstance(scene.facts.history, tuple)
    return scene.facts.history


def _called(past: PastCall, scene: Scene) -> _Called:
    if past.origin is None:
        raise NotImplementedError("laws draw earlier calls with the origin of their tools")
    own = past.tool.removeprefix(f"{past.server}__") if past.origin == "mcp" else past.tool
    spec = ToolSpec(name=past.tool, origin=Origin(kind=past.origin, server=past.server, tool=own))
    return _Called(spec=spec, tools=scene.tools)


def _fits(tools: tree.Tools, past: PastCall, scene: Scene, *, permits: bool, marks: Marks) -> Truth:
    """Tell whether a call is one of the tools or labels."""
    called = _called(past, scene)
    if any(ref_fits(ref, called, grants=not permits) for ref in tools.excluded):
        return False
    found: list[Truth] = []
    for ref in tools.included:
        sources = [one for one in scene.labels if one.label == ref.pattern]
        if not sources or ref.origin is not None:
            found.append(ref_fits(ref, called, grants=permits))
        for one in sources if ref.origin is None else ():
            if _all_fit(one.tools, called, permits=permits):
                found.append(marks(one, past) if one.clauses else True)
    return any_of(found)


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
    return age < within.amount * UNITS[within.unit]


# ------------------------------------------------------------------ calls and results


def earlier_calls(
    expr: tree.History, scene: Scene, *, permits: bool, marks: Marks
) -> tuple[Any, ...] | None:
    """Return the elements of `calls(…)` or `results(…)`; None where they are not known."""
    if scene.facts.history is None:
        return None
    found = []
    for past in _history(scene):
        if not _all_fit(expr.tools, _called(past, scene), permits=permits):
            continue
        if (permits or expr.kind == "results") and past.outcome != "ok":
            continue
        result = UNREADABLE if past.result is None else past.result
        if permits:
            result = _unlabelled(result, past, scene, marks)
        age: Any = UNKNOWN
        if past.at is not None and scene.facts.now is not None:
            age = max(scene.facts.now - past.at, timedelta(0))
        call = {"input": past.input, "result": result, "outcome": past.outcome, "age": age}
        found.append(result if expr.kind == "results" else call)
    return tuple(found)


def _labelled_by(past: PastCall, scene: Scene, marks: Marks) -> Iterator[tree.LabelResults]:
    for one in scene.labels:
        if (
            _all_fit(one.tools, _called(past, scene), permits=False)
            and marks(one, past) is not False
        ):
            yield one


def _unlabelled(result: Any, past: PastCall, scene: Scene, marks: Marks) -> Any:
    for one in _labelled_by(past, scene, marks):
        if not one.fields:
            return UNREADABLE
        for steps in one.fields:
            result = _without(result, steps)
    return result


def _without(value: Any, steps: tuple[str, ...]) -> Any:
    if isinstance(value, tuple) and steps:
        return tuple(_without(item, steps) for item in value)
    if steps and (value is None or (isinstance(value, Mapping) and value.get(steps[0]) is None)):
        return value
    if steps and isinstance(value, Mapping):
        return {**value, steps[0]: _without(value[steps[0]], steps[1:])}
    return UNREADABLE


def in_earlier_calls(value: Any, calls: tuple[Any, ...] | None, steps: list[str]) -> Truth:
    """Tell whether a value is at this place in one of the calls or results."""
    if calls is None:
        return None
    values = [each for call in calls for each in _values_at(call, steps)]
    return any_of([None if each is UNREADABLE else equal(value, each) for each in values])


def _values_at(value: Any, steps: list[str]) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _values_at(item, steps)
    elif value is None or value is ABSENT:
        return
    elif not steps or value is UNREADABLE:
        yield value
    elif isinstance(value, Mapping):
        yield from _values_at(value.get(steps[0]), steps[1:])
    else:
        yield UNREADABLE


# ------------------------------------------------------------------ copied from a label


def from_label(value: Any, label: str, scene: Scene, marks: Marks) -> Truth:
    """Tell whether a part of a value stands in a text that a label marks."""
    if scene.facts.history is None:
        return None
    wanted = [folded for text in _texts(value) if (folded := _folded(text))]
    found: list[Truth] = []
    for past in _history(scene) if wanted else ():
        for one in _labelled_by(past, scene, marks):
            if one.label != label:
                continue
            told = [*_marked(past.result, one.fields), *past.texts]
            stands = any(want in _folded(text) for text in told for want in wanted)
            sure = marks(one, past) is True and past.outcome == "ok"
            if past.outcome == "running" or (past.result is None and not past.texts):
                found.append(None)
            found.append(stands if sure else (None if stands else False))
    return any_of(found)


def _marked(result: Any, fields: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    if not fields:
        yield from _texts(result)
    for steps in fields:
        yield from _texts_at(result, steps)


def _texts_at(value: Any, steps: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, tuple) and steps:
        for item in value:
            yield from _texts_at(item, steps)
    elif isinstance(value, Mapping) and steps:
        yield from _texts_at(value.get(steps[0]), steps[1:])
    else:
        yield from _texts(value)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case tuple():
            for item in value:
                yield from _texts(item)
        case Mapping():
            for key, item in value.items():
                yield from (key, *_texts(item))
        case bool() | None:
            return
        case int():
            yield str(value)
        case _:
            number = float(value)
            yield str(int(number)) if number.is_integer() else repr(number)


def _folded(text: str) -> str:
    for _ in range(3):
        text = html.unescape(unquote(text, errors="replace"))
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in text if char.isprintable() and not char.isspace())


def leaves_of(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers of a result, as texts, and what is not known of it."""
    if isinstance(value, str) or value is UNREADABLE:
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from leaves_of(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from leaves_of(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
