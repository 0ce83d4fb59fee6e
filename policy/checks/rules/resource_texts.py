"""Reports rules about the text of a path, command, URL or recipient, which has other spellings.

`/srv/../etc/shadow` is like `/srv/*`, and `git status; curl …` starts with `git `. A test of such a
text is right where a condition on the resource stands beside it, so that both have to hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from policy.catalog import Resource, Verb
from policy.checks.checked import (
    AllOf,
    AnyOf,
    Arithmetic,
    CheckedRule,
    Comparison,
    Constant,
    ElementAt,
    Fact,
    FieldOf,
    FunctionCall,
    LikeTest,
    ListOf,
    Membership,
    Negative,
    NotOf,
    Presence,
    Quantified,
    RegexTest,
    ResourceTest,
    Selected,
    Test,
    TextRelation,
    TypeTest,
    Value,
    ValueSet,
    ValueTest,
    Variable,
)
from policy.checks.names.known_tools import Steps
from policy.checks.report import Report
from policy.model import Verdict
from policy.values import has_wildcard

# What a condition on a resource says: where all of them are (`within`), or where none is.
_Limit: TypeAlias = tuple[Verb, Literal["within", "without"]]
# The fields that a variable may stand for.
_Sources: TypeAlias = Mapping[int, tuple[Steps, ...]]
_Leaf: TypeAlias = Comparison | Membership | TextRelation | LikeTest | RegexTest

_NOUNS: Mapping[Verb, tuple[str, str]] = {
    "reads": ("path", "may lead to any file"),
    "writes": ("path", "may lead to any file"),
    "runs": ("command", "may run anything"),
    "connects": ("URL", "may lead to any host"),
    "sends": ("recipient", "may be somebody else"),
}
_TO: Mapping[Verb, str] = {"connects": " to", "sends": " to"}
# Functions whose result has the text of their argument in it.
_TEXTUAL = frozenset({"words", "first_present", "with_scheme"})
# Selections whose result is a number.
_COUNTING = frozenset({"count", "sum"})
# Items of sets in which everything is.
_EVERYTHING = frozenset({"*", "**", "/**", "*@*"})
# What can be a name, unlike marks such as `;`, `..` or `$(`.
_NAME = re.compile(r"[A-Za-z]{2}")
# What a URI of such a scheme names, only its server knows, so that its text is all there is.
_SERVERS_OWN = re.compile(r"(?!(?:file|https?|wss?|ftp):)[A-Za-z][A-Za-z0-9+.-]+:")
# A regular expression that lists the strings it matches.
_LISTING = re.compile(r"(?:[\w /@:=,%~-]|\\[^\w\s]|[()|^$])*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextTest:
    """A test of the text of a field. `lets_pass`: calls pass by matching, and not otherwise.

    `of_some`: it is about some of several texts, or a part of one, so that the rest stays open.
    """

    test: _Leaf
    steps: Steps
    lets_pass: bool
    of_some: bool
    beside: frozenset[_Limit]

    @property
    def is_exact(self) -> bool:
        """Whether it lists the texts that it matches."""
        match self.test:
            case Comparison():
                return not self.of_some
            case Membership(right=right):
                return not self.of_some and isinstance(right, ValueSet | Constant | ListOf)
            case LikeTest(pattern=pattern):
                return not self.of_some and not has_wildcard(pattern)
            case RegexTest(pattern=pattern, whole=whole):
                return not self.of_some and whole and _LISTING.fullmatch(pattern) is not None
            case _:
                return False


def check_resource_texts(
    rule: CheckedRule, resources: tuple[Resource, ...], report: Report
) -> None:
    """Report the tests of texts in a rule that no condition on the resource stands beside."""
    grants = rule.verdict is Verdict.ALLOW
    is_error = grants and not (rule.with_approval or rule.shadow)
    if rule.of_pack and not is_error:
        return
    parts = [] if rule.when is None else [rule.when]
    parts += [] if rule.unless is None else [NotOf(test=rule.unless, text="")]
    condition = AllOf(tests=tuple(parts), text="")
    fields = _resources_by_field(resources)
    for found in _text_tests(condition, lets_pass=grants, beside=frozenset(), sources={}):
        named = fields.get(found.steps, [])
        if named and not _is_bounded(found, named) and _misleads(found, named, grants=grants):
            _report(found, named[0].verb, rule, report, is_error=is_error)


def _resources_by_field(resources: tuple[Resource, ...]) -> Mapping[Steps, list[Resource]]:
    found: dict[Steps, list[Resource]] = {}
    for resource in resources:
        steps = tuple(step for step in resource.steps if step != "*")
        found.setdefault(steps, []).append(resource)
    return found


def _is_bounded(found: _TextTest, named: list[Resource]) -> bool:
    kind: Literal["within", "without"] = "within" if found.lets_pass else "without"
    return any((resource.verb, kind) in found.beside for resource in named)


def _misleads(found: _TextTest, named: list[Resource], *, grants: bool) -> bool:
    """Return whether other spellings than those that were thought of may pass."""
    if all(each.uri for each in named) and _SERVERS_OWN.match(_looked_for(found.test)):
        return False
    if found.lets_pass:
        return not found.is_exact
    if grants and not found.is_exact:
        return True
    return _NAME.search(_looked_for(found.test)) is not None


# ------------------------------------------------------------------ conditions


def _text_tests(
    test: Test | Value, *, lets_pass: bool, beside: frozenset[_Limit], sources: _Sources
) -> Iterator[_TextTest]:
    """Yield the tests of texts of the input, with the limits that must hold together with each."""
    match test:
        case AllOf(tests=parts) | AnyOf(tests=parts):
            if isinstance(test, AllOf) is lets_pass:
                beside = beside.union(*(_limits(part, lets_pass=lets_pass) for part in parts))
            for part in parts:
                yield from _text_tests(part, lets_pass=lets_pass, beside=beside, sources=sources)
        case NotOf(test=part):
            yield from _text_tests(part, lets_pass=not lets_pass, beside=beside, sources=sources)
        case Quantified(slot=slot, source=source, test=part):
            fields = _fields(source, sources)
            inner = {**sources, slot: fields}
            for found in _text_tests(part, lets_pass=lets_pass, beside=beside, sources=inner):
                is_any = test.kind == "any" and fields
                yield replace(found, of_some=True) if is_any else found
            yield from _in_selections(source, lets_pass=lets_pass, beside=beside, sources=sources)
        case Comparison() | Membership() | TextRelation() | LikeTest() | RegexTest():
            for steps in _tested_fields(test, sources):
                yield _TextTest(
                    test=test,
                    steps=steps,
                    lets_pass=lets_pass,
                    of_some=not any(map(_is_whole, _sides(test))),
                    beside=beside,
                )
            for side in _sides(test):
                yield from _in_selections(side, lets_pass=lets_pass, beside=beside, sources=sources)
        case Presence(left=left) | TypeTest(left=left) | ValueTest(value=left):
            yield from _in_selections(left, lets_pass=lets_pass, beside=beside, sources=sources)
        case _:
            return


def _in_selections(
    value: Value, *, lets_pass: bool, beside: frozenset[_Limit], sources: _Sources
) -> Iterator[_TextTest]:
    """Yield the tests by which a value selects or counts, which leave the other texts open."""
    for part in _parts(value):
        if isinstance(part, Selected):
            inner = {**sources, part.slot: _fields(part.source, sources)}
            tests = _text_tests(part.test, lets_pass=lets_pass, beside=beside, sources=inner)
            yield from (replace(found, of_some=True) for found in tests)


def _parts(value: Value) -> Iterator[Value]:
    """Yield a value and all that it is computed from."""
    yield value
    match value:
        case FieldOf(base=base) | Selected(source=base) | Negative(operand=base):
            inner: tuple[Value, ...] = (base,)
        case ElementAt(base=base, key=key):
            inner = (base, key)
        case ListOf(items=items) | FunctionCall(args=items):
            inner = items
        case Arithmetic(left=left, right=right):
            inner = (left, right)
        case _:
            inner = ()
    for each in inner:
        yield from _parts(each)


def _limits(test: Test, *, lets_pass: bool) -> frozenset[_Limit]:
    """Return the limits that certainly hold for a call that passes by this condition."""
    match test:
        case ResourceTest(verb=verb, form=form, operand=ValueSet() as operand):
            if _is_everything(operand):
                return frozenset()
            if form == ("only" if lets_pass else "outside"):
                return frozenset({(verb, "within"), (verb, "without")})
            return frozenset({(verb, "without")} if form == "some" and not lets_pass else ())
        case AllOf(tests=parts) | AnyOf(tests=parts):
            found = [_limits(part, lets_pass=lets_pass) for part in parts]
            if isinstance(test, AllOf) is lets_pass:
                return frozenset[_Limit]().union(*found)
            return found[0].intersection(*found) if found else frozenset()
        case NotOf(test=part):
            return _limits(part, lets_pass=not lets_pass)
        case _:
            return frozenset()


def _is_everything(values: ValueSet) -> bool:
    return not values.excluded and any(
        _is_everything(part) if isinstance(part, ValueSet) else part in _EVERYTHING
        for part in values.included
    )


def _tested_fields(test: _Leaf, sources: _Sources) -> tuple[Steps, ...]:
    """Return the fields whose text is compared with texts that the policy names."""
    if isinstance(test, LikeTest | RegexTest):
        return _fields(test.left, sources)
    if isinstance(test, TextRelation):
        return _fields(test.left, sources) or _fields(test.right, sources)
    if isinstance(test, Membership) and isinstance(test.right, ValueSet):
        # Sets of other kinds are compared by what their members mean.
        return _fields(test.left, sources) if test.right.kind == "strings" else ()
    pair = (test.left, test.right)
    for one, other in (pair, pair[::-1]):
        if isinstance(other, Constant | ListOf) and not isinstance(one, ValueSet):
            fields = _fields(one, sources)
            if fields:
                return fields
    return ()


def _sides(test: _Leaf) -> tuple[Value, ...]:
    return (test.left, test.right) if isinstance(test, Comparison) else (test.left,)


def _is_whole(value: Value) -> bool:
    """Return whether a value is all of a field, and no word or element of it."""
    while isinstance(value, FieldOf):
        value = value.base
    return isinstance(value, Fact | Variable)


def _fields(value: Value, sources: _Sources) -> tuple[Steps, ...]:
    """Return the steps from the input to the fields of a value, without those into lists."""
    match value:
        case Fact(path=("input",)):
            return ((),)
        case Variable(slot=slot):
            return sources.get(slot, ())
        case FieldOf(base=base, name=name) | ElementAt(base=base, key=Constant(value=str(name))):
            return tuple((*steps, name) for steps in _fields(base, sources))
        case ElementAt(base=base):
            return _fields(base, sources)
        case Selected(function=function, source=source) if function not in _COUNTING:
            return _fields(source, sources)
        case FunctionCall(function=function, args=items) if function in _TEXTUAL:
            return _all_fields(items, sources)
        case ListOf(items=items):
            return _all_fields(items, sources)
        case _:
            return ()


def _all_fields(values: tuple[Value, ...], sources: _Sources) -> tuple[Steps, ...]:
    return tuple(dict.fromkeys(steps for one in values for steps in _fields(one, sources)))


# ------------------------------------------------------------------ what is reported


def _report(
    found: _TextTest, verb: Verb, rule: CheckedRule, report: Report, *, is_error: bool
) -> None:
    noun, danger = _NOUNS[verb]
    report.add(
        "allowed-by-text" if is_error else "shallow-pattern",
        f"`{found.test.text}` tests the text of a {noun}, and one that passes {danger}"
        if is_error
        else f"`{found.test.text}` is about one spelling of a {noun}; others of the same {noun} "
        "pass",
        span=rule.span,
        help=_condition(found, verb, grants=rule.verdict is Verdict.ALLOW),
    )


def _condition(found: _TextTest, verb: Verb, *, grants: bool) -> str:
    """Return the help: the condition on the resource that says what the test seems to say."""
    does, meant = f"{verb}{_TO.get(verb, '')}", _pattern(found.test, verb)
    permits = f"{verb} only{_TO.get(verb, '')}"
    if found.lets_pass and grants:
        return f"write a condition on the resource: `{permits} {meant}`"
    if found.lets_pass:
        return f"write a condition that covers every spelling: `unless {permits} {meant}`"
    if grants:
        return f"write what the call may do, `{permits} …`, beside `unless {does} {meant}`"
    return f"write a condition that covers every spelling: `{does} {meant}`"


def _pattern(test: _Leaf, verb: Verb) -> str:
    """Return the item of a set that matches what a test looks for, `…` where that is not clear."""
    glob = _glob(test) if not isinstance(test, Comparison) or test.op == "==" else ""
    if not _NAME.search(glob) or re.search(r'["\\$\[\]{}?\s](?<! )', glob):
        return "…"
    if verb == "runs":
        glob = f"{glob.strip('* ')} *"
    elif verb != "sends" and "://" not in glob and verb == "connects":
        glob = glob.strip("*/")
    elif verb != "sends":
        glob = _below(glob)
    return "…" if verb != "runs" and " " in glob else f'"{glob}"'


def _below(glob: str) -> str:
    """Return a glob of paths or URLs whose `*` at an end crosses folders."""
    if glob.startswith("*"):
        glob = f"**/{glob.removeprefix('*/')}"
    if glob.endswith("/*"):
        return f"{glob}*"
    name = glob.rpartition("/")[2]
    return f"{glob[:-1]}/**" if name.count("*") == 1 and name.endswith("*") else glob


def _glob(test: _Leaf) -> str:
    looked_for = _looked_for(test)
    match test:
        case TextRelation(op="starts with"):
            return f"{looked_for}*"
        case TextRelation(op="ends with"):
            return f"*{looked_for}"
        case TextRelation():
            return f"*{looked_for}*"
        case RegexTest(whole=whole):
            plain = looked_for.removeprefix("^").removesuffix("$").replace(".*", "*")
            plain = re.sub(r"\\([./-])", r"\1", plain)
            literal = re.fullmatch(r"[\w /:@=,.~*-]*", plain) and "." not in looked_for.replace(
                r"\.", ""
            ).replace(".*", "")
            start = "" if looked_for.startswith("^") or whole else "*"
            end = "" if looked_for.endswith("$") or whole else "*"
            return f"{start}{plain}{end}" if literal else ""
        case _:
            return looked_for


def _looked_for(test: _Leaf) -> str:
    """Return the text that a test compares with: the first one of several."""
    if isinstance(test, LikeTest | RegexTest):
        return test.pattern
    for side in (test.right, test.left):
        given = side.value if isinstance(side, Constant) else None
        if isinstance(side, ListOf) and side.items and isinstance(side.items[0], Constant):
            given = side.items[0].value
        if isinstance(side, ValueSet):
            given = side.included
        if isinstance(given, tuple):
            given = next((item for item in given if isinstance(item, str)), None)
        if isinstance(given, str):
            return given
    return ""
