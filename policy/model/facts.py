"""Everything that a decision may consider besides the call and its caller, passed in as values.

The core does no I/O: clock, links and addresses come from the caller of `decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias

from policy.model.budgets import BalanceOf
from policy.model.call import EMPTY
from policy.model.confinement import ConfinedVerb
from policy.model.history import History
from policy.model.past_calls import PastCall

# Follows symbolic links of an absolute, normalised path as far as it exists; None where that is
# unknown.
ResolvePath: TypeAlias = Callable[[str], str | None]
# Whether some folder on the way to an absolute path compares names without letter case; also True
# where that is unknown.
FoldsCase: TypeAlias = Callable[[str], bool]
# Whether the file at an absolute path without links has other names besides (hard links).
HasOtherNames: TypeAlias = Callable[[str], bool]
# Device and inode of the file that was at an absolute path without links when the call was judged;
# None if there was none.
FileId: TypeAlias = tuple[int, int]
Identify: TypeAlias = Callable[[str], FileId | None]
# The addresses a host name resolves to; None if the resolver has no answer.
ResolveHost: TypeAlias = Callable[[str], tuple[str, ...] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """Names that a program skips below its folders.

    A name is skipped only if that is certain. `files` are globs of files, `folders` of folders with
    everything below them; `hidden` covers all names that begin with a dot. A name that matches a
    glob of `included` is never skipped; with `all_others` all other files are. `may_show_hidden`:
    files such as `.ignore` may make hidden names visible. `only_files`: only files of these names
    are meant, and no folders; links are followed to files alone, so that their names count as well.
    """

    hidden: bool = False
    may_show_hidden: bool = False
    included: tuple[str, ...] = ()
    all_others: bool = False
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    only_files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskQuery:
    """A query about the disk: the matches of a wildcard in a folder, or the contents of a tree.

    `place` is an absolute path without links, `spelled` the same path as spelled. `steps` are the
    segments of a shell glob below it, in the shell's spelling; a step `**/` is any number of
    folders, as a recursive search visits them. `lenient`: wildcards match hidden names and other
    letter case. `tree`: include everything below the matches; `follow_links`: also through links
    below them. `hard_links`: report files with other hard links. `exclusions`: the names that the
    tree or search skips.
    """

    place: str
    spelled: str
    steps: tuple[str, ...] = ()
    tree: bool = False
    follow_links: bool = False
    lenient: bool = False
    hard_links: bool = False
    exclusions: Exclusions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderContents:
    """The contents of a folder: the relative paths of all entries of a name, by name.

    `lexical` is the folder as spelled, `resolved` the same without links.
    """

    lexical: str
    resolved: str
    names: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskAnswer:
    """The disk's answer to a `DiskQuery`: the contents, and the paths that leave it by a link.

    `linked_paths` are absolute paths, with dots where the path has them; `shared` are such paths of
    files with other hard links. Unless `complete`, the look-up stopped at its bound or met a folder
    that it could not read.
    """

    contents: tuple[FolderContents, ...] = ()
    linked_paths: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GitMove:
    """A git command that writes files of its store: in which folder, and of which revisions.

    `revisions` are the words that may name one. `merges`: the files of several are combined.
    `elsewhere`: the repository or its work tree need not be the one around the folder. `made`: an
    earlier command of git has made the folder a repository, whose work tree it is. `may_appear`:
    other commands may make the folder, if there is none yet.
    """

    folder: str
    revisions: tuple[str, ...]
    merges: bool = False
    elsewhere: bool = False
    made: bool = False
    may_appear: bool = False


# Whether a move of git may change the file at an absolute path; None where that is unknown.
MayRestore: TypeAlias = Callable[[GitMove, str], bool | None]
# The folder in which the repository begins that contains a folder; None if it does not begin above
# it, or if one of the names is a file there.
RepositoryAbove: TypeAlias = Callable[[str, tuple[str, ...]], str | None]
# The earlier calls of the session tree; None where they are not known.
Recall: TypeAlias = Callable[[], History | None]


class UserSaid(Protocol):
    """What the user of a session tree wrote, in order. It does not change."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The messages that are kept."""
        ...

    @property
    def missing(self) -> str | None:
        """Why not all messages are kept; None: they are."""
        ...

    @property
    def forgotten(self) -> int:
        """How many messages, of those that were kept, came before these."""
        ...


# What the user wrote in the session tree; a string says why that is not known.
RecallSaid: TypeAlias = Callable[[], UserSaid | str]
# Answers queries about trees and wildcards; None: no answer.
LookAt: TypeAlias = Callable[[DiskQuery], DiskAnswer | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolvers:
    """Answers from outside. Without a resolver, paths are judged lexically and hosts by name.

    `folds` and `other_names` report how file systems treat a path; without them, letter case is
    significant and a file has one name. `look` lists the matches of wildcards and the contents of
    trees; with `path` but without `look` these are indeterminate. `is_folder` tells whether a path
    without links is a folder, or may be one; with `path` but without it, each path may be. The
    safety floor uses `identity`, and a tool compares the file that it opens with it. `restores`
    looks into a repository, and `repository_above` for the folder in which one begins;
    `git_variable` is what keeps it from knowing which, in the environment.
    `history` recalls the earlier calls of the session tree, and `said` what its user wrote, for
    facts that do not hold them; `balance` tells what is left of the budgets of limits. Without
    them, that is not known.
    """

    path: ResolvePath | None = None
    folds: FoldsCase | None = None
    other_names: HasOtherNames | None = None
    identity: Identify | None = None
    look: LookAt | None = None
    is_folder: Callable[[str], bool] | None = None
    host: ResolveHost | None = None
    restores: MayRestore | None = None
    repository_above: RepositoryAbove | None = None
    git_variable: str = ""
    history: Recall | None = None
    said: RecallSaid | None = None
    balance: BalanceOf | None = None


_NONE = Resolvers()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxTier:
    """The sandbox that confines the code which a call runs.

    `enforces` are the verbs of which it keeps all that code does within a bound that it is given:
    of files, folders with everything below them; of connections, any set of hosts. `tools` are the
    names of the tools whose code it confines, None: all tools of the host application. The tools of
    a plugin or a server are confined as a whole, and only by name.
    """

    name: str
    enforces: frozenset[ConfinedVerb] = frozenset()
    tools: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The circumstances of one decision. `now` is None where no clock was passed: unknown.

    `cwd`, `home` and `workspace` are absolute POSIX paths; `context` holds the declared `context.…`
    facts that were passed; `said` holds what the user wrote in the session tree, message by
    message. `history` holds its earlier calls, in the order in which they ended, or what a log
    knows of them. `()`: there was nothing; None: only the resolvers know.

    `server_folders` has the folders in which MCP servers run, by server, from which they resolve
    relative paths; None is an unknown folder. Tools of other servers work in `cwd`.

    `sandbox` confines the programs that Placet starts for the call; None: nothing does.
    """

    cwd: str | None = None
    workspace: str | None = None
    home: str | None = None
    now: datetime | None = None
    said: tuple[str, ...] | None = None
    history: tuple[PastCall, ...] | History | None = None
    context: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    resolvers: Resolvers = _NONE
    sandbox: SandboxTier | None = None
    server_folders: Mapping[str, str | None] = field(default_factory=lambda: EMPTY)

    def __post_init__(self) -> None:
        if self.now is not None and self.now.tzinfo is None:
            object.__setattr__(self, "now", self.now.replace(tzinfo=UTC))
