"""`Guard`: what passes between a launcher and its supervisor about names that must not be lost."""

from __future__ import annotations

import os
from contextlib import ExitStack

_LONGEST = 65_536


class Guard:
    """The names to guard, in a file in memory, and a pipe for the one that was lost."""

    def __init__(self, names: tuple[str, ...], released: int | None = None) -> None:
        self.options: tuple[str, ...] = ()
        self.descriptors: tuple[int, ...] = ()
        self._given = ExitStack()
        self._open = ExitStack()
        self._report: int | None = None
        self._lost: str | None = None
        if names:
            self._guard(names)
        if released is not None:
            self.descriptors = (*self.descriptors, released)
            self.options = (*self.options, f"--released={released}")

    def _guard(self, names: tuple[str, ...]) -> None:
        try:
            listed = os.memfd_create("guarded")
            self._given.callback(os.close, listed)
            with os.fdopen(os.dup(listed), "wb") as file:
                file.writelines(os.fsencode(each) + b"\0" for each in names)
            os.lseek(listed, 0, os.SEEK_SET)
            self._report, reported = os.pipe()
            self._given.callback(os.close, reported)
            self._open.callback(os.close, self._report)
        except BaseException:
            self.close_given()
            self.close()
            raise
        os.set_blocking(self._report, False)
        self.descriptors = (listed, reported)
        self.options = (f"--guarded={listed}", f"--report={reported}")

    def close_given(self) -> None:
        """Close what the supervisor has got by now."""
        self._given.close()

    def lost(self) -> str | None:
        """Return the name that was lost, None if none was."""
        if self._report is not None and self._lost is None:
            try:
                read = os.read(self._report, _LONGEST)
            except BlockingIOError:
                return None
            self._lost = os.fsdecode(read) or None
        return self._lost

    def close(self) -> None:
        """Note what was lost until now, and close the rest."""
        self.lost()
        self._report = None
        self._open.close()
