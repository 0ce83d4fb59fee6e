"""Lets whoever made a call look at it again when its turn comes, if it had to wait for one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Look: TypeAlias = Callable[[], Awaitable[None]]

_LOOK: ContextVar[Look | None] = ContextVar("placet_look", default=None)


class TurnRefused(Exception):
    """A call that waited for its turn and must not begin any more; `error` says why."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def looked_at_again(look: Look | None) -> Iterator[None]:
    """Have `look` awaited where a call within the block has waited; it raises TurnRefused.

    None: nothing is awaited, as for work that is not that of one call.
    """
    token = _LOOK.set(look)
    try:
        yield
    finally:
        _LOOK.reset(token)


async def after_waiting() -> None:
    """Look again at the call that has waited here; raise TurnRefused if it must not begin."""
    look = _LOOK.get()
    if look is not None:
        # What it waits for itself is not looked at.
        with looked_at_again(None):
            await look()
