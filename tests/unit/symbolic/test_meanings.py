"""`meaning_of` leaves out how a condition is written and nothing else, in every kind of part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from policy.catalog import Origin, SchemaView, ToolPattern, ToolSelector
from policy.checks import checked
from policy.symbolic.subjects import meaning_of
from tests.unit.verify.proving import proof, tool


def _two(make: Callable[[str], Any]) -> tuple[Any, Any]:
    return make("a"), make("b")


# Two of each type that mean different things.
FACTS = checked.Fact(path=("session", "id")), checked.Fact(path=("user", "id"))
LEAVES: dict[Any, tuple[Any, Any]] = {
    bool: (True, False),
    int: (1, 2),
    str: ("a", "b"),
    timedelta: (timedelta(1), timedelta(2)),
    Any: ("a", "b"),
    checked.Value: FACTS,
    checked.Test: (
        checked.NamedByUser(left=FACTS[0], text=""),
        checked.NamedByUser(left=FACTS[1], text=""),
    ),
    checked.ValueSet: _two(lambda one: checked.ValueSet(kind="strings", included=(one,))),
    Origin: _two(lambda one: Origin(tool=one)),
    SchemaView: (SchemaView({}), SchemaView({})),
    ToolSelector: _two(lambda one: ToolSelector(included=(ToolPattern(text=one),), grants=True)),
}
KINDS = (
    *get_args(checked.Test),
    *get_args(checked.Value),
    checked.CheckedLabel,
    checked.CheckedStore,
    checked.DeclaredOutput,
)


def _two_of(hint: Any) -> tuple[Any, Any]:
    """Return two values of a type that mean different things."""
    if hint in LEAVES:
        return LEAVES[hint]
    if is_dataclass(hint):
        made = _made(hint)
        return made, next(other for _, other in _changed(made))
    parts = tuple(part for part in get_args(hint) if part is not NoneType)
    if len(parts) < len(get_args(hint)):
        return _two_of(parts[0])
    if get_origin(hint) is Literal:
        return parts[0], parts[1]
    if get_origin(hint) is frozenset or parts[-1] is Ellipsis:
        one, other = _two_of(parts[0])
        return get_origin(hint)([one]), get_origin(hint)([other])
    if get_origin(hint) is tuple:
        one, other = zip(*map(_two_of, parts), strict=True)
        return one, other
    return FACTS if checked.Fact in parts else _two_of(parts[0])


def _hints(kind: Any) -> dict[str, Any]:
    # `Value` and `Test` are unions of records, so that they are recognised by their names.
    names = {**vars(checked), "Value": checked.Value, "Test": checked.Test}
    return get_type_hints(kind, names)


def _made(kind: Any) -> Any:
    hints = _hints(kind)
    return kind(**{part.name: _two_of(hints[part.name])[0] for part in fields(kind)})


def _changed(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the node with one part changed, for each part that it is compared by."""
    hints = _hints(type(node))
    for part in fields(node):
        if part.compare:
            yield part.name, replace(node, **{part.name: _two_of(hints[part.name])[1]})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_meaning_is_everything_but_the_text(kind: Any) -> None:
    node = _made(kind)
    for name, other in _changed(node):
        assert (meaning_of(node) == meaning_of(other)) is (name == "text"), name


def test_a_rule_about_results_that_a_store_returns_leaves_claims_provable() -> None:
    """The patterns of the tools that read from a store are what the condition means."""
    read = tool("file_read", {"path": {"type": "string"}})
    write = tool("file_write", {"path": {"type": "string"}})
    fetch = tool("web_fetch", {"url": {"type": "string"}})
    rules = (
        'tool file_write writes to store "disk"',
        'tool file_read reads from store "disk"',
        "io: allow file_write, file_read",
        "fetch: allow web_fetch when input.url in results(file_read)",
        'never: deny web_fetch when input.url == "https://evil.example/"',
    )
    claim = 'prove never allow web_fetch when input.url == "https://evil.example/"'
    assert proof(claim, *rules, specs=(read, write, fetch)).status == "holds"
    found = proof(claim, *rules[:-1], specs=(read, write, fetch))
    assert (found.status, found.because) == ("undecided", "")
