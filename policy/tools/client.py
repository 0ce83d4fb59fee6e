"""`Client`: what a running tool may tell the client that its call came from."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears how far a call has come."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Note the progress, of `total` if that is known."""
        ...


class Client(Protocol):
    """The client of one call, for as long as the call runs."""

    @property
    def progress(self) -> Progress | None:
        """Takes reports of progress; None if the client wants none."""
        ...
