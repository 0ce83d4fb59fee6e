"""`InsideListener`: a listener in the network of a program that is about to start confined."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import ExitStack
from dataclasses import replace
from typing import Self

from policy.processes import Beside
from policy.sandbox.driver import ConfinedStart
from policy.sandbox.network import listen_inside

# Nothing else listens in a network that is new.
PORT = 3128
_SECONDS = 10.0
_LONGEST = 4_096


class NoListener(Exception):
    """No listener could be opened in the network of a program; the text says why."""


class InsideListener:
    """Waits for bubblewrap to set up a network, and gets a listener in it.

    Within the block, bubblewrap has to be started as `waited_for_by` says, with what `beside` says,
    which opens the listener. It starts the program only once the block has been left, so that the
    program finds the listener there.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        # What bubblewrap and what is beside it get, until they have been started.
        self._given = self._open.enter_context(ExitStack())
        report, reported = os.pipe()
        self._report = self._given.enter_context(_Descriptor(report))
        self._reported = self._given.enter_context(_Descriptor(reported))
        wait, go = os.pipe()
        self._wait = self._given.enter_context(_Descriptor(wait))
        self._open.enter_context(_Descriptor(go))
        self._ours, theirs = socket.socketpair()
        self._open.enter_context(self._ours)
        self._theirs = self._given.enter_context(theirs)

    @property
    def beside(self) -> Beside:
        """What has to run beside bubblewrap."""
        given = (self._report.number, self._theirs.fileno())
        return Beside(file=listen_inside.__file__, numbers=(*given, PORT), descriptors=given)

    def waited_for_by(self, start: ConfinedStart) -> ConfinedStart:
        """Return a start of bubblewrap that reports its process, and waits for the listener."""
        reported, wait = self._reported.number, self._wait.number
        bubblewrap, *rest = start.arguments
        options = ("--info-fd", str(reported), "--block-fd", str(wait))
        return replace(
            start,
            arguments=(bubblewrap, *options, *rest),
            descriptors=(*start.descriptors, reported, wait),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        # Bubblewrap goes on when the pipe closes that it waits for.
        self._open.close()

    async def listener(self) -> socket.socket:
        """Return the listener, once bubblewrap has been started; raise NoListener."""
        self._given.close()
        try:
            async with asyncio.timeout(_SECONDS):
                await _readable(self._ours)
        except TimeoutError as error:
            raise NoListener("its network was not set up in time") from error
        said, descriptors, _, _ = socket.recv_fds(self._ours, _LONGEST, 1)
        if not descriptors:
            why = said[1:].decode("utf-8", "replace") or "the program that listens has ended"
            raise NoListener(f"nothing can listen in its network: {why}")
        listener = socket.socket(fileno=descriptors[0])
        listener.settimeout(0)
        return listener


class _Descriptor:
    """A descriptor that is closed once."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        if self.number >= 0:
            os.close(self.number)
            self.number = -1


async def _readable(sock: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sock, ready.cancel)
    try:
        await asyncio.wait((ready,))
    finally:
        loop.remove_reader(sock)
