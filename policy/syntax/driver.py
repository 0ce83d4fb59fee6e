"""The text of one statement -> its node, along the prebuilt tables; None for what does not parse.

This is Lark's LALR(1) parser with its contextual lexer, in one loop and with nothing that only
errors need: which statement is right, and to what it is read, is decided by Lark's own tables. It
never tells what is wrong; whoever gets None asks Lark. Nothing recurses, and no step looks back.
"""

from __future__ import annotations

from typing import Any

from policy.syntax.automaton import END
from policy.syntax.builder import Builder
from policy.syntax.stacks import Building, Stacks
from policy.syntax.tokens import Token

# A named tuple made of a tuple, without the function that takes its fields one by one.
_made = tuple.__new__


def run(stacks: Stacks, builder: Builder, text: str, *, start_rule: str) -> Any:
    """Return the node that the builder makes of a statement, or None where it does not parse."""
    stack, last = stacks.start(start_rule)
    automaton = stacks.automaton
    kept, names = automaton.kept, automaton.names
    offset = builder.start
    values: list[Any] = []
    position, length = 0, len(text)
    while True:
        # The next token: which there may be depends on the stack before anything is built.
        value = None
        if position < length:
            match, terminals, words = stack.state.scanner or automaton.scanner(stack.state)
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
            terminal = END
        move = stack.moves.get(terminal) or stacks.move(stack, terminal, last)
        if move is None:
            return None
        # All that ends before this token is built.
        _build(move.built, builder, values)
        if move.after is None:
            return values[-1]
        stack = move.after
        values.append(value)


def _build(built: tuple[Building, ...], builder: Builder, values: list[Any]) -> None:
    """Put what is built of the last values in their place."""
    for size, edits, grows, call in built:
        if size == 1:
            children = [values.pop()]
        elif size:
            children = values[-size:]
            del values[-size:]
        else:
            children = []
        for begin, stop, put in edits:
            children[begin:stop] = children[begin] if put is None else put
        if grows:
            more = children
            children = more.pop(0)
            children += more
        values.append(call(builder, children))
