"""A test as two Python expressions: when it is true, and when it is false.

Where neither holds the test is indeterminate. Both are exact for the values that the opening of the
function accepts (see `fields`); a test with an unsupported part has no expressions, and its closure
is evaluated. The meaning is exactly that of `evaluation.conditions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from policy.catalog import ToolSpec
from policy.checks import checked
from policy.codegen.fields import FieldKind, Fields, is_plain_text
from policy.codegen.quoting import Quoting, literal, text_set
from policy.codegen.resources import ResourceTests
from policy.evaluation import DeclaredResources, constant_value, known_answer
from policy.values import StringRegex, Unreadable, compile_text_glob, is_ordinary, literal_text

_SAFE = 2**53
_MOST_IN_A_SET = 10_000
_MOST_PIECES = 16


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One of the tests that must all be true, and the variables of fields that it reads.

    `present` is the variable that must not be None, which the test takes for granted unless
    `of_none`; without a test that is all it demands. In one function demands are equal whose `key`
    is: the code of a test says everything about it.
    """

    test: str | None
    reads: frozenset[str] = frozenset()
    present: str | None = None
    of_none: bool = False

    @property
    def key(self) -> str:
        """The test; without one, the variable that must not be None."""
        return self.test or self.present or ""


@dataclass(frozen=True, slots=True)
class Sides:
    """Where a test is true and where it is false; `total` says that one of them always holds.

    `demands` say together what `true` says, `reads` are the variables of fields in either.
    """

    true: str
    false: str
    demands: tuple[Conjunct, ...]
    reads: frozenset[str] = frozenset()
    total: bool = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition on a variable and its opposite; `of_none` says that both are safe on None."""

    holds: str
    fails: str
    of_none: bool = False


class Formulas:
    """Writes the tests of one layer on one tool; what they read is gathered in `fields`.

    `covering` says of the next tests that clauses of their rule cover for each other.
    """

    __slots__ = (
        "_declared", "_quoting", "_resources", "_spec", "covering", "fields", "reads_agent",
        "reads_role",
    )  # fmt: skip

    def __init__(
        self,
        spec: ToolSpec,
        declared: DeclaredResources,
        fields: Fields,
        quoting: Quoting,
        *,
        resources: ResourceTests,
    ) -> None:
        self._spec = spec
        self._resources = resources
        self.covering = False
        self._declared = declared
        self._quoting = quoting
        self.fields = fields
        self.reads_role = False
        self.reads_agent = False

    def sides(self, test: checked.Test, *, absent_is_false: bool) -> Sides | None:
        """Return both expressions of a test, None where it cannot be written."""
        match test:
            case checked.AllOf(tests=tests):
                return conjunction(self._each(tests, absent_is_false=absent_is_false))
            case checked.AnyOf(tests=tests):
                return negation(
                    conjunction(
                        negation(part)
                        for part in self._each(tests, absent_is_false=absent_is_false)
                    )
                )
            case checked.NotOf(test=inner):
                return negation(self.sides(inner, absent_is_false=absent_is_false))
            case checked.Presence():
                return self._presence(test)
            case checked.ValueTest(value=value):
                return self._leaf(value, "flag", _flag(value=True), absent_is_false=absent_is_false)
            case checked.Comparison():
                return self._comparison(test, absent_is_false=absent_is_false)
            case checked.ResourceTest():
                return self._resource(test, absent_is_false=absent_is_false)
            case _:
                return self._of_text(test, absent_is_false=absent_is_false)

    def _each(
        self, tests: tuple[checked.Test, ...], *, absent_is_false: bool
    ) -> list[Sides | None]:
        return [self.sides(part, absent_is_false=absent_is_false) for part in tests]

    def _presence(self, test: checked.Presence) -> Sides | None:
        name_in_input = input_field(test.left)
        if name_in_input is None:
            return None
        name = self.fields.variable(name_in_input, "any")
        demand = Conjunct(None, frozenset((name,)), name)
        there = Sides(f"{name} is not None", f"{name} is None", (demand,), demand.reads, total=True)
        return there if test.present else negation(there)

    def _resource(self, test: checked.ResourceTest, *, absent_is_false: bool) -> Sides | None:
        """Return the answer that the tool's declarations give for every call, else tests of it."""
        answer = known_answer(test, self._declared)
        if answer is not None:
            demands = () if answer else (Conjunct("False"),)
            return Sides(str(answer), str(not answer), demands, total=True)
        written = self._resources.sides(
            test, covering=self.covering, absent_is_false=absent_is_false
        )
        if written is None:
            return None
        true, false = written
        return Sides(true, false, (Conjunct(true),), total=False)

    def _comparison(self, test: checked.Comparison, *, absent_is_false: bool) -> Sides | None:
        if not isinstance(test.right, checked.Constant):
            return None
        wanted = constant_value(test.right.value)
        condition, kind = _compared(test.op, wanted)
        if condition is None:
            return None
        return self._leaf(test.left, kind, condition, absent_is_false=absent_is_false)

    def _of_text(self, test: checked.Test, *, absent_is_false: bool) -> Sides | None:
        left: checked.Value
        match test:
            case checked.Membership(left=left, right=right):
                texts = constant_texts(right)
                condition = None if texts is None else _among(texts)
            case checked.TextRelation(op=op, left=left, right=checked.Constant(value=str(text))):
                condition = _related(op, text) if type(text) is str else None
            case checked.LikeTest(left=left, pattern=pattern):
                condition = self._like(pattern)
            case checked.RegexTest(left=left, pattern=pattern, whole=whole):
                condition = self._regex(pattern, whole=whole)
            case _:
                return None
        if condition is None:
            return None
        return self._leaf(left, "text", condition, absent_is_false=absent_is_false)

    def _like(self, pattern: str) -> _Condition:
        head = like_head(pattern)
        if head is not None:
            return _related("starts with", head)
        return self._asked(compile_text_glob(pattern))

    def _regex(self, pattern: str, *, whole: bool) -> _Condition | None:
        regex = self._declared.regex(pattern)
        if isinstance(regex, Unreadable):
            return None
        plain = regex.full_match_shortcut if whole else regex.search_shortcut
        condition = None if plain is None else _plainly(plain)
        return condition or self._asked(regex.matches_whole if whole else regex.found_in)

    def _asked(self, test: object) -> _Condition:
        call = f"{self._quoting.name(test)}({{0}})"
        return _Condition(call, f"not {call}")

    def _leaf(
        self,
        value: checked.Value,
        kind: FieldKind,
        condition: _Condition,
        *,
        absent_is_false: bool,
    ) -> Sides | None:
        known = self._fact(value) if kind == "text" else None
        if known is not None:
            holds, fails = condition.holds.format(known), condition.fails.format(known)
            return Sides(holds, fails, (Conjunct(holds),), total=True)
        own = input_field(value)
        if own is None:
            return None
        name = self.fields.variable(own, kind)
        holds, fails = condition.holds.format(name), condition.fails.format(name)
        reads = frozenset((name,))
        guard = self.fields.guard(own, kind)
        if guard is not None:
            true, false = f"{guard} and {holds}", f"{guard} and {fails}"
            if absent_is_false:
                false = f"({name} is None or {false})"
            return Sides(true, false, (Conjunct(true, reads),), reads, total=False)
        demands = (Conjunct(holds, reads, name, condition.of_none),)
        true = holds if condition.of_none else f"{name} is not None and {holds}"
        if absent_is_false:
            return Sides(true, f"not ({true})", demands, reads, total=True)
        return Sides(true, f"{name} is not None and {fails}", demands, reads, total=False)

    def _fact(self, value: checked.Value) -> str | None:
        """Return what stands for a fact that every call has as plain text."""
        if not isinstance(value, checked.Fact):
            return None
        match value.path:
            case ("session", "role"):
                self.reads_role = True
                return "role"
            case ("agent", "name"):
                self.reads_agent = True
                return "agent"
            case ("tool", "name"):
                return _plain_literal(self._spec.base)
            case ("tool", "origin"):
                return _plain_literal(self._spec.origin.kind)
            case ("tool", "category"):
                return _plain_literal(self._spec.category)
            case _:
                return None


# ------------------------------------------------------------------ parts of tests


def conjunction(parts: Iterable[Sides | None]) -> Sides | None:
    """Return the conjunction of tests, None where one of them could not be written."""
    found: list[Sides] = []
    for part in parts:
        if part is None:
            return None
        found.append(part)
    if len(found) == 1:
        return found[0]
    demands = tuple({one.key: one for part in found for one in part.demands}.values())
    reads = frozenset(name for part in found for name in part.reads)
    true = " and ".join(f"({part.true})" for part in found) or "True"
    if all(part.total for part in found):
        return Sides(true, f"not ({true})", demands, reads, total=True)
    false = " or ".join(f"({part.false})" for part in found) or "False"
    return Sides(true, false, demands, reads, total=False)


def negation(sides: Sides | None) -> Sides | None:
    """Return the negation of a test."""
    if sides is None:
        return None
    demands = (Conjunct(sides.false, sides.reads),)
    return Sides(sides.false, sides.true, demands, sides.reads, total=sides.total)


def input_field(value: checked.Value) -> str | None:
    """Return the name of the input's own field that a value is, None where it is another."""
    match value:
        case checked.FieldOf(base=checked.Fact(path=("input",)), name=name):
            return name
        case _:
            return None


def constant_texts(value: checked.ValueSet | checked.Value) -> frozenset[str] | None:
    """Return the texts of a list written in the policy, if it holds nothing else."""
    found: list[Any]
    match value:
        case checked.ListOf(items=items):
            found = [item.value if isinstance(item, checked.Constant) else None for item in items]
        case checked.Constant(value=tuple(texts)):
            found = list(texts)
        case _:
            return None
    if not 0 < len(found) <= _MOST_IN_A_SET or not all(type(text) is str for text in found):
        return None
    return frozenset(found)


def like_head(pattern: str) -> str | None:
    """Return the text that a pattern wants at the beginning, where it wants nothing else."""
    if not pattern.endswith("*") or pattern.endswith("\\*"):
        return None
    return literal_text(pattern[:-1])


def _plain_literal(text: str | None) -> str | None:
    return literal(text) if type(text) is str and is_plain_text(text) else None


def _flag(*, value: bool) -> _Condition:
    yes, no = ("True", "False") if value else ("False", "True")
    return _Condition(f"{{0}} is {yes}", f"{{0}} is {no}", of_none=True)


def _compared(op: str, wanted: object) -> tuple[_Condition | None, FieldKind]:
    if type(wanted) is bool:
        return (_flag(value=wanted) if op == "==" else None), "flag"
    if type(wanted) is str:
        # Equality of texts looks at both sides for what is hidden.
        return (_equal(wanted) if op == "==" and is_ordinary(wanted) else None), "text"
    if type(wanted) in (int, float) and -_SAFE <= wanted <= _SAFE:  # type: ignore[operator]
        number = _braced(f"({literal(wanted)})")
        if op == "==":
            return _Condition(f"{{0}} == {number}", f"{{0}} != {number}"), "number"
        return _Condition(f"{{0}} {op} {number}", f"not {{0}} {op} {number}"), "number"
    return None, "any"


def _equal(text: str) -> _Condition:
    wanted = _braced(literal(text))
    return _Condition(f"{{0}} == {wanted}", f"{{0}} != {wanted}", of_none=True)


def _among(texts: frozenset[str]) -> _Condition:
    if len(texts) == 1:
        (only,) = texts
        wanted = _braced(literal(only))
        return _Condition(f"{{0}} == {wanted}", f"{{0}} != {wanted}", of_none=True)
    wanted = _braced(text_set(texts))
    return _Condition(f"{{0}} in {wanted}", f"{{0}} not in {wanted}", of_none=True)


def _related(op: str, text: str) -> _Condition:
    wanted = _braced(literal(text))
    match op:
        case "starts with":
            holds = f"{{0}}.startswith({wanted})"
        case "ends with":
            holds = f"{{0}}.endswith({wanted})"
        case _:
            return _Condition(f"{wanted} in {{0}}", f"{wanted} not in {{0}}")
    return _Condition(holds, f"not {holds}")


def _plainly(plain: StringRegex) -> _Condition | None:
    """Return what a simple expression asks of a text, None where that is more than a few pieces."""
    pieces = (*plain.starts, *plain.contains, *plain.ends, *plain.equals)
    if plain.lower or plain.one_line or not 0 < len(pieces) <= _MOST_PIECES:
        return None
    parts = [f"{_braced(literal(piece))} in {{0}}" for piece in plain.contains]
    for method, texts in (("startswith", plain.starts), ("endswith", plain.ends)):
        if texts:
            wanted = ", ".join(_braced(literal(text)) for text in texts)
            parts.append(f"{{0}}.{method}(({wanted},))")
    if plain.equals:
        parts.append(f"{{0}} in {_braced(text_set(plain.equals))}")
    holds = f"({' or '.join(parts)})"
    return _Condition(holds, f"not {holds}")


def _braced(code: str) -> str:
    """Return code for a template that `format` fills in."""
    return code.replace("{", "{{").replace("}", "}}")
