"""Filters, context rules, approvers and sandboxes of a host application, as the service uses them.

An approver may be written for a tool's name and a reason, a context rule without the context. An
object that every call would fail on is rejected where it is set.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias

from policy.approvals import ApprovalOutcome, ApprovalRequest, Approver, request_text
from policy.service.asking.sandbox import Sandbox
from policy.service.judging.classification import SmartFilter
from policy.service.judging.context_rule import ContextRule, RuleContext, RuleOutcome


class SimpleApprover(Protocol):
    """An approver that is asked with a tool's name, and with the whole request as a text."""

    async def ask(self, tool_name: str, reason: str, /) -> ApprovalOutcome:
        """Return the answer; raising, or being cancelled, counts as a denial."""
        ...


class SimpleContextRule(Protocol):
    """A context rule that needs nothing but the call."""

    def evaluate(self, name: str, input: Mapping[str, Any], /) -> RuleOutcome:
        """Return the outcome for one call; an exception counts as Deny."""
        ...


AnyApprover: TypeAlias = Approver | SimpleApprover
AnyContextRule: TypeAlias = ContextRule | SimpleContextRule


def approver_of(given: AnyApprover) -> Approver:
    """Return an approver that is asked with a request; TypeError if it cannot be asked."""
    ask = method_of(given, "ask", what="approver")
    form = _form(ask, 1, 2)
    if form is None:
        raise _wrong(given, "ask", "ask(request)` or `ask(tool_name, reason)")
    return given if form == 1 else _AskedByName(ask)  # type: ignore[return-value]


def context_rule_of(given: AnyContextRule) -> ContextRule:
    """Return a context rule that takes the context; TypeError if it cannot be evaluated."""
    evaluate = _immediate(given, "evaluate", what="context rule")
    form = _form(evaluate, 3, 2)
    if form is None:
        raise _wrong(given, "evaluate", "evaluate(name, input, ctx)` or `evaluate(name, input)")
    if form == 3:
        return given  # type: ignore[return-value]
    return _WithoutContext(evaluate, knows_versions=getattr(given, "knows_versions", False))


def smart_filter_of(given: SmartFilter) -> SmartFilter:
    """Return the filter; TypeError if it cannot classify a call."""
    if _form(_immediate(given, "classify", what="filter"), 2) is None:
        raise _wrong(given, "classify", "classify(name, input)")
    return given


def sandbox_of(given: Sandbox) -> Sandbox:
    """Return the sandbox; TypeError if it cannot be asked, or never confirms."""
    if _form(method_of(given, "ask", what="sandbox"), 1) is None:
        raise _wrong(given, "ask", "ask(request)")
    if _never_confirms(given):
        kind = type(given).__name__
        raise TypeError(
            f"`{kind}` never confirms, so it would never be asked: `confirms` must be true, or a"
            " property that is true while it asks a person before a program runs"
        )
    return given


def _never_confirms(given: Sandbox) -> bool:
    """Return whether `confirms` is missing, or something else than a truth value or a property.

    A property may change with the tier in force, and one that raises may do so once.
    """
    try:
        value: object = given.confirms
    except AttributeError:
        return not hasattr(type(given), "confirms")
    except Exception:  # noqa: BLE001 - asked again before each question, see `confirms`
        return False
    if not isinstance(value, bool):
        return True
    computed = inspect.getattr_static(type(given), "confirms", None)
    return not value and not hasattr(computed, "__get__")


def method_of(part: object, name: str, *, what: str) -> Callable[..., Any]:
    """Return a method of an object of the host application; TypeError if it has none."""
    if isinstance(part, type):
        raise TypeError(f"`{part.__name__}` is a class: pass an object of it as the {what}")
    method: object = getattr(part, name, None)
    if not callable(method):
        article = "an" if what[0] in "aeiou" else "a"
        kind = type(part).__name__
        raise TypeError(f"`{kind}` is not {article} {what}: it has no method `{name}`")
    return method


def is_async(method: object) -> bool:
    """Return whether calling a method returns a coroutine."""
    return inspect.iscoroutinefunction(method) or inspect.iscoroutinefunction(
        getattr(method, "__call__", None)  # noqa: B004 - what a call runs is looked at
    )


class _AskedByName:
    """An approver around a function of a tool's name and a reason."""

    def __init__(self, ask: Callable[[str, str], Awaitable[ApprovalOutcome]]) -> None:
        self._ask = ask

    def ask(self, request: ApprovalRequest) -> Awaitable[ApprovalOutcome]:
        # With everything that a terminal shows: nobody approves a call by its tool's name.
        return self._ask(request.tool, request_text(request))


class _WithoutContext:
    """A context rule around a function of a call alone."""

    def __init__(self, evaluate: Callable[..., RuleOutcome], *, knows_versions: bool) -> None:
        self._evaluate = evaluate
        self.knows_versions = knows_versions

    def evaluate(self, name: str, input: Mapping[str, Any], ctx: RuleContext) -> RuleOutcome:
        return self._evaluate(name, input)


def _immediate(part: object, name: str, *, what: str) -> Callable[..., Any]:
    """Return a method that returns its result at once; TypeError if it is a coroutine function."""
    method = method_of(part, name, what=what)
    if is_async(method):
        kind = type(part).__name__
        raise TypeError(f"`{kind}.{name}` is async, and nothing awaits it: make it a plain method")
    return method


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be called with so many arguments."""
    return _form(function, count) is not None


def _form(method: Callable[..., Any], *counts: int) -> int | None:
    """Return the first of the numbers of arguments that a method takes; None if it takes none."""
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return counts[0]  # a function without a signature, such as one written in C
    for count in counts:
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    return None


def _wrong(part: object, name: str, forms: str) -> TypeError:
    return TypeError(f"`{type(part).__name__}.{name}` must take these arguments: `{forms}`")
