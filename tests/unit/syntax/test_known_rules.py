"""Rules whose text was parsed before equal the result of parsing them again."""

from __future__ import annotations

import pytest
from hypothesis import event, given

from policy.model import Source
from policy.syntax import Engine, parse, parse_known, print_tree, tree, without_parts
from tests import strategies
from tests.laws.test_parser_engines_agree import places
from tests.laws.test_syntax import commented, spoiled


def _rules(file: tree.PolicyFile) -> list[tree.Rule]:
    return [one for one in file.statements if isinstance(one, tree.Rule)]


def _assert_known_as_parsed(text: str) -> None:
    parsed = parse(Source(name="a.policy", text=text))
    known = {rule.text: rule for rule in without_parts(parsed).tree.known}
    moved = Source(name="b.policy", text="# a line more\n" + text)
    again, whole = parse(moved, known=known), parse(moved)
    event(f"known: {bool(again.tree.known)}")
    assert again.diagnostics == whole.diagnostics
    found = sorted(
        [*_rules(again.tree), *map(parse_known, again.tree.known)], key=lambda one: one.span.start
    )
    assert found == _rules(whole.tree)
    assert [list(places(one)) for one in found] == [list(places(one)) for one in _rules(whole.tree)]
    others = [one for one in again.tree.statements if not isinstance(one, tree.Rule)]
    assert others == [one for one in whole.tree.statements if not isinstance(one, tree.Rule)]


@given(commented())
def test_a_known_rule_is_parsed_again_as_it_stands(text: str) -> None:
    _assert_known_as_parsed(text)


@given(spoiled())
def test_and_beside_what_does_not_parse(text: str) -> None:
    _assert_known_as_parsed(text)


@given(strategies.policy_files())
def test_a_file_without_parts_holds_every_rule_once(file: tree.PolicyFile) -> None:
    parsed = parse(Source(name="a.policy", text=print_tree(file)))
    short = without_parts(parsed)
    assert short.diagnostics == parsed.diagnostics
    assert len(short.tree.known) + len(short.tree.statements) == len(parsed.tree.statements)
    assert [(one.name, one.verdict, one.shadow) for one in short.tree.known] == [
        (one.name, one.verdict, one.shadow)
        for one in _rules(parsed.tree)
        if one not in _rules(short.tree)
    ]


@pytest.mark.parametrize("engine", ["tables", "lark"])
def test_a_rule_with_a_comment_inside_is_known_by_all_of_its_text(engine: Engine) -> None:
    text = 'policy for every agent\na: deny x  # why\n  when input.b == "#"  # so\n'
    parsed = parse(Source(name="a.policy", text=text))
    (known,) = without_parts(parsed, engine=engine).tree.known
    assert known.text == 'a: deny x  # why\n  when input.b == "#"'
    assert parse_known(known) == parsed.tree.statements[0]


def test_a_rule_that_something_was_said_of_is_parsed_each_time() -> None:
    text = 'policy for every agent\na: deny x because "\\q"\nb: deny y\n'
    short = without_parts(parse(Source(name="a.policy", text=text)))
    assert [one.name for one in short.tree.known] == ["b"]
    assert [one.name for one in _rules(short.tree)] == ["a"]
