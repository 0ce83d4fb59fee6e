"""Translates Cedar policies to rules of Placet, as far as there is a counterpart.

An action becomes a tool, the principal the user, an `in` a membership in a list, and each path of
attributes a field of the input. What is an error in Cedar has to be indeterminate in an `allow`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from policy.catalog import Catalog, Origin, ToolSpec
from policy.model import Caller, Facts
from tests.laws.cedar_conditions import LONGEST, Reader, Test
from tests.laws.cedar_fields import Fields
from tests.laws.cedar_world import (
    MISSING,
    Request,
    Uid,
    Untranslatable,
    World,
    as_json,
    kind_of,
    uid_of,
    uid_text,
)

_SCHEMAS = {"string": "string", "entity": "string", "ip": "string", "bool": "boolean"}
_SCHEMAS |= {"long": "integer", "decimal": "number", "set": "array", "record": "object"}


@dataclass(kw_only=True)
class Translation:
    """The rules of a Cedar policy set, and how its requests are calls."""

    world: World
    actions: list[Uid] = field(init=False)
    fields: Fields = field(init=False)

    def __post_init__(self) -> None:
        self.fields = Fields(world=self.world)
        self.actions = sorted({request.action for request in self.world.requests})

    def tool(self, action: Uid) -> str:
        """Return the name of the tool that an action becomes."""
        return f"act_{self.actions.index(action)}"

    def rules(self, name: str, policy: dict[str, Any]) -> list[str]:
        """Return the rule of one policy; one for each action if its conditions read the action."""
        about = [action for action in self.actions if self._is_about(policy["action"], action)]
        if '{"Var": "action"}' in json.dumps(policy["conditions"]):
            return [self._rule(name, policy, [one]) for one in about]
        return [self._rule(name, policy, about)] if about else []

    def _rule(self, name: str, policy: dict[str, Any], about: list[Uid]) -> str:
        grants = policy["effect"] == "permit"
        reader = Reader(self.fields, grants=grants, action=about[0])
        tools = list(map(self.tool, about))
        if len(self.actions) > 1 and len(about) == 1:
            name = f"{name}-{self.actions.index(about[0])}"
        tests = [reader.scope(var, policy[var]) for var in ("principal", "resource")]
        unless: list[Test] = []
        for condition in policy["conditions"]:
            test = reader.test(condition["body"])
            (tests if condition["kind"] == "when" else unless).append(test)
        # A rule has one exception; those of further `unless` are conditions that are negated.
        tests += [reader.negated(test) for test in unless[1:]]
        text = f"{name}: {'allow' if grants else 'deny'} {', '.join(tools)}"
        kept = [test for test in tests if test.constant is not True]
        if kept:
            text += f" when {' and '.join(f'({test.text})' for test in kept)}"
        if unless:
            text += f" unless {unless[0].text}"
        if len(text) > LONGEST:
            raise Untranslatable("a condition that becomes too long")
        return text

    def statements(self) -> list[str]:
        """Return the sets that the rules use; call it after `rules`."""
        return [f"hosts {name} = {item}" for item, name in self.fields.sets.items()]

    def catalog(self) -> Catalog:
        """Return the tools, with the fields that the rules use; call it after `rules`."""
        properties: dict[str, Any] = {"never": {}, "unused": {}}
        for path, name in self.fields.names.items():
            if path[-1] == "+":
                properties[name] = {"type": "array"}
                continue
            kinds = {kind_of(v) for v in self.world.seen(path) if v is not MISSING}
            types = {_SCHEMAS[kind] for kind in kinds if kind in _SCHEMAS}
            properties[name] = {"type": types.pop()} if len(types) == 1 else {}
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        specs = (
            ToolSpec(name=name, origin=Origin(tool=name), schema=schema, complete=True)
            for name in map(self.tool, self.actions)
        )
        return Catalog(specs=tuple(specs), complete=True)

    def call(self, request: Request) -> tuple[str, dict[str, Any], Caller, Facts]:
        """Return the tool, the input, the caller and the facts that a request becomes."""
        input: dict[str, Any] = {}
        for path, name in self.fields.names.items():
            inner = path[:-1] if path[-1] == "+" else path
            value = self.world.at(inner, request)
            if value is MISSING:
                continue
            input[name] = self.above(value) if path[-1] == "+" else as_json(value)
        context = {
            name: as_json(value)
            for name, value in request.context.items()
            if name in self.fields.facts
        }
        caller = Caller(
            user=uid_text(request.principal),
            groups=tuple(map(uid_text, self.world.ancestors(request.principal))),
        )
        return self.tool(request.action), input, caller, Facts(history=(), context=context)

    def above(self, entity: Any) -> list[str]:
        """Return an entity and all that it is in, as a field holds them."""
        return [uid_text(one) for one in self.world.ancestors(uid_of(entity["__entity"]))]

    def _is_about(self, scope: dict[str, Any], action: Uid) -> bool:
        above = self.world.ancestors(action)
        match scope:
            case {"op": "All"}:
                return True
            case {"op": "==", "entity": entity}:
                return uid_of(entity) == action
            case {"op": "in", "entity": entity}:
                return uid_of(entity) in above
            case {"op": "in", "entities": entities}:
                return any(uid_of(one) in above for one in entities)
            case _:
                raise Untranslatable(f"the scope {scope}")
