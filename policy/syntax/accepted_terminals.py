"""Which terminals the parser would have accepted where it found an error.

Lark's `expected` lists those of the parser's state, which stands for many places. Its `accepts()`
lists the right ones, but copies all that was parsed for each of them.
"""

from __future__ import annotations

from typing import Any

from lark import UnexpectedInput


def accepted_terminals(error: UnexpectedInput) -> frozenset[str]:
    """Return the terminals that may follow what was parsed before the error."""
    interactive = getattr(error, "interactive_parser", None)
    if interactive is None:
        return frozenset()
    state = interactive.parser_state
    conf, stack = state.parse_conf, state.state_stack
    possible = conf.states[stack[-1]]
    return frozenset(
        name
        for name in possible
        if name.isupper() and _is_accepted(name, conf.states, stack, end=conf.end_state)
    )


def _is_accepted(name: str, states: Any, stack: list[Any], *, end: Any) -> bool:
    """Return whether a terminal can be shifted, after the reductions that it causes."""
    kept = len(stack)  # states of the stack that no reduction has taken away
    added: list[Any] = []
    while True:
        action = states[added[-1] if added else stack[kept - 1]].get(name)
        if action is None:
            return False
        kind, target = action
        if kind.name == "Shift":
            return True
        size = len(target.expansion)
        taken = min(size, len(added))
        del added[len(added) - taken :]
        kept -= size - taken
        _, after = states[added[-1] if added else stack[kept - 1]][target.origin.name]
        if after == end:
            return True
        added.append(after)
