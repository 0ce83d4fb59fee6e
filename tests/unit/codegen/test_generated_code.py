"""Text from a policy's author is only ever data in generated code."""

from __future__ import annotations

import ast
import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import Origin, ToolSpec
from policy.checks import checked
from policy.codegen import RuleItem, ToolContext, write_layer
from policy.codegen.layer import Writer
from policy.codegen.quoting import literal
from policy.evaluation import DeclaredResources, Indeterminate
from policy.model import Caller, Facts, ToolCall

SPEC = ToolSpec(name="pay", origin=Origin(kind="host", tool="pay"))
TOOL = ToolContext(spec=SPEC, declared=DeclaredResources((), complete=True, unseen=False), slots=0)
ROLE = checked.Fact(path=("session", "role"))
OWN = re.compile(
    r"ask|call|caller|facts|role|agent|[emutdbfx]|[aK][0-9]+|str|int|float|bool|tuple|plain|IndeterminateRules|Evaluation"
)
ATTRIBUTES = {
    *("isascii", "startswith", "endswith", "__class__", "role", "agent"),
    *("matches", "matching", "indeterminate", "ask", "asks_whole", "input", "_fields"),
}
HOSTILE = (
    "'; import os; os.system('id') #",
    '"""',
    "a\\",
    "\n return (0,)\n#",
    "{0}.__class__",
    "{K0}",
    "%s",
    "K0",
    "__import__('os')",
    "\u2028return\u2029",
    "\ud800",
    "\x00",
    "ＫＯ",
)


class Never:
    """A rule that must not be asked for whole."""

    @staticmethod
    def matches(call: object) -> bool:
        raise AssertionError("the code should have decided")


def _field(name: str) -> checked.Value:
    return checked.FieldOf(base=checked.Fact(path=("input",)), name=name)


def _constant(value: object) -> checked.Constant:
    return checked.Constant(value=value)


def _tests(name: str, text: str) -> list[checked.Test]:
    left, right = _field(name), _constant(text)
    listed = checked.ListOf(items=(right, _constant(text + "x")))
    return [
        checked.Comparison(op="==", left=left, right=right, text=text),
        checked.TextRelation(op="starts with", left=left, right=right, text=text),
        checked.TextRelation(op="ends with", left=left, right=right, text=text),
        checked.TextRelation(op="contains", left=left, right=right, text=text),
        checked.Membership(left=left, right=listed, text=text),
        checked.LikeTest(left=left, pattern=text + "*", text=text),
        checked.Presence(left=left, present=True, text=text),
        checked.Comparison(op="<", left=_field(name + "n"), right=_constant(5), text=text),
        checked.Comparison(
            op="==", left=checked.Fact(path=("session", "role")), right=right, text=text
        ),
    ]


def _items(name: str, text: str) -> list[RuleItem]:
    tests = _tests(name, text)
    whole = checked.AllOf(tests=(checked.NotOf(test=tests[0], text=""), *tests[1:]), text="")
    made = [*tests, whole, checked.AnyOf(tests=tuple(tests), text="")]
    return [
        RuleItem(
            number=number,
            when=test,
            unless=made[number - 1] if number % 2 else None,
            grants=grants,
            more=False,
            covering=False,
            whole=Never(),
        )
        for number, (test, grants) in enumerate((t, g) for t in made for g in (True, False))
        if number < len(made) or grants
    ]


def _check_source(source: str, texts: set[str]) -> None:
    tree = ast.parse(source)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            assert OWN.fullmatch(node.id), node.id
        elif isinstance(node, ast.Attribute):
            assert node.attr in ATTRIBUTES, node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert node.value in texts
        else:
            assert not isinstance(node, ast.Import | ast.ImportFrom | ast.Lambda | ast.ClassDef)


def _check(name: str, text: str) -> None:
    source = Writer(TOOL).text(_items(name, text))
    assert source.isascii()
    _check_source(source, {text, text + "x", text + "*", name, name + "n", like(text)})


def like(text: str) -> str:
    """Return what a pattern of this text and a star wants at the beginning, if it is one text."""
    return re.sub(r"\\([\\*?])", r"\1", text)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_hostile_text_is_data(text: str) -> None:
    _check("field", text)
    _check(text, "text")


@given(st.text(min_size=1), st.text())
def test_any_text_is_data(name: str, text: str) -> None:
    _check(name, text)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("indexed", [True, False])
def test_a_hostile_text_is_still_compared(text: str, indexed: bool) -> None:
    wanted = checked.TextRelation(
        op="starts with", left=_field(text), right=_constant(text), text=text
    )
    items = [
        RuleItem(
            number=number,
            when=wanted,
            unless=None,
            grants=True,
            more=False,
            covering=False,
            whole=Never(),
        )
        for number in range(40)
    ]
    ask = write_layer(items, TOOL, indexed=indexed)
    assert ask is not None
    found = ask(ToolCall(tool="pay", input={text: text + "!"}), Caller(), Facts())
    if text == "\ud800":
        assert found is None, "text that is no text is left to the reference"
    else:
        assert found == tuple(range(40))
    assert ask(ToolCall(tool="pay", input={text: "another"}), Caller(), Facts()) == ()


@pytest.mark.parametrize("value", [None, True, b"x", ("a",), Indeterminate("why"), 1j, object()])
def test_only_texts_and_numbers_are_written_as_literals(value: object) -> None:
    with pytest.raises(TypeError):
        literal(value)


def test_a_text_of_another_class_is_not_written_either() -> None:
    class Sly(str):
        def __repr__(self) -> str:
            return "exit()"

    with pytest.raises(TypeError):
        literal(Sly("x"))


def test_what_the_compiler_cannot_take_is_left_to_the_closures() -> None:
    test = _presence("x")
    for _ in range(150):
        test = checked.NotOf(test=checked.AllOf(tests=(test, _presence("y")), text=""), text="")
    item = RuleItem(
        number=0,
        when=test,
        unless=None,
        grants=True,
        more=False,
        covering=False,
        whole=Never(),
    )
    assert write_layer([item], TOOL, indexed=True) is None


def _found(item: RuleItem, **given: object) -> object:
    ask = write_layer([item], TOOL, indexed=True)
    assert ask is not None
    return ask(ToolCall(tool="pay", input=given), Caller(role="dev"), Facts())


def _demanding(*tests: checked.Test) -> RuleItem:
    when = checked.AllOf(tests=tests, text="")
    return RuleItem(
        number=0, when=when, unless=None, grants=True, more=False, covering=False, whole=Never()
    )


def test_a_field_is_looked_at_only_where_what_was_demanded_before_held() -> None:
    """A value that the code does not expect leaves it to the reference, if it matters."""
    path, size = (
        checked.TextRelation(
            op="starts with", left=_field("path"), right=_constant("/a/"), text=""
        ),
        checked.Comparison(op="<", left=_field("size"), right=_constant(5), text=""),
    )
    item = _demanding(path, size)
    assert _found(item, path="/a/b", size=1) == (0,)
    assert _found(item, path="/a/b", size=9) == ()
    assert _found(item, path="/a/b", size=float("nan")) is None
    assert _found(item, path="/b/b", size=float("nan")) == ()
    assert _found(item, size=float("nan")) == ()
    assert _found(item, path=["/b"], size=1) is None


def test_a_rule_may_demand_more_fields_than_code_nests() -> None:
    names = [f"f{number}" for number in range(150)]
    tests = [
        checked.Comparison(op="==", left=_field(name), right=_constant(name), text="")
        for name in names
    ]
    item, given = _demanding(*tests), {name: name for name in names}
    assert _found(item, **given) == (0,)
    for name in (names[0], names[39], names[40], names[-1]):
        assert _found(item, **(given | {name: "x"})) == ()
        assert _found(item, **{other: other for other in names if other != name}) == ()


def test_rules_share_more_tests_than_code_nests() -> None:
    tests = [
        checked.TextRelation(op="contains", left=_field("path"), right=_constant(word), text="")
        for word in (f"<{number}>" for number in range(120))
    ]
    items = [
        dataclasses.replace(_demanding(*tests[: 60 + number]), number=number)
        for number in range(0, 60, 7)
    ]
    ask = write_layer(items, TOOL, indexed=True)
    assert ask is not None
    path = "".join(f"<{number}>" for number in range(75))
    found = ask(ToolCall(tool="pay", input={"path": path}), Caller(), Facts())
    assert isinstance(found, tuple)
    assert sorted(found) == [0, 7, 14]


def _presence(name: str) -> checked.Test:
    return checked.Presence(left=_field(name), present=True, text="")
