"""Nothing that an author of rules writes becomes anything but data in generated code."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.call import Caller, freeze
from policy.catalog import Origin, ToolSpec
from policy.checks import checked
from policy.facts import Facts
from policy.program.evaluation import DeclaredResources
from policy.program.generated import Item, Tool
from policy.program.generated.index import write_layer
from policy.program.generated.layer import Writer
from policy.program.generated.quoting import literal
from policy.program.truth import Undecided

SPEC = ToolSpec(name="pay", origin=Origin(kind="host", tool="pay"))
TOOL = Tool(spec=SPEC, declared=DeclaredResources((), complete=True, unseen=False), slots=0)
ROLE = checked.Fact(path=("session", "role"))
OWN = re.compile(
    r"ask|input|caller|facts|role|agent|[emutgbfx]|[aK][0-9]+|str|int|float|bool|tuple"
)
ATTRIBUTES = {
    *("get", "isascii", "startswith", "endswith", "__class__", "role", "agent"),
    *("met", "undecided", "ask", "asks_whole"),
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
    def met(call: object) -> bool:
        raise AssertionError("the code should have decided")


def _field(name: str) -> checked.Value:
    return checked.Step(base=checked.Fact(path=("input",)), name=name)


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
        checked.Member(left=left, right=listed, text=text),
        checked.LikeTest(left=left, pattern=text + "*", text=text),
        checked.Presence(left=left, present=True, text=text),
        checked.Comparison(op="<", left=_field(name + "n"), right=_constant(5), text=text),
        checked.Comparison(
            op="==", left=checked.Fact(path=("session", "role")), right=right, text=text
        ),
    ]


def _items(name: str, text: str) -> list[Item]:
    tests = _tests(name, text)
    whole = checked.AllOf(tests=(checked.NotOf(test=tests[0], text=""), *tests[1:]), text="")
    made = [*tests, whole, checked.AnyOf(tests=tuple(tests), text="")]
    return [
        Item(
            number=number,
            when=test,
            unless=made[number - 1] if number % 2 else None,
            gives=gives,
            more=False,
            whole=Never(),
        )
        for number, (test, gives) in enumerate((t, g) for t in made for g in (True, False))
        if number < len(made) or gives
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
        Item(
            number=number,
            when=wanted,
            unless=None,
            gives=True,
            more=False,
            whole=Never(),
        )
        for number in range(40)
    ]
    ask = write_layer(items, TOOL, indexed=indexed)
    assert ask is not None
    found = ask(freeze({text: text + "!"}), Caller(), Facts())  # type: ignore[arg-type]
    if text == "\ud800":
        assert found is None, "text that is no text is left to the reference"
    else:
        assert found == tuple(range(40))
    assert ask(freeze({text: "another"}), Caller(), Facts()) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, True, b"x", ("a",), Undecided("why"), 1j, object()])
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
    item = Item(
        number=0,
        when=test,
        unless=None,
        gives=True,
        more=False,
        whole=Never(),
    )
    assert write_layer([item], TOOL, indexed=True) is None


def _presence(name: str) -> checked.Test:
    return checked.Presence(left=_field(name), present=True, text="")
