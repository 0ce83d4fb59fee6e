"""The changes of a rewrite: which field, and what becomes of it."""

from __future__ import annotations

from typing import Literal, assert_never

from policy.catalog import Step
from policy.checks.checked import CheckedChange
from policy.checks.conditions.fields import field_type
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.conditions.string_tests import check_regex
from policy.checks.conditions.tests import value
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import ANY, ValueType, comparable
from policy.checks.names.interpolation import interpolate
from policy.syntax import print_change, tree


def read_change(change: tree.Change, context: StatementContext) -> CheckedChange | None:
    """Return a change; None, with a report, if its field cannot be changed."""
    steps = input_steps(change.path, context)
    if steps is None:
        return None
    if any(isinstance(step, tree.Star) for step in change.path.steps):
        _refuse(change, "a change applies to one field, not to every element", context)
        return None
    kind = _field_kind(change.path, steps, context)
    match change:
        case tree.SetField():
            given = value(change.value, context)
            _check_matches(change, given, kind, context)
            word: Literal["set", "set if absent"] = "set if absent" if change.if_absent else "set"
            return _changed(change, word, steps, given)
        case tree.AtMost():
            return _changed(change, "at most", steps, _bound(change, kind, context))
        case tree.AtLeast():
            return _changed(change, "at least", steps, _bound(change, kind, context))
        case tree.RemoveField():
            return _changed(change, "remove", steps, None)
        case tree.RedactField():
            check_regex(change.regex, context)
            return _redaction(change, steps, kind, context)
        case _:
            assert_never(change)


def input_steps(path: tree.FieldPath, context: StatementContext) -> tuple[Step, ...] | None:
    """Return the steps from the input to a field; None, with a report, for any other path."""
    if path.root == "input" and path.steps:
        return tuple("*" if isinstance(step, tree.Star) else step for step in path.steps)
    what = "the whole input" if path.root == "input" else f"`{path.root}`"
    context.report.add(
        "not-an-input-field",
        f"{what} is not a field of the input",
        span=path.span,
        help="write `input.FIELD`",
    )
    return None


def _field_kind(
    path: tree.FieldPath, steps: tuple[Step, ...], context: StatementContext
) -> ValueType:
    if context.tools is None:
        return ANY
    shown = ".".join(["input", *(str(step) for step in steps)])
    return field_type(steps, context.tools, context.report, shown=shown, span=path.span)


def _bound(
    change: tree.AtMost | tree.AtLeast, kind: ValueType, context: StatementContext
) -> TypedValue:
    bound = value(change.bound, context)
    if not bound.type.may_be("number"):
        _refuse(change, f"a bound must be a number, not {bound.type}", context)
    elif not kind.may_be("number"):
        _refuse(change, f"the field is {kind}, but a bound is for numbers", context)
    return bound


def _check_matches(
    change: tree.SetField, given: TypedValue, kind: ValueType, context: StatementContext
) -> None:
    if not comparable(given.type, kind):
        _refuse(change, f"the field accepts {kind}, not {given.type}", context)


def _redaction(
    change: tree.RedactField, steps: tuple[Step, ...], kind: ValueType, context: StatementContext
) -> CheckedChange:
    if not kind.may_be("string", "list", "object"):
        _refuse(change, f"the field is {kind}, but only strings can be redacted", context)
    replacement = change.replacement
    if replacement is not None:
        replacement = interpolate(replacement, context.scope, context.report, span=change.span)
    return CheckedChange(
        kind="redact",
        steps=steps,
        value=None,
        pattern=change.regex.pattern,
        replacement=replacement,
        text=print_change(change),
        span=change.span,
    )


def _changed(
    change: tree.Change,
    word: Literal["set", "set if absent", "at most", "at least", "remove"],
    steps: tuple[Step, ...],
    given: TypedValue | None,
) -> CheckedChange:
    return CheckedChange(
        kind=word,
        steps=steps,
        value=None if given is None else given.value,
        pattern=None,
        replacement=None,
        text=print_change(change),
        span=change.span,
    )


def _refuse(change: tree.Change, why: str, context: StatementContext) -> None:
    context.report.add(
        "bad-change",
        why,
        span=change.span,
        help="run `placet check --explain bad-change` for an example",
    )
