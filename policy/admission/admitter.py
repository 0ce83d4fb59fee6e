"""Admits a raw call: repairs its name and input, or reports why it cannot be a call.

No later step parses text again: names are resolved, the input is checked against the tool's schema,
defaults are filled in, and repairs are noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from policy.admission.coercion import model_changes, repair, shown_path
from policy.admission.field_renaming import rename
from policy.admission.input_check import InputCheck, input_check_of
from policy.admission.schema_node import fill_defaults, names_all, unnamed_fields
from policy.catalog import Catalog, ToolSpec, repair_name
from policy.diagnostics import nearest
from policy.model import ToolCall
from policy.values import JsonLimits, Unreadable, copy_value, escape_for_display, read_plain_json

_MOST_PROBLEMS = 5


class CallLike(Protocol):
    """Any object with a tool name and an input, both of any type."""

    @property
    def tool(self) -> Any: ...  # noqa: D102

    @property
    def input(self) -> Any: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """A call as received: `input` is JSON text or bytes, a JSON value, or None for none."""

    tool: Any
    input: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The admitted call, its tool, and a note for every repair."""

    call: ToolCall
    spec: ToolSpec
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why a call was refused: `message` sums up `problems`; `suggestion` is a name to try."""

    kind: Literal["not-a-call", "not-found", "validation"]
    tool: str
    message: str
    suggestion: str | None = None
    problems: tuple[str, ...] = ()


def no_unnamed_fields(spec: ToolSpec) -> bool:
    """Return False: no tool accepts fields that its schema does not name."""
    return False


_LIMITS = JsonLimits()


def admit(
    raw: CallLike,
    catalog: Catalog,
    *,
    open_fields: Callable[[ToolSpec], bool] = no_unnamed_fields,
    limits: JsonLimits = _LIMITS,
) -> Admitted | Refused:
    """Return the call that `raw` means, or why it is refused; never raises.

    Admitting an admitted call again changes nothing.
    """
    name = raw.tool
    if not isinstance(name, str):
        return _refused("not-a-call", "", "the name of the tool is not a string")
    notes: tuple[str, ...] = ()
    spec = catalog.get(name)
    if spec is None:
        repaired = repair_name(name, catalog)
        if repaired is None:
            return _unknown(name, catalog)
        # A repaired name is always the name of a tool.
        spec = catalog.get(repaired.name)
        assert spec is not None
        notes = (f"tool name `{escape_for_display(name, 60)}` read as `{spec.name}`",)
    read = _read(raw.input, spec, limits=limits)
    if isinstance(read, Refused):
        return read
    value, more = read
    is_open = spec.open_fields or open_fields(spec)
    gate = input_check_of(spec)
    checked = _check(value, spec, gate, is_open=is_open, limits=limits)
    if isinstance(checked, Refused):
        return checked
    value, mended = checked
    return Admitted(
        call=ToolCall(tool=spec.name, input=value), spec=spec, repairs=notes + more + mended
    )


def _read(
    given: Any, spec: ToolSpec, *, limits: JsonLimits
) -> tuple[dict[str, Any], tuple[str, ...]] | Refused:
    """Return the input as a writable copy."""
    if type(given) is dict or isinstance(given, Mapping):
        copied = copy_value(given, limits=limits)
        if isinstance(copied, Unreadable):
            return _refused("not-a-call", spec.name, f"the input is not JSON: {copied.reason}")
        return copied, ()
    if given is None or (isinstance(given, (str, bytes)) and not given.strip()):
        return {}, ("no input treated as `{}`",)
    if not isinstance(given, (str, bytes)):
        return _refused("not-a-call", spec.name, "the input is not a JSON object")
    notes: tuple[str, ...] = ()
    value = read_plain_json(given, limits=limits)
    if isinstance(value, str):
        value = read_plain_json(value, limits=limits)
        notes = ("the input was JSON text inside JSON text",)
    if isinstance(value, Unreadable):
        return _refused("not-a-call", spec.name, f"the input cannot be read: {value.reason}")
    if value is None:
        return {}, (*notes, "null treated as `{}`")
    if not isinstance(value, dict):
        return _refused("not-a-call", spec.name, "the input is not a JSON object")
    return value, notes


def _check(
    value: dict[str, Any], spec: ToolSpec, gate: InputCheck, *, is_open: bool, limits: JsonLimits
) -> tuple[dict[str, Any], tuple[str, ...]] | Refused:
    if gate.fault is not None:
        return _refused(
            "validation", spec.name, f"calls of this tool cannot be checked: {gate.fault}"
        )
    renamed: tuple[str, ...] = ()
    if not is_open and not names_all(value, gate.place):
        value, renamed = rename(value, gate.place)
        refused = _foreign_fields(value, spec, gate)
        if refused is not None:
            return refused
    tried = _coerced(value, spec, gate)
    if isinstance(tried, str) or not tried[1]:
        mended, notes = repair(value, gate.place, limits=limits)
        if notes and not is_open:
            # A value that was a string before may have fields now.
            mended, more = rename(mended, gate.place)
            notes += more
        again = _coerced(mended, spec, gate) if notes else tried
        if isinstance(again, str):
            return _refused("validation", spec.name, again)
        if not again[1]:
            problems = gate.problems(value)
            return _refused("validation", spec.name, problems[0], problems=problems)
        result = again[0]
    else:
        result, notes = tried[0], ()
        mended = value
    notes = renamed + notes
    if result is not mended:
        notes += model_changes(mended, result)
    if notes and not is_open:
        refused = _foreign_fields(result, spec, gate)
        if refused is not None:
            return refused
    filled = fill_defaults(result, gate.place) if gate.fills else result
    # A default that its own schema rejects is left to the tool.
    return (filled if filled is result or gate.accepts(filled) else result), notes


def _coerced(
    value: dict[str, Any], spec: ToolSpec, gate: InputCheck
) -> tuple[dict[str, Any], bool] | str:
    """Return the input as parsed by the tool's model, and whether the schema accepts that."""
    if spec.coerce is None:
        return value, gate.accepts(value)
    try:
        result = spec.coerce(value)
    except Exception as error:  # noqa: BLE001  (a model of the host application; any exception refuses)
        if gate.accepts(value):
            return escape_for_display(str(error), 300)
        return value, False
    return result, gate.accepts(result)


def _foreign_fields(value: dict[str, Any], spec: ToolSpec, gate: InputCheck) -> Refused | None:
    if names_all(value, gate.place):
        return None
    problems: list[str] = []
    suggestion: str | None = None
    for path, place in unnamed_fields(value, gate.place):
        near = nearest(str(path[-1]), place.names)
        suggestion = suggestion or near
        hint = f"; did you mean `{escape_for_display(near, 60)}`?" if near else ""
        problems.append(f"{shown_path(path)} is not a field of `{spec.name}`{hint}")
        if len(problems) == _MOST_PROBLEMS:
            break
    return _refused(
        "validation", spec.name, problems[0], problems=tuple(problems), suggestion=suggestion
    )


def _unknown(name: str, catalog: Catalog) -> Refused:
    near = nearest(name, catalog.names)
    hint = f"; did you mean `{near}`?" if near else ""
    shown_name = escape_for_display(name, 60)
    return _refused(
        "not-found", shown_name, f"no tool is called `{shown_name}`{hint}", suggestion=near
    )


def _refused(
    kind: Literal["not-a-call", "not-found", "validation"],
    tool: str,
    message: str,
    *,
    problems: tuple[str, ...] = (),
    suggestion: str | None = None,
) -> Refused:
    return Refused(
        kind=kind,
        tool=tool,
        message=message,
        problems=problems or (message,),
        suggestion=suggestion,
    )
