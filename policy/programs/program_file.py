"""The file of a program that a command spells as a path, such as `./run.sh`."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace

from policy.programs.standard_folders import STANDARD_PLACES
from policy.values import Path, PathContext, PathPattern, Unreadable, path_within, read_path_pattern

# Where interpreters are installed that the links of environments lead to.
_INTERPRETERS = tuple(
    pattern
    for pattern in map(
        read_path_pattern,
        (
            *(f"{folder}/*" for folder in sorted(STANDARD_PLACES - {""})),
            "/opt/homebrew/Cellar/*/*/**",
            "/usr/local/Cellar/*/*/**",
            "/Library/Frameworks/Python.framework/Versions/*/bin/*",
            "~/.local/share/uv/python/*/bin/*",
            "~/.pyenv/versions/*/bin/*",
        ),
    )
    if isinstance(pattern, PathPattern)
)


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

    def link_is_in(self, pattern: PathPattern) -> bool:
        """Return whether a path pattern names the file, if that is a link, wherever it leads."""
        if isinstance(self.path, Unreadable) or self.context.resolve is None:
            return False
        folder, name = posixpath.split(self.path.lexical)
        resolved = self.context.resolve(folder)
        if resolved is None:
            return False
        link = replace(self.path, resolved=posixpath.join(resolved, name))
        return path_within(link, (pattern,), (), context=self.context) is True

    @property
    def interpreter(self) -> str:
        """The name of the installed program that a link leads to; empty for any other file."""
        if isinstance(self.path, Unreadable) or not self.path.resolved:
            return ""
        target = replace(self.path, lexical=self.path.resolved)
        if target == self.path or not path_within(target, _INTERPRETERS, (), context=self.context):
            return ""
        return posixpath.basename(self.path.resolved)
