"""Conditions and values of a resolved policy as text that a model can follow.

Short sets are listed by their members, since the model does not know their names. A condition
without a phrase of its own is quoted from the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, assert_never

from policy.checks import checked
from policy.values import escape_for_display

_MOST_ITEMS = 6
_LONGEST_ITEM = 80
_LONGEST_TEXT = 200


def code_span(text: str, limit: int = _LONGEST_ITEM) -> str:
    """Return text as it is written, between backticks, with hidden characters escaped."""
    return f"`{escape_for_display(text, limit).replace('`', chr(39))}`"


def listed(items: Iterable[str], word: str = "or", *, most: int = _MOST_ITEMS) -> str:
    """Return `a, b or c`, the first few of many."""
    shown = list(items)
    if len(shown) > most:
        return f"{', '.join(shown[:most])} {word} {len(shown) - most} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def condition_text(test: checked.Test) -> str:
    """Return a condition as a clause of a sentence about a call: `its `to` is one of …`."""
    match test:
        case checked.AllOf(tests=tests):
            return " and ".join(_part(one) for one in tests)
        case checked.AnyOf(tests=tests):
            return " or ".join(_part(one) for one in tests)
        case checked.NotOf(test=inner):
            return _plain(inner, negated=True) or f"it is not true that {_part(inner)}"
        case _:
            return _plain(test, negated=False) or f"{code_span(test.text, _LONGEST_TEXT)} holds"


def _part(test: checked.Test) -> str:
    """Return a condition inside another one, so that it reads as one unit."""
    words = condition_text(test)
    # A quantifier applies to everything that follows it, to the end of its part.
    parted = isinstance(test, (checked.AllOf, checked.AnyOf, checked.Quantified))
    return f"({words})" if parted else words


def _plain(test: checked.Test, *, negated: bool) -> str | None:
    """Return the phrase for one test, None where it has none."""
    isnt = "is not" if negated else "is"
    match test:
        case checked.ResourceTest():
            return None if negated else _resources(test)
        case checked.Comparison(op=op):
            return _relation(test.left, f"{isnt} {_OPS[op]}".strip(), value_text(test.right))
        case checked.Membership(right=right):
            members = _members(right)
            one_of = f"{isnt} one of" if not isinstance(right, checked.Fact) else f"{isnt} in"
            return _relation(test.left, one_of, members)
        case checked.TextRelation(op=op):
            return _relation(test.left, _TEXT[op][negated], value_text(test.right))
        case checked.LikeTest(pattern=pattern):
            return _relation(test.left, f"{isnt} like", code_span(pattern))
        case checked.RegexTest(pattern=pattern, whole=whole):
            word = _FINDS[whole][negated]
            return _relation(test.left, word, code_span(f"/{pattern}/", _LONGEST_TEXT))
        case checked.Presence(present=present):
            return _relation(test.left, "is given" if present != negated else "is absent", "")
        case checked.TypeTest(kind=kind):
            article = "an" if kind == "object" else "a"
            return _relation(test.left, f"{isnt} {article}", kind)
        case checked.ValueTest():
            return _relation(test.value, isnt, "true")
        case checked.WindowTest():
            return _relation(test.left, isnt, _window(test))
        case checked.Quantified():
            return None if negated else _quantified(test)
        case _:
            return None


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_VARIABLES = "abcdefghijklmnopqrstuvwxyz"


def _window(test: checked.WindowTest) -> str:
    start, end = (f"{at // 60:02}:{at % 60:02}" for at in (test.start, test.end))
    days = "" if test.days is None else f" on {listed((_DAYS[d] for d in sorted(test.days)), 'or')}"
    return f"between {start} and {end} ({code_span(test.zone)}){days}"


def _quantified(test: checked.Quantified) -> str | None:
    source, name = value_text(test.source), value_text(checked.Variable(slot=test.slot))
    if source is None or name is None or test.index_slot is not None:
        return None
    which = "some" if test.kind == "any" else "every"
    return f"for {which} {name} of {source}, {_part(test.test)}"


_OPS: Mapping[str, str] = {
    "==": "",
    "<": "less than",
    "<=": "at most",
    ">": "more than",
    ">=": "at least",
}
_TEXT: Mapping[str, tuple[str, str]] = {
    "starts with": ("begins with", "does not begin with"),
    "ends with": ("ends with", "does not end with"),
    "contains": ("contains", "does not contain"),
}
_FINDS: Mapping[bool, tuple[str, str]] = {
    True: ("matches", "does not match"),
    False: ("contains a match of", "contains no match of"),
}


def _relation(left: checked.Value, words: str, right: str | None) -> str | None:
    about = value_text(left)
    if about is None or right is None:
        return None
    return f"{about} {words} {right}".rstrip()


# ------------------------------------------------------------------ values

_FACTS: Mapping[tuple[str, ...], str] = {
    ("input",): "its input",
    ("call", "reads"): "what it reads",
    ("call", "writes"): "what it writes",
    ("call", "hosts"): "what it connects to",
    ("call", "commands"): "what it runs",
    ("call", "recipients"): "the recipients it sends to",
    ("tool", "name"): "the tool's name",
    ("tool", "category"): "the tool's category",
    ("tool", "server"): "the tool's server",
    ("tool", "origin"): "the tool's origin",
    ("agent", "name"): "the agent's name",
    ("agent", "depth"): "the agent's depth",
    ("session", "role"): "the caller's role",
    ("user", "id"): "the user",
    ("workspace",): "the workspace",
    ("now",): "the time",
}

# `url(...)` has no phrase: the fields read from its result have.
_FUNCTIONS: Mapping[str, str] = {
    "length": "the length of",
    "min": "the smallest of",
    "max": "the largest of",
    "url": "",
}


def value_text(held: checked.Value) -> str | None:
    """Return a phrase for a value: `its `amount``, `"p"`; None where it has none."""
    match held:
        case checked.Constant(value=constant):
            return _constant(constant)
        case checked.Fact(path=path):
            return _FACTS.get(path) or code_span(".".join(path))
        case checked.FieldOf() | checked.ElementAt():
            return _field(held)
        case checked.FunctionCall(function=function, args=args):
            given = _joined(map(value_text, args), "and")
            word = _FUNCTIONS.get(function)
            return None if given is None or word is None else f"{word} {given}".lstrip()
        case checked.Arithmetic(op=op, left=left, right=right):
            first, second = _operand(left), _operand(right)
            return None if first is None or second is None else f"{first} {op} {second}"
        case checked.ListOf(items=items):
            return _joined(map(value_text, items), "or")
        case checked.Variable(slot=slot):
            return code_span(_VARIABLES[slot]) if slot < len(_VARIABLES) else None
        case checked.ObjectOf() | checked.Selected() | checked.Negative() | checked.EarlierCalls():
            return None
        case _:
            assert_never(held)


def _operand(held: checked.Value) -> str | None:
    """Return an operand of arithmetic; an operand that is arithmetic itself goes in parentheses."""
    words = value_text(held)
    apart = words is not None and isinstance(held, (checked.Arithmetic, checked.FunctionCall))
    return f"({words})" if apart else words


def field_text(steps: Iterable[str | int]) -> str:
    """Return the phrase for a field of the input: `its `box.c[0]``."""
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return f"its {code_span(shown.removeprefix('.'))}"


def _field(held: checked.FieldOf | checked.ElementAt) -> str | None:
    steps: list[str | int] = []
    base: checked.Value = held
    while isinstance(base, (checked.FieldOf, checked.ElementAt)):
        step = base.name if isinstance(base, checked.FieldOf) else _key(base.key)
        if step is None:
            return None
        steps.append(step)
        base = base.base
    steps.reverse()
    if base == checked.Fact(path=("input",)):
        return field_text(steps)
    about = value_text(base)
    names = ".".join(str(step) for step in steps)
    return None if about is None else f"the {code_span(names)} of {about}"


def _key(key: checked.Value) -> str | int | None:
    found = key.value if isinstance(key, checked.Constant) else None
    return found if isinstance(found, (str, int)) and not isinstance(found, bool) else None


def _joined(words: Iterable[str | None], word: str) -> str | None:
    """Return all of the phrases as a list, None where one of them is missing."""
    found = list(words)
    return None if None in found else listed([one for one in found if one is not None], word)


def _constant(constant: Any) -> str | None:
    match constant:
        case bool():
            return "true" if constant else "false"
        case str():
            shown = escape_for_display(constant, _LONGEST_ITEM)
            return '"' + shown.replace('"', '\\"') + '"'
        case int() | float() | Decimal():
            return str(constant)
        case timedelta():
            return f"{constant.total_seconds():g} seconds"
        case datetime() | date():
            return constant.isoformat()
        case tuple():
            return _joined(map(_constant, constant), "or")
        case _:
            return None


# ------------------------------------------------------------------ sets and resources


def _members(members: checked.ValueSet | checked.Value) -> str | None:
    return items_of(members) if isinstance(members, checked.ValueSet) else value_text(members)


def items_of(members: checked.ValueSet, word: str = "or") -> str:
    """Return what is in a set, the first few of many, and what is excluded."""
    words = listed(dict.fromkeys(_items(members.included)), word)
    if not members.excluded:
        return words
    return f"{words} (but not {listed(dict.fromkeys(_items(members.excluded)))})"


def _items(parts: Iterable[checked.SetPart]) -> Iterable[str]:
    for part in parts:
        match part:
            case checked.WorkspaceItem():
                yield "the workspace"
            case checked.InlineCodeItem():
                yield "what inline code accesses"
            case checked.ValueSet(excluded=()):
                yield from _items(part.included)
            case checked.ValueSet():
                yield items_of(part)
            case str():
                yield code_span(part)
            case _:
                yield str(part)


# By verb: any access at all, to some of a set, only to it, and to anything outside it.
_VERBS: Mapping[str, tuple[str, str, str, str]] = {
    "reads": ("reads", "reads files in", "reads only files in", "reads files outside"),
    "writes": ("writes", "writes files in", "writes only files in", "writes files outside"),
    "runs": ("runs", "runs", "runs only", "runs commands other than"),
    "connects": (
        "connects to",
        "connects to",
        "connects only to",
        "connects to hosts outside",
    ),
    "sends": ("sends to", "sends to", "sends only to", "sends to others than"),
}


def _resources(test: checked.ResourceTest) -> str:
    verb, some, only, outside = _VERBS[test.verb]
    if test.operand is None:
        return f"it {verb} anything"
    if not test.operand.included:
        return f"it {verb} nothing"
    words = {"only": only, "outside": outside}.get(test.form, some)
    return f"it {words} {items_of(test.operand, 'and' if test.form == 'outside' else 'or')}"
