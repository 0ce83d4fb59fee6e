"""Names of files and folders by which programs outside of a sandbox run code without being called.

They are read-only in every folder that a confined program may write. What does not exist cannot be
kept, so that a program may make it: that is looked for when it has ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from policy.diagnostics import visible

_LONGEST, _MOST = 300, 5
_GIT = ".git"
# Settings of git name programs: `core.hooksPath`, `core.fsmonitor`.
_KEPT = (
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    # It says in which other folder git finds the settings and the hooks.
    ".git/commondir",
    # Editors and shells run what is in these when a person opens the project, or changes to it.
    ".devcontainer",
    ".devcontainer.json",
    ".envrc",
    ".fleet",
    ".husky",
    ".idea",
    ".vscode",
    ".zed",
    # Settings of coding agents name hooks and MCP servers, which are programs. Folders are kept
    # whole: a file that somebody replaces outside, as editors do, is no longer mounted.
    ".aider.conf.yml",
    ".amazonq",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".cursor",
    ".factory",
    ".gemini",
    ".junie",
    ".kilocode",
    ".kiro",
    ".mcp.json",
    ".opencode",
    ".qwen",
    ".roo",
    ".trae",
    ".windsurf",
    "opencode.json",
)
_OF_GIT = tuple(name for name in _KEPT if name.startswith(f"{_GIT}/"))


def run_without_call(folder: str) -> Iterator[str]:
    """Yield the paths in a folder, whether they exist or not."""
    git = os.path.join(folder, _GIT)
    if os.path.isfile(git):
        # A worktree or a submodule: the file says where the settings and hooks are.
        yield git
    for name in _KEPT:
        if not os.path.isfile(git) or not name.startswith(f"{_GIT}/"):
            yield os.path.join(folder, name)


def made_paths(folders: Iterable[str], unkept: Iterable[str]) -> tuple[str, ...]:
    """Return what exists now of the paths in some folders that could not be kept, `unkept`.

    A `.git` that is a file counts where there was none.
    """
    not_there = frozenset(unkept)
    found = []
    for folder in folders:
        git = os.path.join(folder, _GIT)
        had_git = not all(os.path.join(folder, name) in not_there for name in _OF_GIT)
        if not had_git and os.path.isfile(git):
            found.append(git)
            continue
        paths = (os.path.join(folder, name) for name in _KEPT)
        found += (path for path in paths if path in not_there and os.path.lexists(path))
    return tuple(found)


def said_of_made(made: Iterable[str], *, subject: str) -> str:
    """Return what people and models are told of what was made while a program ran."""
    paths = tuple(made)
    names = ", ".join(visible(path, _LONGEST) for path in paths[:_MOST])
    more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
    return (
        f"While {subject} ran in its sandbox, {names}{more} appeared: git, editors or agents "
        "outside of the sandbox may run what it names, so people should look at it first."
    )
