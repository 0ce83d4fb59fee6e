"""Named sets, lists and single items, resolved to `ValueSet`s whose items can all be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, cast

from policy.checks.checked import InlineCodeItem, SetKind, SetPart, ValueSet, WorkspaceItem
from policy.checks.context import CheckContext
from policy.checks.names.command_items import command_item
from policy.checks.names.interpolation import (
    constant_named,
    dotted_name,
    interpolate,
    number_value,
    value_of_param,
)
from policy.checks.names.path_items import check_reach
from policy.checks.names.scopes import (
    HOST_WORDS,
    INLINE_CODE,
    MAX_DEPTH,
    MAX_ITEMS,
    Definition,
    Extent,
    Scope,
    extent_over,
    is_too_large,
    report_too_deep,
)
from policy.checks.report import Report
from policy.diagnostics import Label, did_you_mean
from policy.model import Span
from policy.syntax import tree
from policy.values import (
    Unreadable,
    check_recipient_pattern,
    quote,
    read_host_pattern,
    read_path_pattern,
)

SET_KINDS = ("paths", "hosts", "commands", "strings", "numbers", "addresses")

# The name of one item of each type, with its article.
ITEM = {
    "paths": "a path",
    "hosts": "a host",
    "commands": "a command",
    "strings": "a string",
    "numbers": "a number",
    "addresses": "an address",
    "tools": "a tool",
}

# The reader of each type of item.
_READERS: Mapping[str, Callable[[str], object]] = {
    "paths": read_path_pattern,
    "hosts": read_host_pattern,
    "addresses": check_recipient_pattern,
}

# Words that are operands without a definition, of any type and of one.
_KEYWORDS = ("anything", "nothing")
_WORDS_OF: Mapping[str, Iterable[str]] = {"hosts": HOST_WORDS, "paths": ("workspace",)}

Chain = tuple[Definition, ...]


def named_set(found: Definition, check: CheckContext, *, chain: Chain = ()) -> ValueSet | None:
    """Return the set that a definition defines, None if it defines something else."""
    if found in chain:
        names = [d.node.name for d in (*chain[chain.index(found) :], found)]
        check.report.add(
            "name-cycle",
            f"a set that contains itself: {' → '.join(f'`{name}`' for name in names)}",
            span=found.span,
            help="remove one of the names from its set",
        )
        return None
    if len(chain) > MAX_DEPTH:
        report_too_deep(found, check.report)
        return None
    if found not in check.sets:
        read = _read(found, check, chain=(*chain, found))
        if read is not None and is_too_large(_extent(read, check), most=MAX_ITEMS):
            report_too_deep(found, check.report)
            read = _held(read.kind, ())
        if read is not None:
            check.extents[id(read)] = _extent(read, check)
        check.sets[found] = read
    return check.sets[found]


def _extent(members: ValueSet, check: CheckContext) -> Extent:
    """Return the extent of a set; those of named sets are cached."""
    known = check.extents.get(id(members))
    if known is not None:
        return known
    parts = (*members.included, *members.excluded)
    return extent_over(
        _extent(part, check) if isinstance(part, ValueSet) else (0, 1) for part in parts
    )


def _read(found: Definition, check: CheckContext, *, chain: Chain) -> ValueSet | None:
    node = found.node
    match node:
        case tree.NamedSet():
            return ValueSet(
                kind=node.kind,
                included=_items(node.included, node.kind, found.scope, check, chain=chain),
                excluded=_items(node.excluded, node.kind, found.scope, check, chain=chain),
            )
        case tree.SetFromFile():
            return _from_file(node, check)
        case tree.Param() if node.kind in SET_KINDS:
            kind = cast("SetKind", node.kind)
            bound = value_of_param(node, found.scope)
            if bound is None:
                return _held(kind, ())
            return _held(kind, (operand_set(bound.value, kind, bound.scope, check, chain=chain),))
        case _:
            return None


def _items(
    items: Iterable[tree.Expr], kind: SetKind, scope: Scope, check: CheckContext, *, chain: Chain
) -> tuple[SetPart, ...]:
    parts = (read_item(item, kind, scope, check, chain=chain) for item in items)
    return tuple(part for part in parts if part is not None)


def operand_set(
    expr: tree.Expr, kind: SetKind, scope: Scope, check: CheckContext, *, chain: Chain = ()
) -> ValueSet:
    """Return the set of `kind` that a name, a list or a single item means."""
    if isinstance(expr, tree.ListLiteral):
        parts = _items(expr.items, kind, scope, check, chain=chain)
        held = parts or not expr.items
        return ValueSet(kind=kind, included=parts) if held else _held(kind, ())
    part = read_item(expr, kind, scope, check, chain=chain)
    if isinstance(part, ValueSet):
        return part
    return _held(kind, ()) if part is None else ValueSet(kind=kind, included=(part,))


def read_item(
    item: tree.Expr, kind: SetKind, scope: Scope, check: CheckContext, *, chain: Chain = ()
) -> SetPart | None:
    """Return one item of a set of `kind`; None, with a report, if it is not valid."""
    report = check.report
    match item:
        case tree.Text():
            if kind == "numbers":
                _refuse(kind, item.span, report)
                return None
            text = interpolate(item.value, scope, report, span=item.span)
            return text if is_readable_item(text, kind, item.span, check) else None
        case tree.Number():
            return _number(item, 1, kind, report)
        case tree.Negate(operand=tree.Number() as operand):
            return _number(operand, -1, kind, report)
        case tree.Name() | tree.Field():
            return _named_item(item, kind, scope, check, chain=chain)
        case tree.ListLiteral():
            return ValueSet(
                kind=kind,
                included=_items(item.items, kind, scope, check, chain=chain),
            )
        case _:
            _refuse(kind, item.span, report)
            return None


def _number(item: tree.Number, sign: int, kind: SetKind, report: Report) -> SetPart | None:
    if kind == "numbers":
        return sign * number_value(item, report)
    _refuse(kind, item.span, report)
    return None


def _named_item(
    item: tree.Name | tree.Field, kind: SetKind, scope: Scope, check: CheckContext, *, chain: Chain
) -> SetPart | None:
    name = dotted_name(item)
    report = check.report
    if kind == "hosts" and name in HOST_WORDS:
        return name
    if name == "workspace" and kind == "paths":
        return WorkspaceItem()
    if name == INLINE_CODE and kind in ("paths", "hosts", "commands"):
        return InlineCodeItem()
    found = scope.find(name) if name else None
    if found is None and name and scope.is_broken(name):
        report.excuse()
        return None
    if found is None:
        known = [*scope.visible(), *_KEYWORDS, *_WORDS_OF.get(kind, ())]
        report.add(
            "unknown-name",
            f"unknown name `{name or 'this'}`",
            span=item.span,
            help=did_you_mean(name or "", known) or f"name a set, or write {ITEM[kind]} in quotes",
        )
        return None
    named = named_set(found, check, chain=chain)
    if named is not None:
        if named.kind == kind:
            return named
        _wrong_set(found, named.kind, kind, item.span, report)
        return None
    value = constant_named(found, report)
    if isinstance(value, str) and kind != "numbers":
        return value if is_readable_item(value, kind, item.span, check) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and kind == "numbers":
        return value
    if found not in chain:
        _wrong_set(found, None, kind, item.span, report)
    return None


def _wrong_set(
    found: Definition, holds: str | None, kind: SetKind, span: Span, report: Report
) -> None:
    what = f"contains {holds}" if holds else "is not a set"
    report.add(
        "wrong-kind",
        f"`{found.node.name}` {what}, but {kind} are needed here",
        span=span,
        labels=(Label(span=found.span, text="defined here"),),
        help=f"name a set defined with `{kind}`",
    )


def _refuse(kind: SetKind, span: Span, report: Report) -> None:
    report.add(
        "bad-set-item",
        f"this is not {ITEM[kind]}",
        span=span,
        help="write numbers without quotes" if kind == "numbers" else "write items in quotes",
    )


def is_readable_item(text: str, kind: SetKind, span: Span, check: CheckContext) -> bool:
    """Return whether an item is valid for its type; report why not."""
    if kind == "commands":
        found: object = command_item(text, span, check)
    else:
        reader = _READERS.get(kind)
        found = None if reader is None else reader(text)
    if not isinstance(found, Unreadable):
        if kind == "paths":
            check_reach(text, span, check)
        return True
    check.report.add(
        "bad-set-item",
        f"{quote(text)} cannot be parsed as {ITEM[kind]}: {found.reason}",
        span=span,
        help=_EXAMPLES[kind],
    )
    return False


_EXAMPLES = {
    "paths": 'paths look like "/srv/work/**", "~/.ssh/*", "src/**" or "**/.env"',
    "hosts": 'hosts look like "corp.example", "*.corp.example", "10.0.0.0/8" or "https://a.example/v1/**"',
    "commands": 'commands look like "git status" or "git diff *"',
    "addresses": 'addresses look like "ada@corp.example" or "*@corp.example"',
}


def _from_file(node: tree.SetFromFile, check: CheckContext) -> ValueSet:
    """Return the set whose items are listed in a data file."""
    found = data_value(node.file, node.key, node.span, check)
    values = [found] if isinstance(found, (str, int, float)) else found
    if found is MISSING:
        return _held(node.kind, ())
    if not isinstance(values, (list, tuple)):
        check.report.add(
            "bad-data",
            f"`{node.file}` has no list at this key",
            span=node.span,
            help="point `at` to a list of items",
        )
        return _held(node.kind, ())
    read = [value.isoformat() if isinstance(value, date) else value for value in values]
    kept = tuple(value for value in read if _matches_data(value, node, check))
    return _held(node.kind, kept)


def _held(kind: SetKind, parts: tuple[SetPart, ...]) -> ValueSet:
    """Return a set that may be empty by chance, unlike `nothing` and `[]`."""
    return ValueSet(kind=kind, included=(ValueSet(kind=kind, included=parts),))


def _matches_data(value: Any, node: tree.SetFromFile, check: CheckContext) -> bool:
    wanted = (int, float) if node.kind == "numbers" else str
    if isinstance(value, wanted) and not isinstance(value, bool):
        return not isinstance(value, str) or is_readable_item(value, node.kind, node.span, check)
    check.report.add(
        "bad-data",
        f"`{node.file}` contains an item that is not {ITEM[node.kind]}",
        span=node.span,
        help=f"every item of the list must be {ITEM[node.kind]}",
    )
    return False


MISSING = object()


def data_value(file: str, key: tuple[str, ...], span: Span, check: CheckContext) -> Any:
    """Return the value in a data file; `MISSING`, with a report, if there is none."""
    if file not in check.data:
        check.report.add(
            "unknown-data",
            f"there is no data file `{file}`",
            span=span,
            help=did_you_mean(file, check.data) or "paths start at the policy folder",
        )
        return MISSING
    value = check.data[file]
    for depth, name in enumerate(key):
        if not isinstance(value, Mapping) or name not in value:
            check.report.add(
                "unknown-data",
                f"`{file}` has nothing at `{'.'.join(key[: depth + 1])}`",
                span=span,
                help=did_you_mean(name, value) if isinstance(value, Mapping) else "",
            )
            return MISSING
        value = value[name]
    return value
