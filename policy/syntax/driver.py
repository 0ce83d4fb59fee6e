"""The text of one statement -> its node, along the prebuilt tables; None for what does not parse.

This is Lark's LALR(1) parser with its contextual lexer, in one loop and with nothing that only
errors need: which statement is right, and to what it is read, is decided by Lark's own tables. It
never tells what is wrong; whoever gets None asks Lark. Nothing recurses, and no step looks back.
"""

from __future__ import annotations

from typing import Any

from policy.syntax.automaton import END
from policy.syntax.builder import Builder
from policy.syntax.phrases import BEGINS, Phrases, Place
from policy.syntax.stacks import Building, Stacks
from policy.syntax.tokens import Token

# A named tuple made of a tuple, without the function that takes its fields one by one.
_made = tuple.__new__


def run(
    stacks: Stacks,
    builder: Builder,
    text: str,
    *,
    start_rule: str,
    phrases: Phrases | None = None,
) -> Any:
    """Return the node that the builder makes of a statement, or None where it does not parse.

    With `phrases`, a condition that is among them is not read again: a `Phrase` stands for it. A
    few statements do not parse so that parse without them.
    """
    stack, last = stacks.start(start_rule)
    automaton = stacks.automaton
    kept, names = automaton.kept, automaton.names
    offset = builder.start
    values: list[Any] = []
    position, end, length = 0, 0, len(text)
    # A condition that is not known yet, until it was built.
    begun: Place | None = None
    while True:
        # The next token: which there may be depends on the stack before anything is built.
        value, ended = None, end
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
        built = move.built
        if begun is not None and ended >= begun.stop:
            if phrases is not None and ended == begun.stop:
                number = phrases.learn(begun, move, last=stack, terminal=terminal)
                _build_test(phrases, begun, builder, built=built[:number], values=values)
                built = built[number:]
            begun = None
        if built:
            _build(built, builder, values)
        if move.after is None:
            return values[-1]
        stack = move.after
        values.append(value)
        if phrases is not None and terminal in BEGINS:
            begun = phrases.find(stack, text, position)
            if begun is not None and begun.behind is not None:
                values.append(phrases.phrase(begun, builder))
                stack, position, end, begun = begun.behind, begun.next, begun.stop, None


def _build_test(
    phrases: Phrases,
    place: Place,
    builder: Builder,
    *,
    built: tuple[Building, ...],
    values: list[Any],
) -> None:
    """Build a condition that is known from now on, unless something is to be said about it."""
    if not built:
        return
    _build(built, builder, values)
    if builder.problems:
        phrases.forget(place)
    else:
        values[-1] = phrases.phrase(place, builder, whole=values[-1])


def _build(built: tuple[Building, ...], builder: Builder, values: list[Any]) -> None:
    """Put what is built of the last values in their place."""
    for size, edits, grows, call, _, _ in built:
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
