"""For whom a limit counts a call: the canonical values of its scope.

Spellings that a tool may take for the same value have one budget: two values that share one are
limited more strictly, while one value with two would be limited less.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias, assert_never

from policy.catalog import Step
from policy.checks import checked
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import read_resource
from policy.evaluation.evaluation import Evaluation
from policy.values import (
    Endpoint,
    Path,
    Unreadable,
    addresses_in,
    exact,
    identifier_forms,
    normal_form,
    normalise,
    number_text,
)

# The values that a call is charged to, in canonical form; None stands for an absent one. A string
# says why they are not worked out.
Payers: TypeAlias = Callable[[Evaluation], tuple[str | None, ...] | str]

# Each value has a budget of its own, which every other call waits for while it is charged.
_MOST_PAYERS = 500
_TOO_MANY = (None,) * (_MOST_PAYERS + 1)
_OF_TOO_MANY = f"is for more than {_MOST_PAYERS} values at once"
# Of all limits of one call together: some twenty milliseconds. A character that is not ASCII
# counts as several, and as all those that stand for it in its compatible form, of which some have
# eighteen.
_MOST_CHARACTERS = 100_000
_OTHER_CHARACTER = 5
_OF_TOO_LONG = f"is for values of more than {_MOST_CHARACTERS:,} characters"
_LONGEST = 200


def compile_payers(limit: checked.CheckedLimit, declared: DeclaredResources) -> Payers:
    """Return the values that a call is charged to, for one caller of its chain."""
    match limit.scope:
        case "service" | "session":
            return lambda call: (None,)
        case "agent":
            return lambda call: (normalise(call.caller.agent),)
        case "user":
            return lambda call: (call.caller.user,)
        case "field":
            return _of_field(limit.steps, declared)
        case _:
            assert_never(limit.scope)


def _of_field(steps: tuple[Step, ...], declared: DeclaredResources) -> Payers:
    verbs = tuple(
        resource.verb
        for resource in declared.resources
        if _without_stars(resource.steps) == _without_stars(steps)
    )

    def payers(call: Evaluation) -> tuple[str | None, ...] | str:
        known = call.known_payers.get((steps, verbs))
        if known is None:
            room = _MOST_CHARACTERS - sum(weight for weight, _ in call.known_payers.values())
            known = call.known_payers[steps, verbs] = _payers(call, steps, verbs, room=room)
        return known[1]

    return payers


def _payers(
    call: Evaluation, steps: tuple[Step, ...], verbs: tuple[str, ...], *, room: int
) -> tuple[int, tuple[str | None, ...] | str]:
    """Return the values of a field in canonical form, with how many characters that has taken."""
    values = tuple(islice(_values_at(call.input, steps), _MOST_PAYERS + 1))
    if len(values) > _MOST_PAYERS:
        return 0, _OF_TOO_MANY
    weight = 0
    for value in values:
        # An object is read as a whole, and each value in it by itself.
        times = 2 if isinstance(value, Mapping) else 1
        for one in _parts(value):
            weight += times * _weight(one, room - weight)
            if weight > room:
                return 0, _OF_TOO_LONG
    names = (
        None if text is None else _bounded(text)
        for one in values
        for text in _names(one, verbs, call)
    )
    found = tuple(islice(names, _MOST_PAYERS + 1)) or (None,)
    return weight, _OF_TOO_MANY if len(found) > _MOST_PAYERS else found


def _weight(part: Any, room: int) -> int:
    """Return as how many characters a value counts that has no others in it.

    Whatever is certainly longer than `room` is not looked at.
    """
    if isinstance(part, str):
        if part.isascii():
            return len(part)
        at_least = _OTHER_CHARACTER * len(part)
        return at_least if at_least > room else _OTHER_CHARACTER * len(normal_form(part, "NFKD"))
    return part.bit_length() // 3 if isinstance(part, int) else 0


def _parts(value: Any) -> Iterator[Any]:
    """Yield each value that has no others in it, at any depth, and each key."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _parts(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _parts(item)
    else:
        yield value


def _without_stars(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(str(step) for step in steps if step != "*")


def _values_at(value: Any, steps: tuple[Step, ...]) -> Iterator[Any]:
    """Yield the values of a field, each element of a list by itself; None where there is none."""
    if isinstance(value, tuple) and not (steps and isinstance(steps[0], int)):
        rest = steps[1:] if steps and steps[0] == "*" else steps
        if not value:
            yield None
        for item in value:
            yield from _values_at(item, rest)
        return
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step == "*":
        yield from _values_at(value, rest)
    elif isinstance(step, int) and isinstance(value, tuple):
        yield from _values_at(value[step] if -len(value) <= step < len(value) else None, rest)
    elif isinstance(value, Mapping) and value.get(str(step)) is not None:
        yield from _values_at(value[str(step)], rest)
    else:
        yield None


def _names(value: Any, verbs: tuple[str, ...], call: Evaluation) -> tuple[str | None, ...]:
    """Return what one value names, in canonical form; a string may list several addresses."""
    if value is None:
        return (None,)
    if isinstance(value, Mapping):
        if _has_too_many(value):
            return _TOO_MANY
        # A tool may take any value in an object for the one that it looks for.
        inside = (name for one in _leaves(value) for name in _names(one, verbs, call))
        return tuple(dict.fromkeys((_text(value), *islice(inside, _MOST_PAYERS))))
    if not isinstance(value, str):
        return (_text(value),)
    if value.count("@") > _MOST_PAYERS:
        return _TOO_MANY
    resource = _resource(value, verbs, call)
    if resource is not None:
        return (resource,)
    return tuple(
        form
        for entry in addresses_in(value) or (value,)
        for form in ((entry,) if "@" in entry.strip("@") else identifier_forms(entry))
    )


def _has_too_many(value: Any) -> bool:
    """Return whether an object has more values in it, at any depth, than are looked at."""
    return sum(1 for _ in islice(_all_values(value), _MOST_PAYERS + 1)) > _MOST_PAYERS


def _all_values(value: Any) -> Iterator[Any]:
    yield value
    inside = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | tuple):
        for item in inside:
            yield from _all_values(item)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the strings and numbers in an object, at any depth."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def _resource(text: str, verbs: tuple[str, ...], call: Evaluation) -> str | None:
    """Return the resource that a string names, where its field is declared as one."""
    for verb in verbs:
        match read_resource(verb, text, call.paths):
            case Path(lexical=lexical, resolved=resolved, folds=folds):
                return (resolved or lexical).casefold() if folds else resolved or lexical
            case Endpoint() as endpoint:
                return _address(endpoint)
            case str() | Unreadable():
                # Addresses are read below, where a string may be a list of them.
                pass
    return None


def _address(endpoint: Endpoint) -> str:
    return f"{endpoint.scheme}://{endpoint.host}:{endpoint.port}{endpoint.path or '/'}"


def _text(value: Any) -> str:
    """Return a value that is not a string as text; a number and its digits are the same."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        # Of a string inside an object, only its letters and digits.
        return identifier_forms(value)[-1]
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    number = exact(value)
    return str(value) if number is None else number_text(number)


def _bounded(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[: _LONGEST - 70]}…{digest}"
