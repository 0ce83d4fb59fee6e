"""Bodies of HTTP requests that are read here, and then again by the application."""

from __future__ import annotations

from starlette.types import Message, Receive


async def read_body(receive: Receive, *, most: int) -> list[Message]:
    """Return the parts of a body, until it ends or is too long."""
    messages, size = [await receive()], 0
    while messages[-1]["type"] == "http.request" and messages[-1].get("more_body", False):
        size += len(messages[-1].get("body", b""))
        if size > most:
            break
        messages.append(await receive())
    return messages


def read_again(messages: list[Message], receive: Receive) -> Receive:
    """Return a `receive` that returns the parts already read again, and then those that follow."""
    parts = iter(messages)

    async def receive_again() -> Message:
        part = next(parts, None)
        return await receive() if part is None else part

    return receive_again
