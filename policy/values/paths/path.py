"""Parses a path into its lexical and its resolved form, or returns why it is ambiguous.

A path is Unreadable where another program would take the text for another file (a backslash, an
encoded character), or where another process would reach another file (`/proc/self/cwd`). Links are
followed by the resolver of the context, if there is one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from policy.model import FoldsCase, HasOtherNames, LookAt, RepositoryAbove, ResolvePath
from policy.values.paths.contents import ContentsBelow
from policy.values.paths.reach import Reach
from policy.values.paths.spelling import path_spelled
from policy.values.text import normalise, quote
from policy.values.unreadable import Unreadable

_LONGEST = 4096
# Paths to files that differ between processes.
_MAGIC = re.compile(
    r"/proc/(thread-self|[^/]+/(root|cwd|fd|fdinfo|exe|map_files|task))(/|$)|/dev/fd(/|$)"
)
# Texts that all programs read alike (as `path_spelled` accepts them), with nothing to normalise.
_SETTLED = re.compile(r"(?:/(?!\.\.?(?:/|\Z))[A-Za-z0-9_.+@=,#()\[\]-]+)+")
_MAY_BE_MAGIC = ("/proc/", "/dev/")
# Streams that a process already has open: its redirections determine which files these are.
STREAMS = frozenset({"/dev/stdin", "/dev/stdout", "/dev/stderr"})
# Names that systems without letter case may take for others: `a.`, `a `, `A~1`, `a::$DATA`.
_WINDOWS_ALIAS = re.compile(r"[. ](/|$)|~[0-9]|:")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathContext:
    """The context in which a path is read: folders as absolute paths, and queries to the disk.

    Relative paths are below `cwd`, else below `workspace`, and Unreadable where
    `directory_unknown`: in a script whose `cd` may have failed. `look` lists the contents of trees,
    `is_folder` tells whether a path without links is a folder, and `links_below` reports whether an
    earlier command may have made a link below a folder.
    `resolve` is called again for every pattern and path, so it should cache its answers for this
    call. `repository_above` tells where a repository begins that contains a folder. `known_sets` is
    such a cache for the sets that the call's paths are tested against.
    """

    cwd: str | None = None
    home: str | None = None
    workspace: str | None = None
    resolve: ResolvePath | None = None
    folds: FoldsCase | None = None
    other_names: HasOtherNames | None = None
    look: LookAt | None = None
    is_folder: Callable[[str], bool] | None = None
    links_below: Callable[[str], bool] | None = None
    directory_unknown: bool = False
    repository_above: RepositoryAbove | None = None
    known_sets: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def spelled_only(self) -> PathContext:
        """Return a context that reads paths by their spelling alone, and asks the disk nothing."""
        return replace(
            self, resolve=None, links_below=None, look=None, other_names=None, known_sets={}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """An absolute path, normalised as spelled and with links followed.

    `tree` includes everything below it. `resolved` is None without a resolver. `folds`: letter case
    may be ignored there. `walked` is the path as spelled, dots included, where links lead off it.
    `names` is the glob of the names meant below a tree, where a wildcard of a command spelled it.
    `contents` has the contents of a tree, where the disk can be queried. Of a written tree, `reach`
    is what may be written below it, None if anything, and `new_names` what the names of new files
    come from: the program, the copied files, its input, a repository.
    """

    lexical: str
    resolved: str | None = None
    tree: bool = False
    folds: bool = False
    names: str = ""
    walked: str | None = field(default=None, compare=False, repr=False)
    contents: ContentsBelow | None = field(default=None, compare=False, repr=False)
    reach: Reach | None = None
    new_names: str = "own"

    @property
    def is_limited(self) -> bool:
        """Whether a written tree is judged by the names that are written below it."""
        return self.reach is not None or self.new_names != "own"


def read_path(text: str, context: PathContext, *, tree: bool = False) -> Path | Unreadable:
    """Parse a path argument of a tool: plain, `~/…` or a `file:` URL."""
    if len(text) <= _LONGEST and _SETTLED.fullmatch(text):
        absolute = settled = lexical = text
    else:
        spelled = _absolute(text, context)
        if isinstance(spelled, Unreadable):
            return spelled
        absolute, settled = spelled, normal_path(spelled)
        lexical = normalise(settled)
    if lexical.startswith(_MAY_BE_MAGIC) and _MAGIC.match(lexical):
        return Unreadable(reason=f"leads to a different place for each process: {quote(text)}")
    resolved = None
    if context.resolve is not None:
        exact = _leads(absolute, settled, resolve=context.resolve)
        if exact is None:
            return Unreadable(reason=_unresolvable_message(text, absolute, context.resolve))
        if exact.startswith(_MAY_BE_MAGIC) and _MAGIC.match(exact):
            return Unreadable(reason=f"leads to a different place for each process: {quote(text)}")
        if context.other_names is not None and context.other_names(exact):
            return Unreadable(reason=f"a file with several names (hard links): {quote(text)}")
        resolved = normalise(exact)
    folds = False
    if context.folds is not None:
        folds = context.folds(lexical)
        if resolved is not None and resolved != lexical:
            folds = folds or context.folds(resolved)
    if folds and _WINDOWS_ALIAS.search(lexical):
        return Unreadable(reason=f"may be another name of a file: {quote(text)}")
    return Path(
        lexical=lexical,
        resolved=resolved,
        tree=tree,
        folds=folds,
        walked=absolute if resolved is not None and resolved != lexical else None,
    )


def exact_path(text: str, context: PathContext) -> str | Unreadable:
    """Return the path to open for `text`: links followed, with each name as on the disk."""
    absolute = _absolute(text, context)
    if isinstance(absolute, Unreadable):
        return absolute
    settled = normal_path(absolute)
    if context.resolve is None:
        return settled
    exact = _leads(absolute, settled, resolve=context.resolve)
    if exact is None:
        return Unreadable(reason=_unresolvable_message(text, absolute, context.resolve))
    return exact


def spelled_path(text: str, context: PathContext) -> str | Unreadable:
    """Return the absolute path that `text` spells, dots and links included."""
    return _absolute(text, context)


def links_passed(path: Path, context: PathContext) -> tuple[str, ...]:
    """Return the links on the path as spelled, each by its own path, in order.

    Of links that lead to links, the first is named.
    """
    if path.walked is None or context.resolve is None:
        return ()
    passed: list[str] = []
    here = "/"
    for part in path.walked.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            here = posixpath.dirname(here)
            continue
        there = posixpath.join(here, part)
        leads = context.resolve(there)
        if leads is None:
            break
        if leads != there:
            passed.append(there)
        here = leads
    return tuple(passed)


def after_cd(
    folders: tuple[str, ...] | None, known: dict[tuple[str, ...], PathContext]
) -> PathContext:
    """Return the context of a command that runs after `cd` to each of `folders`; None: unknown.

    `known` caches the context after each of them, and has the one before the first (`()`).
    """
    if folders is None:
        return replace(known[()], directory_unknown=True)
    place = len(folders)
    while folders[:place] not in known:
        place -= 1
    for end in range(place, len(folders)):
        known[folders[: end + 1]] = _after_one(folders[end], known[folders[:end]])
    return known[folders]


def _after_one(folder: str, context: PathContext) -> PathContext:
    """Return the context after `cd` to a folder: the target of the link, if it is one."""
    place = read_path(folder, context)
    if isinstance(place, Unreadable):
        return replace(context, directory_unknown=True)
    return replace(context, cwd=place.resolved or place.lexical)


def normal_path(text: str) -> str:
    """Resolve `.`, `..` and repeated separators; two at the beginning count as one."""
    settled = posixpath.normpath(text)
    return settled[1:] if settled.startswith("//") else settled


def _absolute(text: str, context: PathContext) -> str | Unreadable:
    """Return the absolute path that the text spells, dots included."""
    if len(text) > _LONGEST:
        return Unreadable(reason="a path that is too long")
    spelled = path_spelled(text)
    if isinstance(spelled, Unreadable):
        return spelled
    if spelled.startswith("/"):
        return spelled
    if spelled.startswith("~"):
        name, _, rest = spelled.partition("/")
        if name != "~":
            return Unreadable(reason=f"the home folder of another user: {quote(text)}")
        if context.home is None:
            return Unreadable(reason="the home folder is not known")
        absolute = f"{context.home}/{rest}"
    else:
        folder = context.cwd if context.cwd is not None else context.workspace
        if folder is None or context.directory_unknown:
            return Unreadable(reason=f"relative to an unknown folder: {quote(text)}")
        absolute = f"{folder}/{spelled}"
    if len(absolute) > _LONGEST:
        return Unreadable(reason="a path that is too long")
    return absolute


def _leads(absolute: str, settled: str, *, resolve: ResolvePath) -> str | None:
    """Resolve as the system does: `..` leaves the folder that a link leads to, not the link."""
    if settled in STREAMS:
        return settled
    if ".." not in absolute:
        return resolve(settled)
    names: list[str] = []
    for part in absolute.split("/"):
        if part == "..":
            folder = resolve("/" + "/".join(names))
            if folder is None:
                return None
            names = folder.split("/")[1:-1]
        elif part not in ("", "."):
            names.append(part)
    return resolve("/" + "/".join(names))


def _unresolvable_message(text: str, absolute: str, resolve: ResolvePath) -> str:
    """Return the message for a path that cannot be resolved, naming the part where that starts."""
    place = "/"
    for part in absolute.split("/"):
        if part in ("", ".", ".."):
            continue
        place = posixpath.join(place, part)
        if resolve(place) is None:
            break
    if place == text:
        return f"where {quote(place)} leads is not known"
    return f"where {quote(text)} leads is not known, as {quote(place)} could not be resolved"
