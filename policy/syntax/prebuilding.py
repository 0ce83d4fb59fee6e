"""Lark's parser of the grammar -> the text of `prebuilt.py`: its tables as plain literals.

Nothing here decides anything: states, actions, what a rule keeps of its children and the order in
which terminals are tried are taken from Lark as it stands, and numbered so that the same grammar
gives the same text. A test writes the file (`pytest --update-cases tests/unit/syntax`) and fails
where it is not what the grammar gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import PatternStr

from policy.syntax.by_lark import is_method
from policy.syntax.grammar import digest

_END = "$END"
_BLANKS = "_WHITE_SPACE"
_WORDS = re.compile(r"\(?([a-z| ]+)\)?\(\?!\[A-Za-z0-9_-\]\)")
_GAP = "[ \t]+"
_LINE = 92

_HEAD = '''"""The tables of the grammar, as `prebuilding` writes them: not edited by hand.

`pytest --update-cases tests/unit/syntax` writes this file anew from grammar/*.lark.
"""

from __future__ import annotations
'''


def prebuilt_text(parser: Lark, grammar: str) -> str:
    """Return the module that holds the tables of a parser of this grammar."""
    table: Any = parser.parser.parser._parse_table
    states: Mapping[int, Mapping[str, tuple[Any, Any]]] = table.states
    order = _order(states, [table.start_states[start] for start in sorted(table.start_states)])
    rules = sorted({arg for row in states.values() for _, arg in row.values() if _is_rule(arg)},
                   key=str)  # fmt: skip
    terminals = _terminals(parser)
    symbols = [_END, *terminals, *sorted({rule.origin.name for rule in rules})]
    numbers = {name: number for number, name in enumerate(symbols)}
    row_of = {old: new for new, old in enumerate(order)}
    rule_of = {rule: number for number, rule in enumerate(rules)}
    kept = {s.name for rule in rules for s in rule.expansion if s.is_term and not s.filter_out}
    return "\n".join(
        [
            _HEAD,
            f"GRAMMAR = {digest(grammar)!r}",
            f"LARK = {lark.__version__!r}",
            "",
            "# Where a start rule begins, and the state in which all of it has been read.",
            "STARTS: dict[str, tuple[int, int]] = {",
            *(
                f"    {start!r}: ({row_of[table.start_states[start]]}, "
                f"{row_of[table.end_states[start]]}),"
                for start in sorted(table.start_states)
            ),
            "}",
            f"BLANKS = {_pattern(parser, _BLANKS)!r}",
            "# Terminals in the order in which they are tried, numbered from 1: name, whether any",
            "# node is built of it, its words or mark if it is no more, or else its expression.",
            "TERMINALS: tuple[tuple[str, bool, str, str], ...] = (",
            *(
                f"    ({name!r}, {name in kept}, {words!r}, {('' if words else pattern)!r}),"
                for name, pattern in terminals.items()
                for words in [_words(parser, name, pattern)]
            ),
            ")",
            "# Rules: the symbol each makes, the method that builds it (`*` makes a list, `=` only",
            "# renames its child), and what becomes of its children: `k` kept, `d` dropped, `x` a",
            "# list put in its place, `n` None for what is absent.",
            "RULES: tuple[tuple[int, str, str], ...] = (",
            *(
                f"    ({numbers[rule.origin.name]}, {_call(rule)!r}, {_children(rule)!r}),"
                for rule in rules
            ),
            ")",
            "# States: `symbol>state` to go on, `rule<terminals` to build.",
            "ROWS: tuple[str, ...] = (",
            *(_literal(_row(states[old], numbers, rows=row_of, rules=rule_of)) for old in order),
            ")",
            "",
        ]
    )


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


def _words(parser: Lark, name: str, pattern: str) -> str:
    """Return the words or the mark of a terminal that is made of nothing else, or an empty text."""
    written = parser.get_terminal(name).pattern
    if isinstance(written, PatternStr):
        return written.value
    found = _WORDS.fullmatch(pattern.replace("(?:", "(").replace(_GAP, " "))
    return found[1] if found else ""


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
    numbers: Mapping[str, int],
    *,
    rows: Mapping[int, int],
    rules: Mapping[Rule, int],
) -> str:
    on: list[tuple[int, int]] = []
    built: dict[int, list[int]] = {}
    for name, (_, arg) in row.items():
        if _is_rule(arg):
            built.setdefault(rules[arg], []).append(numbers[name])
        else:
            on.append((numbers[name], rows[arg]))
    return " ".join(
        [
            *(f"{symbol}>{state}" for symbol, state in sorted(on)),
            *(f"{rule}<{','.join(map(str, sorted(at)))}" for rule, at in sorted(built.items())),
        ]
    )


def _literal(row: str) -> str:
    lines = list(_folded(row.split(" ")))
    if len(lines) == 1:
        return f'    "{lines[0]}",'
    return "\n".join([*(f'    "{line} "' for line in lines[:-1]), f'    "{lines[-1]}",'])


def _folded(parts: Iterable[str]) -> Iterator[str]:
    line = ""
    for part in parts:
        if line and len(line) + len(part) >= _LINE:
            yield line
            line = ""
        line = f"{line} {part}" if line else part
    yield line
