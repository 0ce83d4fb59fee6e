"""Writes `tables.json`: the LALR(1) tables of Lark's parser of the grammar.

Nothing is decided here: states, actions, what a rule keeps of its children and the order in which
terminals are tried are taken from Lark as they are, and numbered so that the same grammar gives
the same text. A test writes the file (`pytest --update-cases tests/unit/syntax`) and fails where
it is not what the grammar gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import interegular
import lark
from lark import Lark
from lark.grammar import Rule

from policy.syntax.lark_engine import is_method

_BLANKS = "_WHITE_SPACE"
_ASCII = [chr(code) for code in range(128)]


def tables_text(parser: Lark) -> str:
    """Return the file that holds the tables of a parser, a line for each terminal, rule, state."""
    table: Any = parser.parser.parser._parse_table
    states: Mapping[int, Mapping[str, tuple[Any, Any]]] = table.states
    order = _order(states, [table.start_states[start] for start in sorted(table.start_states)])
    number_of = {state: number for number, state in enumerate(order)}
    rules = sorted({arg for row in states.values() for _, arg in row.values() if _is_rule(arg)},
                   key=str)  # fmt: skip
    rule_of = {rule: number for number, rule in enumerate(rules)}
    kept = {s.name for rule in rules for s in rule.expansion if s.is_term and not s.filter_out}
    starts = {
        start: (number_of[table.start_states[start]], number_of[table.end_states[start]])
        for start in sorted(table.start_states)
    }
    parts = {
        "lark": json.dumps(lark.__version__),
        "starts": json.dumps(starts),
        "blanks": json.dumps(_pattern(parser, _BLANKS)),
        "terminals": _lines(
            {"name": name, "kept": name in kept, "first": _first(pattern), "pattern": pattern}
            for name, pattern in _terminals(parser).items()
        ),
        "rules": _lines(
            {"symbol": rule.origin.name, "call": _call(rule), "children": _children(rule)}
            for rule in rules
        ),
        "states": _lines(_row(states[state], number_of, rules=rule_of) for state in order),
    }
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]"


def _is_rule(arg: object) -> bool:
    return isinstance(arg, Rule)


def _order(states: Mapping[int, Mapping[str, Any]], starts: list[int]) -> list[int]:
    """Return the states in an order that depends on the grammar alone."""
    found = list(starts)
    seen = set(starts)
    for state in found:
        for _, (_, arg) in sorted(states[state].items()):
            if not _is_rule(arg) and arg not in seen:
                seen.add(arg)
                found.append(arg)
    return found


def _terminals(parser: Lark) -> dict[str, str]:
    """Return the terminals in Lark's order, with expressions that capture nothing."""
    lexer: Any = parser.parser.lexer
    assert set(parser.ignore_tokens) == {_BLANKS, "COMMENT"}, parser.ignore_tokens
    for one in lexer.lexers.values():
        _ = one.scanner
        assert not one.callback, f"a terminal of {one.callback} depends on another"
    ordered = [terminal.name for terminal in lexer.root_lexer.terminals]
    return {name: _pattern(parser, name) for name in ordered if name not in parser.ignore_tokens}


def _pattern(parser: Lark, name: str) -> str:
    pattern = re.sub(
        r"\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)",
        lambda found: "(?:" if found.group() == "(" else found.group(),
        parser.get_terminal(name).pattern.to_regexp(),
        flags=re.DOTALL,
    )
    assert re.compile(pattern).groups == 0, pattern
    return pattern


def _call(rule: Rule) -> str:
    """Return the builder's method, `*` for a list that another rule takes in, `=` for the child."""
    children = _children(rule)
    if rule.options.expand1 and not rule.alias:
        assert "x" not in children, f"what comes of {rule} is not known beforehand"
        if sum(children.count(mark) for mark in "kn") == 1:
            return "="
    name = str(rule.alias or rule.origin.name)
    if rule.origin.name.startswith("_"):
        assert not is_method(name), name
        return "*"
    assert is_method(name), f"the builder has no method `{name}`"
    return name


def _children(rule: Rule) -> str:
    """Return what becomes of each child, as Lark's own filter of children would have it."""
    absent = rule.options.empty_indices or (False,) * len(rule.expansion)
    symbols = iter(rule.expansion)
    return "".join("n" if none else _fate(next(symbols)) for none in absent)


def _fate(symbol: Any) -> str:
    if symbol.is_term:
        return "d" if symbol.filter_out else "k"
    return "x" if symbol.name.startswith("_") else "k"


def _row(
    row: Mapping[str, tuple[Any, Any]],
    number_of: Mapping[int, int],
    *,
    rules: Mapping[Rule, int],
) -> dict[str, dict[str, int]]:
    """Return a state: the state after each symbol, the rule that ends before each terminal."""
    actions = sorted(row.items())
    return {
        "next": {name: number_of[arg] for name, (_, arg) in actions if not _is_rule(arg)},
        "reduce": {name: rules[arg] for name, (_, arg) in actions if _is_rule(arg)},
    }


def _first(pattern: str) -> str:
    """Return the ASCII characters that a match of a pattern may begin with."""
    machine: Any = interegular.parse_pattern(pattern).to_fsm()
    after = machine.map[machine.initial]
    return "".join(c for c in _ASCII if machine.islive(after.get(machine.alphabet[c])))
