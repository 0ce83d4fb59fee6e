"""`CallEffects`: what a call does, as far as its arguments and commands tell.

Known resources are declared arguments, redirections, and the operands and options of programs with
profiles. The words of a command whose program has no profile, and every string of a tool whose
resources are not declared complete, are only *possible* resources. Input that cannot be parsed is
kept as `Unreadable`. Everything is collected at once, and parsed as paths or hosts when a rule
needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from policy.evaluation.accesses import Access, Folders, Origin, accesses_of, is_redirected
from policy.evaluation.call_folder import in_call_folder
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.disk_view import NOTHING_SEEN, disk_view_of
from policy.evaluation.link_changes import LinkChanges
from policy.evaluation.program_files import with_program_files
from policy.evaluation.truth import Value, unknown_resources
from policy.evaluation.written_trees import reach_of
from policy.model import Exclusions, HasOtherNames
from policy.programs import Invocation, Profiles
from policy.shell import SimpleCommand
from policy.values import (
    SHOWING,
    ByInlineCode,
    Endpoint,
    MayBeRedirected,
    Path,
    PathContext,
    Unreadable,
    after_cd,
    exact_path,
    read_endpoint,
    read_path,
    read_recipient,
)

Thing: TypeAlias = Path | Endpoint | Invocation | str | Unreadable


class KnownResource:
    """One known resource: its value, its text for people, and the access.

    Not changed after construction. (A plain class, which is created in half the time.)
    """

    __slots__ = ("access", "origin", "shown", "thing")

    def __init__(
        self, thing: Thing, shown: str, origin: Origin = "argument", access: Access | None = None
    ) -> None:
        self.thing = thing
        self.shown = shown
        self.origin = origin
        self.access = access

    @property
    def is_of_unseen_code(self) -> bool:
        """Whether it is the tree of a program that runs unseen code, and no word spells it.

        It says where a build or an installer usually writes. What its code writes is in no tree.
        Names that come from an archive, a patch or a store of git are another matter.
        """
        access = self.access
        if access is None or not access.tree or access.by is None or access.meant is None:
            return False
        meant = access.meant
        return access.by.unseen and meant.listed and meant.new_names == "own"


# Different strings of one call that are looked at as possible resources. With more, it is not known
# what the call does.
MOST_TEXTS = 2_000


class UndeclaredText(NamedTuple):
    """A string of the input that is not declared as a resource, and the field that holds it."""

    text: str
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleWord:
    """A string that may be a resource, and the working directory in which it would be used.

    `of_command` is whether it is a word of a command rather than a string of the input; `handed`:
    one that unseen code is given; `rewritten`: together with an option to change files. `whole` is
    False where only its start is known, and its `tail`. A glob searches `folder` for files of these
    `names`.
    `command` is the text of the command, `field` the field of the input, for people.
    """

    text: str
    paths: PathContext
    of_command: bool = True
    handed: bool = False
    rewritten: bool = False
    whole: bool = True
    folder: str = ""
    names: str = ""
    command: str = ""
    field: str = ""
    steps: tuple[str, ...] = ()
    tail: str = ""


class CallEffects:
    """The effects of one call, by verb; belongs to one `Evaluation`.

    `absent` are the verbs whose declared arguments are all absent. `possible` are strings that may
    be any resource, `words` the same for words of commands, and `unprofiled` the commands whose
    words may be commands again. `handed` are words that unseen code is given, which may write them.
    `certain` is whether there are none of the four. `unseen`: code
    runs whose effects no argument shows. `within_sandbox` are verbs of which the sandbox of the
    tool bounds all effects, declared or not. `answers` are cached results of tests.

    Accesses are kept in the order of the input; those of commands are computed by verb, on demand.
    """

    __slots__ = (
        "_accesses",
        "_folders",
        "_lenient",
        "_other_names",
        "_sources",
        "absent",
        "answers",
        "certain",
        "commands",
        "complete",
        "handed",
        "items",
        "links",
        "paths",
        "possible",
        "profiles",
        "unprofiled",
        "unseen",
        "within_sandbox",
        "words",
    )

    def __init__(
        self,
        declared: DeclaredResources,
        paths: PathContext,
        other_names: HasOtherNames | None = None,
    ) -> None:
        self.complete = declared.complete
        self.unseen = declared.unseen
        self.within_sandbox: frozenset[str] = frozenset()
        self.profiles: Profiles = declared.profiles
        self.absent: set[str] = set()
        self.answers: dict[Any, Any] = {}
        self.certain = True
        self.possible: tuple[UndeclaredText, ...] = ()
        self.words: list[PossibleWord] = []
        self.handed: list[PossibleWord] = []
        self.commands: list[Invocation] = []
        self.unprofiled: list[Invocation] = []
        self._sources: list[Access | Invocation] = []
        self._accesses: dict[str, list[Access]] = {}
        self.items: dict[str, tuple[KnownResource, ...]] = {}
        self.paths = paths
        self.links: LinkChanges | None = None
        self._other_names = other_names
        # Whether wildcards match more than in a plain shell.
        self._lenient = False
        self._folders: dict[tuple[str, ...], PathContext] = {(): paths}

    def of(self, verb: str) -> tuple[KnownResource, ...]:
        """Return the known resources that the call accesses with `verb`."""
        found = self.items.get(verb)
        if found is None:
            items: list[KnownResource] = []
            if verb == "runs":
                located = map(self._located, self.commands)
                items += [KnownResource(each, each.command.text, "command") for each in located]
            for access in self._accesses_of(verb):
                if not access.unseen:
                    items += self._items(access)
            found = self.items[verb] = tuple(items)
        return found

    def listed(self, verb: str) -> Value:
        """Return the resources of a verb as canonical strings; indeterminate if any is unknown."""
        if not self.complete:
            return unknown_resources("the resources of this tool are not declared complete")
        if verb != "runs" and self.words:
            return unknown_resources("a program without a profile may use any of its arguments")
        shown: list[str] = []
        not_shown = self.not_shown(verb)
        if not_shown:
            return unknown_resources(not_shown)
        for item in self.each(verb):
            if isinstance(item.thing, Unreadable):
                return unknown_resources(item.thing.reason)
            shown.append(item.shown)
        return tuple(shown)

    def each(self, verb: str) -> Iterator[KnownResource]:
        """Yield the resources of a verb; of commands, also those that other commands run."""
        for item in self.of(verb):
            yield item
            if isinstance(item.thing, Invocation):
                for command in item.thing.inner:
                    for one in command.walk():
                        yield KnownResource(one, one.command.text, "command")

    def not_shown(self, verb: str, *, enforced: bool = False) -> str:
        """Return the effect of this verb whose resource the call does not show; empty if none.

        `enforced`: leave out what commands do, which a sandbox bounds.
        """
        for access in self._accesses_of(verb):
            if access.unseen and not (enforced and access.by is not None):
                return access.why
        return ""

    def has(self, verb: str, *, beyond: frozenset[Origin] = frozenset()) -> bool:
        """Return whether the call may have an effect with this verb.

        `beyond` are origins whose effects are covered otherwise: `command` for all effects of the
        words of commands. What only a sandbox bounds is the effect of code, and of no verb.
        """
        if not self.complete and verb not in self.within_sandbox:
            return True
        for source in self._sources:
            if isinstance(source, Access) and source.verb == verb:
                return True
        if "redirection" not in beyond and any(
            access.origin not in beyond for access in self._accesses_of(verb)
        ):
            return True
        if verb == "runs":
            return bool(self.commands)
        return bool(self.words) and "command" not in beyond

    @property
    def redirects(self) -> bool:
        """Whether a file is accessed by a redirection of a command."""
        return any(
            is_redirected(source) for source in self._sources if isinstance(source, Invocation)
        )

    def add(self, source: Access | Invocation) -> None:
        """Add the access of an argument, or a command with its effects."""
        if isinstance(source, Invocation):
            self._lenient = self._lenient or _widens_globs(source)
        self._sources.append(source)

    def widen_globs(self) -> None:
        """Make wildcards match hidden names, and other letter case."""
        self._lenient = True

    def _accesses_of(self, verb: str) -> list[Access]:
        found = self._accesses.get(verb)
        if found is None:
            found = self._accesses[verb] = []
            for source in self._sources:
                if isinstance(source, Invocation):
                    found += accesses_of(source, verb)
                elif source.verb == verb:
                    found.append(source)
        return found

    def folder(self, folders: Folders, by: SimpleCommand | None = None) -> PathContext:
        """Return the path context after changing to `folders`, in a command of the call."""
        if self.links is not None and by is not None:
            return self.links.seen_by(by, folders)
        return after_cd(folders, self._folders)

    def _located(self, command: Invocation) -> Invocation:
        """Return a command as patterns see it: with its program's file, and in its folder."""
        located = with_program_files(command, self._paths_seen_by)
        return in_call_folder(located, self._paths_seen_by, base=self.paths)

    def _paths_seen_by(self, command: SimpleCommand) -> PathContext:
        return self.folder(command.folders, command)

    def by_one_name(self, access: Access) -> Thing:
        """Return the accessed resource, by this name alone even where the file has others."""
        if access.text is None:
            return Unreadable(reason=access.why)
        thing = read_resource(access.verb, access.text, self._paths_of(access))
        if isinstance(thing, Path) and _is_tree(access, self._paths_of(access)):
            return replace(thing, tree=True, names=access.names)
        return thing

    def as_spelled(self, access: Access) -> Thing:
        """Return the accessed path as the call spells it, wherever links lead by now."""
        if access.text is None:
            return Unreadable(reason=access.why)
        return read_resource(access.verb, access.text, self._paths_of(access).spelled_only())

    def _paths_of(self, access: Access) -> PathContext:
        # In the folder of the call, git's repository is the same one whatever links were made.
        if access.split and not is_one_word(self.paths.cwd or self.paths.workspace or ""):
            return replace(self.paths, cwd=None, workspace=None, directory_unknown=True)
        if access.folders == () and (self.links is None or access.stored):
            return self.paths
        return self.folder(access.folders, None if access.by is None else access.by.command)

    def _items(self, access: Access) -> Iterator[KnownResource]:
        """Yield the accessed resource as written, and the others to which it leads."""
        if access.redirected:
            yield KnownResource(
                MayBeRedirected(reason=access.why), "another host", access.origin, access
            )
            return
        if access.text is None:
            unknown = ByInlineCode if access.by_inline_code else Unreadable
            reason = unknown(reason=access.why)
            yield KnownResource(reason, "(not known)", access.origin, access)
            return
        paths = self._judged_in(access)
        spelled = access.text
        if access.unless is not None:
            top = _repository_above(paths, access.unless)
            if top is None:
                return
            spelled = top
        thing = read_resource(access.verb, spelled, paths)
        if access.open_path and isinstance(thing, Endpoint):
            thing = replace(thing, path=None)
        view = NOTHING_SEEN
        if isinstance(thing, Path) and _is_tree(access, paths):
            if access.meant is not None:
                meant = replace(access.meant, lenient=True) if self._lenient else access.meant
                text = spelled if access.base is None else access.base
                written = access.verb == "writes"
                if written:
                    reach = reach_of(meant, access.names)
                    thing = replace(thing, reach=reach, new_names=meant.new_names)
                made = _none_made if written else self._made
                exclusions = meant.exclusions
                if exclusions is not None and self._may_include(exclusions, written=written):
                    meant = replace(meant, exclusions=None)
                view = disk_view_of(text, meant, paths, written=written, made=made)
            thing = replace(thing, tree=True, names=access.names, contents=view.contents)
        yield KnownResource(thing, _shown(thing, spelled), access.origin, access)
        for other in view.others:
            yield KnownResource(other, _shown(other, access.text), access.origin, access)

    def _may_include(self, exclusions: Exclusions, *, written: bool) -> bool:
        """Return whether other effects of the call may read the excluded files after all."""
        if self._lenient or (exclusions.may_show_hidden and written):
            return True
        return exclusions.may_show_hidden and self._may_show()

    def _may_show(self) -> bool:
        """Return whether the call may write a file that makes searches include hidden names."""
        if self.words:
            return True
        for item in self.of("writes"):
            if not isinstance(item.thing, Path) or item.thing.tree:
                return True
            if item.thing.lexical.rpartition("/")[2] in SHOWING:
                return True
            if (item.thing.resolved or "").rpartition("/")[2] in SHOWING:
                return True
        return False

    def _made(self) -> Iterator[tuple[str, str]]:
        """Yield the files that the call writes by name."""
        for item in self.of("writes"):
            if isinstance(item.thing, Path) and not item.thing.tree:
                yield item.thing.lexical, item.thing.resolved or item.thing.lexical

    def _judged_in(self, access: Access) -> PathContext:
        paths = self._paths_of(access)
        if access.verb == "writes" and self._other_names is not None:
            # Writing a file with several names writes all of them. Reading is not treated so:
            # packages are hard links wherever a package cache is used.
            paths = replace(paths, other_names=self._other_names)
        return paths


def _is_tree(access: Access, paths: PathContext) -> bool:
    """Return whether a path is meant with everything below it.

    Where that is not declared, it is if the path is a folder; without a view of the disk, a path is
    judged as written. Where links are followed but nothing says what is a folder, all may be one.
    """
    if access.tree or not access.if_folder or access.text is None:
        return access.tree
    if paths.is_folder is None:
        return paths.resolve is not None
    place = exact_path(access.text, paths)
    return not isinstance(place, Unreadable) and paths.is_folder(place)


def read_resource(verb: str, text: str, paths: PathContext) -> Path | Endpoint | str | Unreadable:
    """Parse a string as a resource of the verb: a path, an endpoint or a recipient."""
    if verb in ("reads", "writes"):
        return read_path(text, paths)
    if verb == "connects":
        return read_endpoint(text)
    recipient = read_recipient(text)
    # A recipient need not be an e-mail address: a channel or account is compared as a string.
    return text if isinstance(recipient, Unreadable) else recipient


def _shown(thing: Path | Endpoint | str | Unreadable, text: str) -> str:
    """Return the canonical string of a resource."""
    match thing:
        case Path(lexical=lexical):
            return lexical
        case Endpoint(host=host):
            return host
        case str():
            return thing
        case _:
            return text


def _repository_above(paths: PathContext, names: tuple[str, ...]) -> str | None:
    """Return the folder in which the repository begins, if that is above the current one."""
    folder = paths.cwd or paths.workspace
    if paths.repository_above is None or paths.directory_unknown or folder is None:
        return None
    return paths.repository_above(folder, names)


def _none_made() -> tuple[tuple[str, str], ...]:
    return ()


def _widens_globs(command: Invocation) -> bool:
    """Return whether a command may make wildcards match hidden names, or another letter case."""
    if any(one.name == SETS_GLOBS for one in command.command.assignments):
        return True
    if any(SETS_GLOBS in word.text for word in command.command.words):
        return True
    if command.program[:1] in (("bash",), ("sh",)):
        return any(one.unknown or one.name[:2] in ("-O", "+O") for one in command.options)
    return not _OTHER_GLOBS.isdisjoint(command.program[:1])


# A variable that makes wildcards of bash match hidden names.
SETS_GLOBS = "GLOBIGNORE"
# Commands for shell settings, and shells with other wildcards.
_OTHER_GLOBS = frozenset("shopt setopt zsh fish csh tcsh ksh ksh93 mksh".split())


def is_one_word(folder: str) -> bool:
    """Return whether the shell leaves the path of a folder as it is without quotes."""
    return folder.startswith("/") and not any(char.isspace() or char in "*?[\\" for char in folder)
