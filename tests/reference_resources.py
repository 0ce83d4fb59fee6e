"""The reference evaluator's resource tests: what a call accesses, and whether a set contains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog import Resource, ToolSpec
from policy.model import Facts
from policy.syntax import tree
from tests.reference_values import (
    ABSENT,
    UNREADABLE,
    Simple,
    Truth,
    agreed,
    all_of,
    any_of,
    as_number,
    command_fits,
    equal,
    host_fits,
    is_harmless,
    negated,
    path_fits,
    path_item,
    read_command,
    read_host,
    read_path,
    text_test,
)

VERBS: tuple[tree.Verb, ...] = ("reads", "writes", "runs", "connects", "sends")
_KINDS = {
    "reads": "paths",
    "writes": "paths",
    "runs": "commands",
    "connects": "hosts",
    "sends": "strings",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReader:
    """Reads values as a set's kind says, with the facts that reading needs."""

    sets: Mapping[str, tree.NamedSet]
    facts: Facts

    def holds(self, named: tree.NamedSet, value: Any) -> Truth:
        """Tell whether a value is in a named set."""
        included = any_of([self.item_holds(named.kind, item, value) for item in named.included])
        excluded = any_of([self.item_holds(named.kind, item, value) for item in named.excluded])
        return all_of([included, negated(excluded)])

    def item_holds(self, kind: str, item: tree.Expr | tree.SetItem, value: Any) -> Truth:
        """Tell whether a value is what one item of a set spells."""
        match item:
            case tree.Name(name="workspace"):
                if self.facts.workspace is None:
                    return None
                return self._text_holds(kind, self.facts.workspace + "/**", value)
            case tree.Name(name=name) if kind == "hosts" and name not in self.sets:
                return self._text_holds(kind, name, value)
            case tree.Name(name=name):
                return self.holds(self.sets[name], value)
            case tree.Number(value=number):
                place = as_number(value)
                return None if place is None else place == number
            case tree.Text(value=text):
                return self._text_holds(kind, text, value)
            case tree.ListLiteral(items=items):
                return any_of([self.item_holds(kind, part, value) for part in items])
            case _:
                raise NotImplementedError(type(item).__name__)

    def _text_holds(self, kind: str, item: str, value: Any) -> Truth:
        match kind:
            case "strings":
                return equal(value, item)
            case "addresses":
                return text_test(lambda a: _address_fits(item, a), value)
            case "paths":
                return self._path_holds(item, value)
            case "hosts":
                host = read_host(value)
                if host is None:
                    return None
                return host_fits(item, host, resolve=self.facts.resolvers.host)
            case "commands":
                if isinstance(value, Simple):
                    return command_fits(item, value)
                commands = read_command(value)
                return None if commands is None else any(command_fits(item, c) for c in commands)
            case _:
                raise NotImplementedError(kind)

    def _path_holds(self, item: str, value: Any) -> Truth:
        facts = self.facts
        wanted = path_item(item, workspace=facts.workspace, home=facts.home)
        lexical = read_path(value, base=facts.cwd, home=facts.home)
        if wanted is None or lexical is None:
            return None
        if facts.resolvers.path is None:
            return path_fits(wanted, lexical)
        resolved = facts.resolvers.path("/" + "/".join(lexical))
        if resolved is None:
            return None
        real = read_path(resolved, base=None, home=None)
        return None if real is None else agreed(path_fits(wanted, lexical), path_fits(wanted, real))

    def readable(self, kind: str, value: Any) -> bool:
        """Tell whether a value can be read as this kind at all."""
        match kind:
            case "paths":
                return read_path(value, base=self.facts.cwd, home=self.facts.home) is not None
            case "hosts":
                return read_host(value) is not None
            case "commands":
                return isinstance(value, Simple)
            case _:
                return isinstance(value, str)


def _address_fits(item: str, address: str) -> bool:
    if item.startswith("*@"):
        return address.lower().endswith(item[1:].lower())
    return address.lower() == item.lower()


# ------------------------------------------------------------------ what a call does


@dataclass(slots=True, kw_only=True)
class Effects:
    """One verb's share of a call.

    `seen` can be read. `opaque` stands in the call and cannot. `possible` are the texts of a tool
    that did not say what it does, `words` those of commands without a profile.
    """

    seen: list[Any]
    opaque: bool
    possible: list[str]
    words: list[str]
    declared: int
    given: int

    def any(self) -> bool:
        """Tell whether the call has, or may have, such an effect."""
        return bool(self.seen or self.opaque or self.possible or self.words)


def effects_of(
    verb: tree.Verb,
    reader: SetReader,
    *,
    input: Any,
    resources: tuple[Resource, ...],
    complete: bool,
) -> Effects:
    """Return what a call with this input does of one verb."""
    effects = Effects(seen=[], opaque=False, possible=[], words=[], declared=0, given=0)
    for resource in resources:
        assert not resource.tree
        assert resource.tree_field is None
        values = [value for value in reached(input, resource.steps) if value is not ABSENT]
        if resource.verb == verb:
            effects.declared += 1
            effects.given += bool(values)
        if resource.verb == "runs":
            for value in values:
                _add_command(effects, value, verb=verb, reader=reader)
        elif resource.verb == verb:
            for value in values:
                _add(effects, value, kind=_KINDS[verb], reader=reader)
    if not complete:
        effects.possible = list(_texts(input))
    return effects


def _add(effects: Effects, value: Any, *, kind: str, reader: SetReader) -> None:
    if isinstance(value, tuple):
        for element in value:
            _add(effects, element, kind=kind, reader=reader)
    elif reader.readable(kind, value):
        effects.seen.append(value)
    else:
        effects.opaque = True


def _add_command(effects: Effects, value: Any, *, verb: tree.Verb, reader: SetReader) -> None:
    simples = read_command(value)
    if simples is None:
        effects.opaque = True
        return
    for simple in simples:
        if verb == "runs":
            effects.seen.append(simple)
            continue
        if not is_harmless(simple):
            effects.words.extend(simple.words[1:] or simple.words)
        redirected = {"reads": simple.reads, "writes": simple.writes}.get(verb, ())
        for target in redirected:
            _add(effects, target, kind="paths", reader=reader)


def reached(value: Any, steps: tuple[str, ...]) -> list[Any]:
    """Return what stands at a declared argument, unreadable below a value of another type."""
    if value is None or value is ABSENT:
        return [ABSENT]
    if not steps:
        return [value]
    if steps[0] == "*":
        elements = value if isinstance(value, tuple) else (value,)
        return [found for element in elements for found in reached(element, steps[1:])]
    if not isinstance(value, Mapping):
        return [UNREADABLE]
    return reached(value.get(steps[0]), steps[1:])


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case tuple():
            return [text for element in value for text in _texts(element)]
        case Mapping():
            return [text for element in value.values() for text in _texts(element)]
        case _:
            return []


# ------------------------------------------------------------------ the forms


def judge_resources(
    test: tree.ResourceTest,
    reader: SetReader,
    *,
    input: Any,
    spec: ToolSpec,
    resources: tuple[Resource, ...],
    complete: bool,
    absent: Truth,
    permits: bool,
    redirections_covered: bool,
) -> Truth:
    """Return what a resource test says of a call with this input."""
    effects = effects_of(test.verb, reader, input=input, resources=resources, complete=complete)
    operand = test.operand
    if isinstance(operand, tree.Anything):
        if permits:
            return True
        return True if effects.seen else (None if effects.any() else False)

    def holds(value: Any) -> Truth:
        if isinstance(operand, tree.Nothing):
            return False
        return reader.item_holds(_KINDS[test.verb], operand, value)

    def spells(value: Any) -> Truth:
        # No pattern that the oracle reads has a redirection; the command's may be another form.
        truth = holds(value)
        return None if truth is True and _redirects(value) else truth

    def covers(value: Any) -> Truth:
        uncovered = _redirects(value) and not redirections_covered
        if isinstance(value, Simple) and is_harmless(value) and not uncovered:
            return True
        return spells(value) if uncovered else holds(value)

    form = "only" if isinstance(operand, tree.Nothing) else test.form
    if form == "only":
        if effects.declared and not effects.given:
            return absent
        # What commands do unseen is covered by the patterns they fit.
        unseen = spec.unseen and test.verb != "runs" and not _enforced(test, reader, spec)
        return _only(effects, covers, out_of_sight=unseen or not complete)
    if form == "outside":
        return _outside(effects, covers)
    in_sight = any_of([spells(value) for value in effects.seen])
    hidden = effects.opaque or any(
        holds(text) is not False
        for text in [*effects.possible, *effects.words]
        if reader.readable(_KINDS[test.verb], text) or test.verb == "runs"
    )
    return any_of([in_sight, None if hidden else False])


def _enforced(test: tree.ResourceTest, reader: SetReader, spec: ToolSpec) -> bool:
    """Tell whether a sandbox keeps unseen code within the set: any of hosts, folders and files."""
    sandbox = reader.facts.sandbox
    if sandbox is None or test.verb not in sandbox.enforces or spec.origin.kind != "host":
        return False
    if sandbox.tools is not None and spec.name not in sandbox.tools:
        return False
    return test.verb == "connects" or _is_plain(test.operand, reader)


def _is_plain(item: tree.Expr | tree.Nothing | tree.Anything, reader: SetReader) -> bool:
    match item:
        case tree.Nothing() | tree.Name(name="workspace"):
            return True
        case tree.Name(name=name):
            named = reader.sets[name]
            return not named.excluded and all(_is_plain(part, reader) for part in named.included)
        case tree.ListLiteral(items=items):
            return all(_is_plain(part, reader) for part in items)
        case tree.Text(value=text):
            return not set("*?").intersection(text.removesuffix("/**"))
        case _:
            raise NotImplementedError(type(item).__name__)


def _redirects(value: Any) -> bool:
    return isinstance(value, Simple) and bool(value.reads or value.writes)


def _only(effects: Effects, covers: Callable[[Any], Truth], *, out_of_sight: bool) -> Truth:
    inside = all_of([covers(value) for value in effects.seen])
    hidden = effects.opaque or out_of_sight or bool(effects.words)
    return all_of([inside, None if hidden else True])


def _outside(effects: Effects, covers: Callable[[Any], Truth]) -> Truth:
    out = any_of([negated(covers(value)) for value in effects.seen])
    guesses = [*effects.possible, *effects.words]
    hidden = effects.opaque or any(covers(text) is not True for text in guesses)
    return any_of([out, None if hidden else False])
