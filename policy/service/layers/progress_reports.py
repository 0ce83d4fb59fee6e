"""What a running tool tells its client of its progress, on the way there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from policy.service.in_flight import InFlight
from policy.tools import Client, ClientRequests, ProgressReporter, Watch

# Characters of the messages that one call may tell.
_MOST = 100_000


@contextmanager
def reporting(call: InFlight, to: Callable[[ProgressReporter], ProgressReporter]) -> Iterator[None]:
    """Put a reporter between the tool of a call and the client, if the client wants reports."""
    context = call.context
    client = None if context is None else context.client
    if context is None or client is None or client.progress is None:
        yield
        return
    call.context = replace(context, client=_Reported(client, to(client.progress)))
    try:
        yield
    finally:
        call.context = context


class ToldMessages:
    """The messages that a client was told during a call, which labels mark as they do its result.

    What would be too much to keep is not told: the report has no message then.
    """

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}
        self._size = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """Every message, once."""
        return tuple(self._texts)

    def noting(self, report: ProgressReporter) -> ProgressReporter:
        """Return a reporter that notes messages before it passes them on."""

        async def noted(progress: float, total: float | None, message: str | None) -> None:
            if message is not None and message not in self._texts:
                if self._size + len(message) > _MOST:
                    message = None
                else:
                    self._size += len(message)
                    self._texts[message] = None
            await report(progress, total, message)

        return noted


@dataclass(frozen=True, slots=True)
class _Reported:
    """The client of a call, with reports of progress that go another way."""

    client: Client
    progress: ProgressReporter | None

    @property
    def requests(self) -> ClientRequests | None:
        """Takes requests as the client does: they are calls of their own, and no result."""
        return self.client.requests

    @property
    def watch(self) -> Watch | None:
        """Hears that a resource has changed, and nothing of its contents."""
        return self.client.watch

    @property
    def origin(self) -> Hashable:
        """Where the call came from."""
        return self.client.origin
