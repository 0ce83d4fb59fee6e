"""Whether the paths that a search prints are words as they are: `find . -name x | xargs grep y`.

`xargs` splits its input at blanks and removes quotes, so that one path may become two others. Where
the disk shows that no path has such a character, and the call makes none, each stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from policy.model import DiskQuery
from policy.programs import (
    FoundPaths,
    Invocation,
    ScriptAnalysis,
    Search,
    is_harmless_redirection,
)
from policy.shell import SimpleCommand
from policy.values import PathContext, Unreadable, exact_path, spelled_path

Paths = Callable[[SimpleCommand], PathContext]

# Characters that no program splits at or removes, in any language of the system.
_PLAIN = re.compile(r"[A-Za-z0-9._/@%+=:,~#^!()\[\]{}-]*")

_EXPANDED = re.compile(r"[\[\]()]")


def prints_plain_names(script: ScriptAnalysis, paths: Paths) -> bool:
    """Return whether every search that the analysis relies on prints plain paths only."""
    if not script.searches or script.gaps:
        return False
    found = frozenset(search.found.word().text for search in script.searches)
    if not all(_makes_no_names(command, found) for command in script.walk()):
        return False
    return all(_finds_plain_names(search, paths(search.by)) for search in script.searches)


def _makes_no_names(command: Invocation, found: frozenset[str]) -> bool:
    """Return whether a command creates nothing, except a file under a plain name.

    It may write and delete what is found.
    """
    simple = command.command
    if command.gaps or command.unseen or (simple.words and not command.profiled):
        return False
    if any(
        effect.verb == "writes" and (effect.word is None or effect.word.text not in found)
        for effect in command.effects
    ):
        return False
    return all(
        one.target.known and not one.target.home and _is_plain(one.target.text)
        for one in simple.redirections
        if ">" in one.op and not is_harmless_redirection(one)
    )


def _finds_plain_names(search: Search, paths: PathContext) -> bool:
    found = search.found
    root = found.root
    if not root or root[0] in "-~" or not _is_plain(root):
        return False
    if found.follow_links or paths.look is None:
        return False
    place, spelled = exact_path(root, paths), spelled_path(root, paths)
    if isinstance(place, Unreadable) or isinstance(spelled, Unreadable):
        return False
    answer = paths.look(
        DiskQuery(place=place, spelled=spelled, tree=True, exclusions=found.exclusions)
    )
    if answer is None or not answer.complete or answer.linked_paths:
        return False
    return all(
        # Some searches print what is in the current folder without a `./`.
        _is_plain(path)
        and not path.startswith("-")
        and not (search.expanded and _EXPANDED.search(path))
        for folder in answer.contents
        for name, below in folder.names.items()
        if _is_printed(name, found)
        for path in below
    )


def _is_printed(name: str, search: FoundPaths) -> bool:
    """Return whether a search may print a name.

    Another spelling of a name in Unicode has the same ending in ASCII, and maybe another beginning.
    """
    by_ending = search.name[:1] == "*" and not {"*", "?"}.intersection(search.name[1:])
    return fnmatchcase(name, search.name) or not (name.isascii() or by_ending)


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None
