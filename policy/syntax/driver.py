"""The text of one statement -> its node, along the prebuilt tables; None for what does not parse.

This is Lark's LALR(1) parser with its contextual lexer, in one loop and with nothing that only
errors need: which statement is right, and to what it is read, is decided by Lark's own tables. It
never tells what is wrong; whoever gets None asks Lark. Nothing recurses, and no step looks back.
"""

from __future__ import annotations

from typing import Any

from policy.syntax.automaton import END, Automaton, State
from policy.syntax.builder import Builder
from policy.syntax.tokens import Token

# A named tuple made of a tuple, without the function that takes its fields one by one.
_made = tuple.__new__


def run(automaton: Automaton, builder: Builder, text: str, *, start_rule: str) -> Any:
    """Return the node that the builder makes of a statement, or None where it does not parse."""
    state, last = automaton.starts[start_rule]
    offset = builder.start
    kept, names = automaton.kept, automaton.names
    states: list[State] = [state]
    values: list[Any] = []
    position, length = 0, len(text)
    while True:
        # The next token: which there may be depends on the state before anything is built.
        value = None
        if position < length:
            match, terminals, words = state.scanner or automaton.scanner(state)
            found = match(text, position)
            group = found and found.lastindex
            if not found or not group:
                return None
            end = found.end(group)
            terminal = terminals[group] or words[text[position:end]]
            if kept[terminal]:
                value = _made(
                    Token, (names[terminal], text[position:end], offset + position, offset + end)
                )
            position = found.end()
        else:
            automaton.opened(state)
            terminal = END
        # All that ends before this token is built.
        step = state.steps.get(terminal)
        while step is not None:
            size = step.size
            if size == 1:
                children = [values.pop()]
                states.pop()
            elif size:
                children = values[-size:]
                del values[-size:], states[-size:]
            else:
                children = []
            for begin, stop, put in step.edits:
                children[begin:stop] = children[begin] if put is None else put
            if step.grows:
                more = children
                children = more.pop(0)
                children += more
            values.append(step.call(builder, children))
            below = states[-1]
            leap = below.leaps.get(step.symbol | terminal)
            state, step = leap or automaton.leap(below, step.symbol, terminal)
            states.append(state)
        if terminal == END:
            return values[-1] if state is last else None
        after = state.shifts.get(terminal)
        if after is None:
            return None
        state = after
        states.append(state)
        values.append(value)
