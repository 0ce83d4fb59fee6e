"""All that a decision may look at besides the call and its caller, handed in as values.

The core does no I/O: clock, links and addresses come from whoever asks for the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from policy.model.call import EMPTY

# Follows symbolic links of an absolute, normalised path as far as it exists; None: cannot be known.
ResolvePath: TypeAlias = Callable[[str], str | None]
# Whether names of some folder on the way to an absolute path are compared without letter case;
# also True where that cannot be told.
FoldsCase: TypeAlias = Callable[[str], bool]
# Whether the file at an absolute path without links has other names besides (hard links).
HasOtherNames: TypeAlias = Callable[[str], bool]
# Device and inode of what stood at an absolute path without links when the call was judged; None
# where nothing did.
FileId: TypeAlias = tuple[int, int]
Identify: TypeAlias = Callable[[str], FileId | None]
# The addresses a host name resolves to; None: the resolver does not answer for it.
ResolveHost: TypeAlias = Callable[[str], tuple[str, ...] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """Names that a program passes over below its folders; what is not certain is not left out.

    `files` are globs of files, `folders` of folders with all below them, `hidden` are all names
    that begin with a dot. What a glob of `kept` matches is not left out, whatever else is said;
    with `others` all other files are. `shown`: files such as `.ignore` may show hidden names.
    """

    hidden: bool = False
    shown: bool = False
    kept: tuple[str, ...] = ()
    others: bool = False
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskQuery:
    """What the disk is asked of a place: what a wildcard names there, what a tree holds.

    `place` is an absolute path without links, `spelled` the way to it. `steps` are the segments of
    a shell's glob below it, as a shell spells them; a step `**/` is any number of folders, as a
    search goes through them. `loose`: wildcards take hidden names and other letter case. `tree`:
    with all below what is named; `follows`: through links that stand below as well. `written`:
    files with other names are asked for. `left`: what of the tree, or of what a search finds, is
    left out.
    """

    place: str
    spelled: str
    steps: tuple[str, ...] = ()
    tree: bool = False
    follows: bool = False
    loose: bool = False
    written: bool = False
    left: Exclusions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderContents:
    """What stands below a folder: ways from there to all of a name, by name.

    `lexical` is the folder as it was spelled, `resolved` the same without links.
    """

    lexical: str
    resolved: str
    names: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskAnswer:
    """What the disk says to a `DiskQuery`: what is there, and which ways of it lead off by a link.

    `led` are absolute paths, dots included where a way has them; `shared` are such paths of files
    with other names. Where not `whole`, there is more than is looked at, or something that cannot
    be looked into.
    """

    held: tuple[FolderContents, ...] = ()
    led: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    whole: bool = True


# What the disk says of trees and wildcards; None: it does not say.
LookAt: TypeAlias = Callable[[DiskQuery], DiskAnswer | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """One earlier call of the session tree."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    result: Any = None
    outcome: str = "ok"
    at: datetime | None = None
    session: str | None = None
    agent: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolvers:
    """The outside world's answers. Without one, paths are judged lexically and names as names.

    `folds` and `other_names` say what file systems make of a path; without them, letter case
    counts, and a file is known by its name. `look` says what wildcards name and trees hold; whoever
    gives `path` without it leaves that undecidable. The floor asks `identity`, and a tool compares
    what it opens with it.
    """

    path: ResolvePath | None = None
    folds: FoldsCase | None = None
    other_names: HasOtherNames | None = None
    identity: Identify | None = None
    look: LookAt | None = None
    host: ResolveHost | None = None


_NONE = Resolvers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The world of one decision. `now` is None where the clock was not given: unknown.

    `cwd`, `home` and `workspace` are absolute POSIX paths; `context` holds the declared
    `context.…` facts that were given; `said` is what the user wrote, in order.
    """

    cwd: str | None = None
    workspace: str | None = None
    home: str | None = None
    now: datetime | None = None
    said: tuple[str, ...] = ()
    history: tuple[PastCall, ...] = ()
    context: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    resolvers: Resolvers = _NONE
    sandbox: str | None = None

    def __post_init__(self) -> None:
        if self.now is not None and self.now.tzinfo is None:
            object.__setattr__(self, "now", self.now.replace(tzinfo=UTC))
