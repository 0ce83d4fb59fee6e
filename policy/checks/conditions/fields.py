"""What the schemas of a rule's tools declare of a field of the input."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from policy.catalog import SchemaView, SchemaViews, Step, ToolSpec
from policy.checks.conditions.value_types import (
    ANY,
    ValueType,
    list_type,
    type_of_field,
    union_type,
)
from policy.checks.report import Report
from policy.diagnostics import Severity, did_you_mean
from policy.model import Span

# How many tools a warning names; it counts the others.
_SHOWN = 3
# How many levels of nested lists one step may enter.
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A missing field: the names of the existing fields, empty if the value has none."""

    names: tuple[str, ...]
    scalar: str | None = None


Answer: TypeAlias = ValueType | UnknownField


@dataclass(frozen=True, slots=True)
class _Answers:
    """What the tools of a statement declare about one field; `missing` are those without it."""

    value_type: ValueType
    missing: tuple[tuple[ToolSpec, UnknownField], ...]


# Whether a statement is about all tools, and the distinct schemas of its tools; None stands for a
# schema that accepts any fields.
Sight: TypeAlias = tuple[bool | SchemaView | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFields:
    """The known tools that a statement matches, and the fields of their inputs.

    `everything` is whether the statement is about all tools, which are expected to differ; `open`
    names those that accept fields their schema does not name. Answers are cached.
    """

    specs: tuple[ToolSpec, ...] = ()
    everything: bool = False
    open: frozenset[str] = frozenset()
    views: SchemaViews = field(default_factory=SchemaViews, repr=False, compare=False)
    _answers: dict[tuple[Step, ...], _Answers] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _sight: Sight | None = field(default=None, init=False, repr=False, compare=False)

    def sight(self, sights: dict[Sight, Sight]) -> Sight:
        """Return what the answers depend on: tools with equal schemas have equal fields.

        Equal results are one object, kept in `sights`.
        """
        sight = self._sight
        if sight is None:
            asked = dict.fromkeys([_asked(spec, self) for spec in self.specs])
            found: Sight = (self.everything, *asked)
            sight = sights.setdefault(found, found)
            object.__setattr__(self, "_sight", sight)
        return sight

    def answers(self, path: tuple[Step, ...]) -> _Answers:
        """Return what the tools declare about a field."""
        kept = self._answers.get(path)
        if kept is None:
            kept = self._answers[path] = _ask(self, path)
        return kept


def field_type(
    path: tuple[Step, ...], tools: ToolFields, report: Report, *, shown: str, span: Span
) -> ValueType:
    """Return the type of an input field over all tools; report tools that do not have it."""
    answers = tools.answers(path)
    missing = answers.missing
    if not missing:
        return answers.value_type
    if len(missing) == len(tools.specs):
        _report_unknown(missing, path, report, shown=shown, span=span)
        return ANY
    if not tools.everything:
        help = "name only tools that have the field, or use `is absent` where it may be missing"
        _report_some(missing, report, shown=shown, span=span, help=help)
    return answers.value_type


def report_missing(
    path: tuple[Step, ...],
    tools: ToolFields,
    report: Report,
    *,
    span: Span,
    severity: Severity | None,
    help: str | None,
) -> None:
    """Report tools without a field whose name was chosen elsewhere, at `span`.

    `severity` and `help` are those of a default, which nobody chose for these tools.
    """
    missing = tools.answers(path).missing
    if not missing:
        return
    shown = ".".join(["input", *(str(step) for step in path if step != "*")])
    if len(missing) == len(tools.specs):
        _report_unknown(
            missing, path, report, shown=shown, span=span, severity=severity, help=help or ""
        )
    elif not tools.everything:
        help = help or "the pack is used once for all of these tools; use it for each with its own"
        _report_some(missing, report, shown=shown, span=span, help=help)


def _report_some(
    missing: tuple[tuple[ToolSpec, UnknownField], ...],
    report: Report,
    *,
    shown: str,
    span: Span,
    help: str,
) -> None:
    names = [spec.name for spec, _ in missing]
    report.add(
        "field-of-some",
        f"{tool_names(names)} {'has' if len(names) == 1 else 'have'} no field `{shown}`",
        span=span,
        help=help,
        severity=Severity.WARNING,
    )


def has_field(tools: ToolFields, name: str) -> bool:
    """Return whether the schema of some of the tools names a field of the input."""
    views = (_asked(spec, tools) for spec in tools.specs)
    return any(name in (view.named_fields(()) or ()) for view in views if view is not None)


def named_fields(tools: ToolFields) -> tuple[str, ...] | None:
    """Return the fields of the input that the schemas name; None where a tool may have others."""
    views = [_asked(spec, tools) for spec in tools.specs]
    if not views or any(view is None or view.named_fields(()) is None for view in views):
        return None
    named = (view.named_fields(()) or () for view in views if view is not None)
    return tuple(sorted({name for names in named for name in names}))


def _ask(tools: ToolFields, path: tuple[Step, ...]) -> _Answers:
    answers = [(spec, _answer(spec, path, tools)) for spec in tools.specs]
    types = dict.fromkeys(found for _, found in answers if isinstance(found, ValueType))
    missing = tuple((spec, found) for spec, found in answers if isinstance(found, UnknownField))
    return _Answers(union_type(types) or ANY, missing)


def _answer(spec: ToolSpec, path: tuple[Step, ...], tools: ToolFields) -> Answer:
    view = _asked(spec, tools)
    return ANY if view is None else look_up_field(view, path)


def _asked(spec: ToolSpec, tools: ToolFields) -> SchemaView | None:
    """Return the schema of a tool's fields, None where it may have any."""
    if not spec.schema or spec.open_fields or spec.name in tools.open:
        return None
    return tools.views.of(spec.schema)


@lru_cache(maxsize=16_384)
def look_up_field(schema: SchemaView, path: tuple[Step, ...]) -> Answer:
    """Return what a schema declares about a field, in nested lists too."""
    place: tuple[Step, ...] = ()
    listed = False
    for step in path:
        types = schema.lookup(place).types - {"null"}
        if "any" in types and place:
            return ANY
        if step == "*":
            place = (*place, "*") if "list" in types else place
            continue
        if isinstance(step, int):
            if types != {"list"}:
                return ANY
            place = (*place, step)
            continue
        for _ in range(_DEEPEST):
            if types != {"list"}:
                break
            place, listed = (*place, "*"), True
            types = schema.lookup(place).types - {"null"}
        if place and "object" not in types:
            return ANY if "any" in types or not types else UnknownField((), scalar=sorted(types)[0])
        names = schema.named_fields(place)
        if names is None:
            return ANY
        if step not in names:
            return UnknownField(names)
        place = (*place, step)
    value_type = _type_at(schema, place)
    return list_type([value_type.element]) if listed else value_type


def _type_at(schema: SchemaView, place: tuple[Step, ...]) -> ValueType:
    value_type = type_of_field(schema.lookup(place))
    if not value_type.must_be("list"):
        return value_type
    return list_type([type_of_field(schema.lookup((*place, "*")))])


def _report_unknown(
    missing: tuple[tuple[ToolSpec, UnknownField], ...],
    path: tuple[Step, ...],
    report: Report,
    *,
    shown: str,
    span: Span,
    severity: Severity | None = None,
    help: str = "",
) -> None:
    names = [spec.name for spec, _ in missing]
    known = sorted({name for _, found in missing for name in found.names})
    wanted = next((step for step in reversed(path) if isinstance(step, str) and step != "*"), "")
    scalars = {found.scalar for _, found in missing}
    if len(names) == 1:
        message = f"{tool_names(names)} has no field `{shown}`"
    else:
        message = f"none of {tool_names(names)} has a field `{shown}`"
    near = did_you_mean(wanted, known)
    if not near and None not in scalars:
        near = "the value before the last step has no fields"
    if not near and known:
        near = f"there {'is' if len(known) == 1 else 'are'} {_listed(known)}"
    help = "; ".join(filter(None, (near, help)))
    report.add("unknown-field", message, span=span, help=help, severity=severity)


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:10])
    return shown if len(names) <= 10 else f"{shown} and more"


def tool_names(names: list[str]) -> str:
    """Return the names of tools as a list in a sentence, at most a few."""
    shown = [f"`{name}`" for name in names[:_SHOWN]]
    if len(names) > _SHOWN:
        shown.append(f"{len(names) - _SHOWN} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
