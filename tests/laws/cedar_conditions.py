"""Reads the expressions of a Cedar policy as conditions and values of a rule."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from policy.values import is_ordinary
from tests.laws.cedar_fields import Fields, Value
from tests.laws.cedar_world import (
    MISSING,
    MOST_EXACT,
    Uid,
    Untranslatable,
    as_json,
    extension,
    kind_of,
    uid_of,
    uid_text,
)

LONGEST = 6_000  # characters of a condition: each `&&` and `||` that may fail is written twice
_TYPES = {"string": "a string", "entity": "a string", "ip": "a string", "bool": "a boolean"}
_TYPES |= {"long": "a number", "decimal": "a number"}
_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]{1,4}")
_COMPARED = {
    "lessThan": "<",
    "lessThanOrEqual": "<=",
    "greaterThan": ">",
    "greaterThanOrEqual": ">=",
}


@dataclass(frozen=True, slots=True)
class Test:
    """A condition as a rule spells it. `constant`: it is always that."""

    text: str
    may_fail: bool = False
    constant: bool | None = None


# A field that no call has: a test of it is indeterminate in an `allow`, as an error has to be.
_FAILS = Test("input.never == 1", may_fail=True)
TRUE = Test("input.unused is absent", constant=True)
_FALSE = Test("input.unused is present", constant=False)


class Reader:
    """Reads the expressions of one policy."""

    def __init__(self, fields: Fields, *, grants: bool, action: Uid) -> None:
        self._fields = fields
        self._grants = grants
        self._action = action

    def scope(self, var: str, scope: dict[str, Any]) -> Test:
        value = self._fields.value_at((var,))
        match scope:
            case {"op": "All"}:
                return TRUE
            case {"op": "==", "entity": entity}:
                return Test(f"{value.text} == {_quoted(uid_text(uid_of(entity)))}")
            case {"op": "in", "entity": entity}:
                return self._is_in(value, [_uid_value(uid_of(entity))])
            case {"op": "is", "entity_type": kind, **more}:
                found = Test(f"{value.text} starts with {_quoted(kind + '::' + chr(34))}")
                inside = more.get("in")
                if inside is None:
                    return found
                return self.both(found, self._is_in(value, [_uid_value(uid_of(inside["entity"]))]))
            case _:
                raise Untranslatable(f"the scope {scope}")

    # ------------------------------------------------------------------ conditions

    def test(self, node: dict[str, Any]) -> Test:  # noqa: C901 (one arm an operator)
        """Return an expression as a condition."""
        ((kind, of),) = node.items()
        match kind:
            case "Value" if isinstance(of, bool):
                return TRUE if of else _FALSE
            case "!":
                return self.negated(self.test(of["arg"]))
            case "&&":
                return self.both(self.test(of["left"]), self.test(of["right"]))
            case "||":
                return self.either(self.test(of["left"]), self.test(of["right"]))
            case "if-then-else":
                asked = self.test(of["if"])
                then, other = self.test(of["then"]), self.test(of["else"])
                if asked.constant is not None:
                    return then if asked.constant else other
                text = (
                    f"(({asked.text}) and ({then.text})) or (not ({asked.text}) and ({other.text}))"
                )
                return Test(text, any(one.may_fail for one in (asked, then, other)))
            case "==":
                return self._equal(self.value(of["left"]), self.value(of["right"]))
            case "!=":
                return self.negated(self._equal(self.value(of["left"]), self.value(of["right"])))
            case "<" | "<=" | ">" | ">=":
                return self._compared(kind, of["left"], of["right"], "long")
            case "has":
                return self._has(self.value(of["left"]), of["attr"])
            case "hasTag":
                return self._has(self.value(of["left"]), _tag(of["right"]))
            case "in":
                return self._in(self.value(of["left"]), self.value(of["right"]))
            case "is":
                return self._is(of)
            case "like":
                return self._like(self.value(of["left"]), of["pattern"])
            case "contains":
                return self._contains(self.value(of["left"]), [self.value(of["right"])], any)
            case "containsAny" | "containsAll":
                right = self.value(of["right"])
                if right.items is None:
                    raise Untranslatable("`containsAny` of a set that is not written out")
                among = any if kind == "containsAny" else all
                return self._contains(self.value(of["left"]), right.items, among)
            case "isEmpty":
                return self._is_empty(self.value(of["arg"]))
            case _ if kind in _COMPARED:
                return self._compared(_COMPARED[kind], of[0], of[1], "decimal")
            case "isInRange" | "isLoopback" | "isMulticast" | "isIpv4" | "isIpv6":
                return self._address(kind, of)
            case "Var" | "." | "getTag" | "Value":
                return self._truth(self.value(node))
            case _:
                raise Untranslatable(f"the operator {kind}")

    def negated(self, test: Test) -> Test:
        if test.constant is not None:
            return _FALSE if test.constant else TRUE
        return Test(f"not ({test.text})", test.may_fail)

    def both(self, left: Test, right: Test) -> Test:
        """Return `left && right`: where the first is an error, so is the whole."""
        if left.constant is not None:
            return right if left.constant else _FALSE
        second = right.text
        if left.may_fail and self._grants:
            second = f"not ({left.text}) or ({right.text})"
        if len(second) > LONGEST:
            raise Untranslatable("a condition that becomes too long")
        return Test(f"({left.text}) and ({second})", left.may_fail or right.may_fail)

    def either(self, left: Test, right: Test) -> Test:
        """Return `left || right`: where the first is an error, so is the whole."""
        if left.constant is not None:
            return TRUE if left.constant else right
        second = right.text
        if left.may_fail and self._grants:
            second = f"not ({left.text}) and ({right.text})"
        if len(second) > LONGEST:
            raise Untranslatable("a condition that becomes too long")
        return Test(f"({left.text}) or ({second})", left.may_fail or right.may_fail)

    def _checked(self, guard: str, test: Test, *of: Value) -> Test:
        """Return a test that is an error where the guard, which is decided, does not hold."""
        if not any(one.may_fail for one in of):
            return test
        text = f"(({guard}) and ({test.text})) or (not ({guard}) and ({_FAILS.text}))"
        return Test(text, may_fail=True)

    def _where_present(self, test: Test, *of: Value) -> Test:
        present = " and ".join(f"{one.text} is present" for one in of if one.may_fail)
        return self._checked(present, test, *of)

    def _truth(self, value: Value) -> Test:
        if value.literal is not MISSING or "bool" not in value.kinds:
            return _FAILS
        return Test(value.text, value.may_fail or len(value.kinds) > 1)

    def _equal(self, left: Value, right: Value) -> Test:
        if left.literal is not MISSING and right.literal is not MISSING:
            same = left.literal == right.literal and left.kinds == right.kinds
            return TRUE if same else _FALSE
        kinds = left.kinds & right.kinds
        if kinds & {"set", "record"}:
            raise Untranslatable("equality of sets or records")
        both = left.kinds | right.kinds
        if not kinds:
            return self._where_present(_FALSE, left, right)
        if {"long", "decimal"} <= both or {"ip", "string"} <= both:
            raise Untranslatable("values that only Cedar tells apart")
        types = {_TYPES.get(kind) for kind in both}
        text = f"{left.text} == {right.text}"
        if len(types) == 1:
            return Test(text, left.may_fail or right.may_fail)
        typed = {_TYPES[kind] for kind in kinds}
        ways = (
            f"({left.text} is {one} and {right.text} is {one} and {text})" for one in sorted(typed)
        )
        return self._where_present(Test(" or ".join(ways)), left, right)

    def _compared(self, sign: str, left: Any, right: Any, kind: str) -> Test:
        one, other = self.value(left), self.value(right)
        both = one.kinds | other.kinds
        if kind not in one.kinds or kind not in other.kinds:
            return _FAILS
        if both & ({"long", "decimal"} - {kind}):
            raise Untranslatable("values that only Cedar tells apart")
        fails = one.may_fail or other.may_fail or len(both) > 1
        return Test(f"{one.text} {sign} {other.text}", fails)

    def _has(self, base: Value, step: Any) -> Test:
        if base.path is None or base.kinds - {"entity", "record"}:
            raise Untranslatable("`has` of what is no path of entities and records")
        if base.path == ("context",) and not isinstance(step, str):
            raise Untranslatable("a tag of the context")
        inner = self._fields.value_at((*base.path, step))
        if not inner.kinds:
            return self._where_present(_FALSE, base)
        return self._where_present(Test(f"{inner.text} is present"), base)

    def _in(self, left: Value, right: Value) -> Test:
        if left.kinds != {"entity"}:
            raise Untranslatable("`in` of what may be no entity")
        return self._is_in(left, list(right.items) if right.items is not None else [right])

    def _is_in(self, left: Value, groups: list[Value]) -> Test:
        if any(one.kinds != {"entity"} for one in groups):
            raise Untranslatable("`in` what may be no entity")
        if left.literal is not MISSING:
            above = set(map(uid_text, self._fields.world.ancestors(left.literal)))
            if any(one.literal is MISSING for one in groups):
                raise Untranslatable("`in` of a constant")
            return TRUE if above & {uid_text(one.literal) for one in groups} else _FALSE
        if not groups:
            return self._where_present(_FALSE, left)
        among = self._fields.ancestors_of(left)
        text = " or ".join(f"{one.text} in {among}" for one in groups)
        return Test(text, any(one.may_fail for one in (left, *groups)))

    def _is(self, of: dict[str, Any]) -> Test:
        left = self.value(of["left"])
        if left.kinds != {"entity"}:
            raise Untranslatable("`is` of what may be no entity")
        if left.literal is not MISSING:
            found = TRUE if left.literal[0] == of["entity_type"] else _FALSE
        else:
            prefix = _quoted(f'{of["entity_type"]}::"')
            found = Test(f"{left.text} starts with {prefix}", left.may_fail)
        inside = of.get("in")
        return found if inside is None else self.both(found, self._in(left, self.value(inside)))

    def _like(self, left: Value, pattern: list[Any]) -> Test:
        if "string" not in left.kinds:
            return _FAILS
        if left.literal is not MISSING:
            parts = (".*" if p == "Wildcard" else re.escape(p["Literal"]) for p in pattern)
            matches = re.fullmatch("".join(parts), left.literal, re.DOTALL)
            return TRUE if matches else _FALSE
        if left.kinds != {"string"}:
            raise Untranslatable("`like` of what may be no string")
        glob = "".join(
            "*" if part == "Wildcard" else re.sub(r"([*?\\])", r"\\\1", part["Literal"])
            for part in pattern
        )
        if not is_ordinary(glob) or not glob.isprintable():
            raise Untranslatable("a string with invisible characters")
        return Test(f"{left.text} like {_quoted(glob)}", left.may_fail)

    def _contains(
        self, left: Value, wanted: Iterable[Value], among: Callable[[Iterable[bool]], bool]
    ) -> Test:
        items = list(wanted)
        if left.items is not None and all(
            one.literal is not MISSING for one in (*left.items, *items)
        ):
            have = {(tuple(one.kinds), one.literal) for one in left.items}
            return TRUE if among((tuple(o.kinds), o.literal) in have for o in items) else _FALSE
        if left.items is None and left.kinds != {"set"}:
            raise Untranslatable("`contains` of what may be no set")
        kinds = {kind for item in items for kind in item.kinds} | self._kinds_in(left)
        if len(kinds) != 1 or kinds & {"set", "record", "ip"}:
            raise Untranslatable("a set of several kinds")
        text = (" or " if among is any else " and ").join(
            f"({item.text} in {left.text})" for item in items
        )
        if not text:
            return self._where_present(_FALSE if among is any else TRUE, left)
        parts = (left, *items, *(left.items or ()))
        return Test(text, any(one.may_fail for one in parts))

    def _kinds_in(self, of: Value) -> set[str]:
        if of.items is not None:
            return {kind for item in of.items for kind in item.kinds}
        assert of.path is not None
        lists = (value for value in self._fields.world.seen(of.path) if isinstance(value, list))
        return {kind_of(item) for each in lists for item in each}

    def _is_empty(self, of: Value) -> Test:
        if of.items is not None or of.kinds != {"set"}:
            raise Untranslatable("`isEmpty` of what may be no set")
        return Test(f"length({of.text}) == 0", of.may_fail)

    def _address(self, kind: str, of: list[Any]) -> Test:
        value = self.value(of[0])
        if "ip" not in value.kinds:
            return _FAILS
        if value.literal is not MISSING and kind != "isInRange":
            return TRUE if _is_address(kind, value.literal) else _FALSE
        if value.kinds != {"ip"} or value.literal is not MISSING:
            raise Untranslatable("an address that is a constant, or may be none")
        if kind in ("isIpv4", "isIpv6"):
            found = Test(f'{value.text} contains ":"', value.may_fail)
            return found if kind == "isIpv6" else self.negated(found)
        if kind == "isInRange":
            match of[1]:
                case {"ip": [{"Value": str() as text}]}:
                    item = _quoted(str(ipaddress.ip_network(text)))
                case _:
                    raise Untranslatable("a range that is not written out")
        else:
            item = {"isLoopback": "loopback", "isMulticast": "multicast"}[kind]
        name = self._fields.sets.setdefault(item, f"range_{len(self._fields.sets)}")
        return Test(f"{value.text} in {name}", value.may_fail)

    # ------------------------------------------------------------------ values

    def value(self, node: dict[str, Any]) -> Value:  # noqa: C901 (one arm an operator)
        """Return an expression as a value."""
        ((kind, of),) = node.items()
        match kind:
            case "Var" if of == "action":
                return _uid_value(self._action)
            case "Var":
                return self._fields.value_at((of,))
            case "Value":
                return _constant(of)
            case "." | "getTag":
                step = of["attr"] if kind == "." else _tag(of["right"])
                base = self.value(of["left"])
                if base.literal is not MISSING and "entity" in base.kinds:
                    return self._fields.value_at((base.literal, step))
                if base.path is None:
                    raise Untranslatable("an attribute of what is no path")
                return self._fields.value_at((*base.path, step))
            case "Set":
                items = tuple(map(self.value, of))
                text = f"[{', '.join(item.text for item in items)}]"
                fails = any(item.may_fail for item in items)
                return Value(text=text, kinds=frozenset({"set"}), items=items, may_fail=fails)
            case "+" | "-" | "*":
                left, right = self.value(of["left"]), self.value(of["right"])
                if left.kinds != {"long"} or right.kinds != {"long"}:
                    raise Untranslatable("a sum of what may be no whole numbers")
                fails = left.may_fail or right.may_fail
                text = f"({left.text} {kind} {right.text})"
                return Value(text=text, kinds=left.kinds, may_fail=fails)
            case "neg":
                inner = self.value(of["arg"])
                if inner.kinds != {"long"}:
                    raise Untranslatable("a sum of what may be no whole numbers")
                return Value(text=f"(-{inner.text})", kinds=inner.kinds, may_fail=inner.may_fail)
            case "decimal" | "ip":
                return _extension(kind, of)
            case "Record" | "if-then-else" | "datetime" | "duration":
                raise Untranslatable(f"`{kind}` in a value")
            case _:
                return self._as_value(self.test(node))

    def _as_value(self, test: Test) -> Value:
        literal = MISSING if test.constant is None else test.constant
        kinds = frozenset({"bool"})
        return Value(text=f"({test.text})", kinds=kinds, literal=literal, may_fail=test.may_fail)


def _constant(of: Any) -> Value:
    if isinstance(of, dict) and "__entity" in of:
        return _uid_value(uid_of(of["__entity"]))
    kind = kind_of(of)
    if kind not in ("bool", "long", "string"):
        raise Untranslatable(f"a constant of the kind {kind}")
    as_json(of)
    text = _quoted(of) if isinstance(of, str) else json.dumps(of)
    return Value(text=text, kinds=frozenset({kind}), literal=of)


def _uid_value(uid: Uid) -> Value:
    return Value(text=_quoted(uid_text(uid)), kinds=frozenset({"entity"}), literal=uid)


def _extension(kind: str, of: list[Any]) -> Value:
    match of:
        case [{"Value": str() as text}]:
            pass
        case _:
            raise Untranslatable(f"`{kind}` of what is no constant")
    failing = Value(text="input.never", kinds=frozenset({kind}), may_fail=True)
    if kind == "decimal" and not _DECIMAL.fullmatch(text):
        return failing
    try:
        value = extension(kind, text)
    except ValueError:
        return failing
    if isinstance(value, float) and abs(value) * 10_000 > MOST_EXACT:
        raise Untranslatable("a decimal that no double holds")
    text = _quoted(value) if isinstance(value, str) else str(value)
    return Value(text=text, kinds=frozenset({kind}), literal=value)


def _is_address(kind: str, text: str) -> bool:
    address = ipaddress.ip_address(text.strip("[]"))
    if kind in ("isIpv4", "isIpv6"):
        return address.version == int(kind[-1])
    return address.is_loopback if kind == "isLoopback" else address.is_multicast


def _tag(node: dict[str, Any]) -> tuple[str, str]:
    match node:
        case {"Value": str() as name}:
            return "tag", name
        case _:
            raise Untranslatable("a tag whose name is not written out")


def _quoted(text: str) -> str:
    """Return a string of the language; `${` would be a parameter."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${")
    return f'"{escaped}"'
