"""Parse one statement with the packaged tables: the fast engine, which reports no errors.

This is Lark's LALR(1) parser with its contextual lexer, in one loop. The result depends on the
tables alone. A statement that does not parse gives None; the caller asks Lark for the error.
Nothing recurses, and nothing backtracks.
"""

from __future__ import annotations

from typing import Any

from policy.syntax.builder import NodeBuilder
from policy.syntax.tables import END, Tables
from policy.syntax.tokens import Token


def run(tables: Tables, builder: NodeBuilder, text: str, *, start_rule: str) -> Any:
    """Return the node that the builder makes of a statement, or None where it does not parse."""
    first, last = tables.starts[start_rule]
    state = tables.states[first]
    states = [state]
    values: list[Any] = []
    offset, length = builder.start, len(text)
    position = 0
    while True:
        # Which terminals may come next depends on the state before anything is reduced.
        if position < length:
            for terminal in state.candidates(text[position]):
                found = terminal.match(text, position)
                if found is not None:
                    break
            else:
                return None
            name, value = terminal.name, None
            if terminal.kept:
                end = found.end(1)
                value = Token(name, text[position:end], offset + position, offset + end)
            position = found.end()
        else:
            name = END
        rule = state.reductions.get(name)
        while rule is not None:
            if rule.renames:
                states.pop()
            else:
                taken = len(values) - rule.size
                children = values[taken:]
                del values[taken:], states[taken + 1 :]
                values.append(rule.build(builder, children))
            state = states[-1].after(rule.symbol, name)
            states.append(state)
            rule = state.reductions.get(name)
        if name == END:
            return values[-1] if state is tables.states[last] else None
        after = state.next.get(name)
        if after is None:
            return None
        state = tables.states[after]
        states.append(state)
        values.append(value)
