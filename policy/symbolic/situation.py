"""`Situation`: a concrete call with its caller and facts, put together from values of subjects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from policy.admission import Admitted, RawCall, admit
from policy.catalog import Catalog, ToolSpec
from policy.evaluation import ABSENT, Absent, Evaluation
from policy.model import EMPTY, Caller, Facts, GuestScope, ToolCall, freeze, thaw
from policy.symbolic.least_values import least_number, matching_text
from policy.symbolic.subjects import PARENT, RESOURCES, Subject

# As in the tests of rule files: a caller whom nothing restricts, in folders that exist nowhere.
HOME, WORKSPACE = "/home/user", "/workspace"
_ANYBODY = Caller(scope=GuestScope(allowed_tools=("*",)))
_USUAL = Facts(cwd=WORKSPACE, workspace=WORKSPACE, home=HOME, history=())

# The value of each subject that is not as usual. That of RESOURCES is a mapping of input fields,
# that of PARENT may be a tuple of names: the agents above the caller, the nearest one first.
Values = Mapping[Subject, Any]
NOTHING: Values = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One call of a tool. `base` is an input that the tool accepts, as a JSON object."""

    spec: ToolSpec
    base: Mapping[str, Any]
    values: Values = field(default_factory=lambda: MappingProxyType({}))

    def having(self, values: Values) -> Situation:
        """Return the situation with these values, too."""
        return replace(self, values=MappingProxyType({**self.values, **values}))

    @property
    def input(self) -> dict[str, Any]:
        """The input of the call, as a JSON object."""
        found = dict(self.base)
        for subject, value in self.values.items():
            if subject == RESOURCES:
                found.update(value)
            elif subject[0] == "input":
                found[subject[1]] = value
        return {name: value for name, value in found.items() if not isinstance(value, Absent)}

    def as_json(self) -> dict[str, Any] | None:
        """Return the input as a call gives it; None if JSON cannot say it."""
        try:
            json.dumps(self.input, default=_digits)
        except (TypeError, ValueError):
            return None
        given: dict[str, Any] = thaw(freeze(self.input))
        return given

    @property
    def caller(self) -> Caller:
        """Who makes the call; a guest may call every tool."""
        found = _ANYBODY
        for subject, value in self.values.items():
            if subject in _OF_THE_CALLER:
                found = _OF_THE_CALLER[subject](found, None if value is ABSENT else value)
        return found

    @property
    def facts(self) -> Facts:
        """The facts of the call. It is the first of its session."""
        facts = _USUAL
        context: dict[str, Any] = {}
        for subject, value in self.values.items():
            if subject == ("now",):
                facts = replace(facts, now=value if isinstance(value, datetime) else None)
            elif subject[0] == "context" and value is not ABSENT:
                context[subject[1]] = value
        return replace(facts, context=MappingProxyType(context)) if context else facts

    def evaluation(self, *, slots: int) -> Evaluation:
        """Return the call as conditions read it."""
        call = ToolCall(tool=self.spec.name, input=self.input)
        return Evaluation(self.spec, call.input, caller=self.caller, facts=self.facts, slots=slots)


def _started_by(names: str | tuple[str, ...] | None) -> Caller | None:
    """Return the agent that started the caller: the first of these, which the second started."""
    found: Caller | None = None
    for name in reversed((names,) if isinstance(names, str) else names or ()):
        found = replace(_ANYBODY, agent=name, parent=found)
    return found


def _digits(value: Any) -> int:
    """Return a number in the place of one that only the digits of a JSON text can say."""
    if isinstance(value, Decimal) and value.is_finite():
        return 0
    raise TypeError(type(value))


_OF_THE_CALLER = {
    ("agent", "name"): lambda caller, v: replace(caller, agent=v),
    ("session", "role"): lambda caller, v: replace(caller, role=v),
    ("session", "id"): lambda caller, v: replace(caller, session=v),
    ("user", "id"): lambda caller, v: replace(caller, user=v),
    ("user", "groups"): lambda caller, v: replace(caller, groups=v),
    PARENT: lambda caller, v: replace(caller, parent=_started_by(v)),
}
# The facts that a situation can have other values of, besides those of the context.
SETTABLE: frozenset[Subject] = frozenset({*_OF_THE_CALLER, ("now",)})


# What people would write for an argument that names something else than a file.
_USUAL_TEXTS = {"connects": "https://other.example/"}
# Values and characters of an input: a call that has to be larger is not shown.
_LARGEST = 10_000
# Strings that are tried where a tool wants more of one than its schema says.
_WORDS = ("000", "2026-01-01", "2026-01-01T00:00:00Z", "https://a.example/", "a@a.example")


def has_accepted_input(spec: ToolSpec) -> bool:
    """Return whether an input was found that a tool accepts."""
    return not _problems(spec, accepted_input(spec))


def _problems(spec: ToolSpec, input: dict[str, Any]) -> int:
    """Return how many reasons a tool has not to accept an input."""
    found = admit(RawCall(tool=spec.name, input=input), Catalog(specs=(spec,)))
    return 0 if isinstance(found, Admitted) else max(len(found.problems), 1)


def accepted_input(spec: ToolSpec) -> dict[str, Any]:
    """Return a small input that a tool accepts, as far as one was found."""
    found = least_input(spec.schema)
    wrong = _problems(spec, found)
    for name, text in _usual_arguments(spec):
        tried = {**found, name: text}
        if isinstance(found.get(name), str) and _problems(spec, tried) <= wrong:
            found = tried
    for name in [name for name, value in found.items() if isinstance(value, str)]:
        for word in _WORDS if wrong else ():
            tried = {**found, name: word}
            if _problems(spec, tried) < wrong:
                found, wrong = tried, _problems(spec, tried)
                break
    return found


def _usual_arguments(spec: ToolSpec) -> Iterator[tuple[str, str]]:
    """Yield the arguments of which a word would be an odd value, and a usual one of each."""
    for resource in spec.resources:
        text = _USUAL_TEXTS.get(resource.verb)
        if text is not None and len(resource.steps) == 1:
            yield resource.steps[0], text


def least_input(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a small input with the fields that a schema requires, valid for most schemas.

    What a schema demands beyond `_LARGEST` values and characters is left out.
    """
    return _Least().of_object(schema)


def demands_too_much(schema: Mapping[str, Any]) -> bool:
    """Return whether every input is larger than those that calls are tried with."""
    least = _Least()
    least.of_object(schema)
    return least.left <= 0


class _Least:
    """Builds small values; `left` is how many values and characters may still be added."""

    def __init__(self) -> None:
        self.left = _LARGEST

    def of_object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object with the fields that a schema requires."""
        properties = schema.get("properties", EMPTY)
        names = schema.get("required", ()) if isinstance(properties, Mapping) else ()
        return {name: self.of(properties.get(name, EMPTY)) for name in names if self.left > 0}

    def of(self, schema: Any) -> Any:
        """Return a small value."""
        self.left -= 1
        if not isinstance(schema, Mapping):
            return "a"
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        kind = schema.get("type", "string")
        match kind if isinstance(kind, str) else next(iter(kind), "string"):
            case "integer" | "number":
                return least_number(schema)
            case "boolean":
                return False
            case "array":
                return self._list(schema)
            case "object":
                return self.of_object(schema)
            case "null":
                return None
            case _:
                return self._text(schema)

    def _text(self, schema: Mapping[str, Any]) -> str:
        least = max(int(schema.get("minLength", 1)), 1)
        found = matching_text(schema["pattern"], least=least) if "pattern" in schema else None
        return "a" * self._taken(least, each=1) if found is None else found

    def _list(self, schema: Mapping[str, Any]) -> list[Any]:
        count, before = int(schema.get("minItems", 0)), self.left
        if count <= 0:
            return []
        element = self.of(schema.get("items", EMPTY))
        return [element] * (1 + self._taken(count - 1, each=before - self.left))

    def _taken(self, count: int, *, each: int) -> int:
        """Return how many of so many parts fit, which count as used."""
        fitting = min(count, max(self.left, 0) // each)
        self.left = self.left - fitting * each if fitting == count else 0
        return fitting
