"""`Client`: what a running tool may tell and ask the client that its call came from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol


class ProgressReporter(Protocol):
    """Hears how far a call has come."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Note the progress, of `total` if that is known."""
        ...


class CannotBeAsked(Exception):
    """The client does not take a request, or has not answered it as the protocol wants."""


class ClientRequests(Protocol):
    """Sends requests of MCP to the client of one call."""

    async def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the client's result, as it is written in JSON; raise CannotBeAsked."""
        ...


class Watch(Protocol):
    """A client that wants to hear of the changes of one resource, also after its call."""

    def changed(self) -> None:
        """Note that the resource may have changed; this may be called at any rate."""
        ...

    def ends_with(self, end: Callable[[], None]) -> None:
        """Keep what ends the reports, for when the client does not want them any more."""
        ...


class Client(Protocol):
    """The client of one call, for as long as the call runs."""

    @property
    def progress(self) -> ProgressReporter | None:
        """Takes reports of progress; None if the client wants none."""
        ...

    @property
    def requests(self) -> ClientRequests | None:
        """Takes requests; None if nothing can be asked."""
        ...

    @property
    def watch(self) -> Watch | None:
        """Hears of changes of the resource that is asked for; None if nothing does."""
        ...

    @property
    def origin(self) -> Hashable:
        """Where its user is asked: equal for calls that show their questions at one place."""
        ...
