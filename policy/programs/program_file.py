"""The file of a program that a command spells as a path, such as `./run.sh`."""

from __future__ import annotations

from dataclasses import dataclass

from policy.values import Path, PathContext, PathPattern, Unreadable, path_within


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """The path that is executed, with links followed, and the context in which it was read."""

    path: Path | Unreadable
    context: PathContext

    def is_in(self, pattern: PathPattern) -> bool | None:
        """Return whether a path pattern names the file; None where that is not known."""
        if isinstance(self.path, Unreadable):
            return None
        return path_within(self.path, (pattern,), (), context=self.context)
