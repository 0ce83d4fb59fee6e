"""How later commands of a call see paths, where earlier ones may have made links.

The disk is queried before a script runs. A path that a command of the script may turn into a link
is unknown to the commands after it. Commands that may run later than their position, or repeatedly,
count as before and after all others.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from policy.evaluation.possible_links import (
    ANY_DEPTH,
    ANY_NAME,
    MOST,
    NOT_KNOWN,
    PossibleLink,
    holds_folder,
    is_named,
    is_spared,
    kept,
    path_key,
    written_path,
)
from policy.model import DiskQuery
from policy.programs import Invocation, ScriptAnalysis
from policy.shell import SimpleCommand, Word
from policy.values import PathContext, Unreadable, after_cd, read_path

# Programs that run a command once.
_ONCE = frozenset(
    "bash sh dash zsh ksh sudo doas env nice nohup timeout command builtin exec eval stdbuf setsid"
    " ionice busybox time python python3 uv $(…) <(…) >(…)".split()
)
# Above this number of commands that create links, they are not examined singly.
_MOST_MAKERS = 100
# How many paths are examined for one, where copied files were copied before.
_MOST_LOOKS = 100


class LinkChanges:
    """The paths that commands of one call may turn into links; `paths` is the view of the disk.

    All scripts are added before the first query.
    """

    __slots__ = ("_contexts", "_left", "_makers", "_paths", "_places", "_scripts", "_sinces")

    def __init__(self, paths: PathContext) -> None:
        self._paths = paths
        self._places: dict[str, list[PossibleLink]] = {}
        self._contexts: dict[tuple[int, bool, int], dict[tuple[str, ...], PathContext]] = {}
        self._makers: set[int] = set()
        self._sinces: list[int] = []
        self._scripts = 0
        self._left = 0

    def add(self, script: ScriptAnalysis, makers: Sequence[Invocation]) -> None:
        """Add the commands of a script that may create links."""
        again = script.repeats
        beside = script.concurrent or again or self._scripts > 0
        self._scripts += 1
        if len(makers) > _MOST_MAKERS:
            first = makers[0].command
            many = PossibleLink(by=first, since=0, at=True, again=True)
            self._places[_ANYWHERE] = kept(self._places.get(_ANYWHERE, []), many)
            return
        # Where a command may run repeatedly, the files it copies may be links by then.
        self._makers.update(id(maker.command) for maker in makers)
        for _ in range(2 if beside or again else 1):
            for maker in makers:
                repeated = again or not _ONCE.issuperset(map(_program, maker.command.inside))
                self._note(maker, beside=beside, again=repeated)
                self._contexts.clear()

    def seen_by(self, command: SimpleCommand, folders: tuple[str, ...] | None = ()) -> PathContext:
        """Return the path context of a command, after it changes to `folders`."""
        return after_cd(folders, self._known_to(command))

    def _known_to(self, command: SimpleCommand) -> dict[tuple[str, ...], PathContext]:
        """Return the cache for all commands that follow the same link-creating commands."""
        own = id(command) if id(command) in self._makers else 0
        before = bisect_left(self._sinces, command.number)
        view = (own, bool(command.inside), before)
        cached = self._contexts.get(view)
        if cached is None:

            @lru_cache(maxsize=4096)
            def resolve(path: str) -> str | None:
                self._left = _MOST_LOOKS
                return self._resolved(path, command)

            def links_below(folder: str) -> bool:
                self._left = _MOST_LOOKS
                return self._may_link_below(folder, command)

            paths = replace(self._paths, resolve=resolve, links_below=links_below, known_sets={})
            cached = self._contexts[view] = {(): paths}
        return cached

    def _note(self, maker: Invocation, *, beside: bool, again: bool) -> None:
        assert maker.links is not None
        command = maker.command
        beside = beside or bool(command.inside)
        here = self.seen_by(command, command.folders)
        sources = self._sources(maker, here) if maker.links.carried else None
        for place in maker.links.places:
            known = place.word is not None and place.word.known
            stays = maker.links.below or not known or _is_folder(place.word)
            # git follows no link, so that it writes where the path was before the script ran.
            paths = self._paths if place.stored and command.folders == () else here
            if place.folder:
                paths = self.seen_by(command, _folders(command, place.folder))
            ways = written_path(place, paths)
            names = None if ways is None else frozenset(map(path_key, ways))
            at = names is None or not (stays or (place.tree and holds_folder(names, here)))
            making = PossibleLink(
                by=command,
                since=0 if beside else command.number,
                at=at,
                again=again,
                sources=sources if sources is not None and known and names else NOT_KNOWN,
                names=maker.links.names if names else NOT_KNOWN,
                place="" if ways is None else ways.itself if at else ways.target,
                spares_git=place.new_names in _OF_GIT,
            )
            insort(self._sinces, making.since)
            for name in names or (_ANYWHERE,):
                self._places[name] = kept(self._places.get(name, []), making)
            if (maker.links.below or place.tree) and making.place:
                self._note_behind_links(making)

    def _note_behind_links(self, making: PossibleLink) -> None:
        """Add the places behind links that are in a written folder already.

        What is written there is written where these links lead.
        """
        if making.sources and not any(map(self._holds_links, making.sources)):
            return
        for link in self._links_in(making):
            target = self._on_disk(link)
            name = _ANYWHERE if target is None else path_key(target)
            behind = replace(
                making, at=target is None, sources=NOT_KNOWN, names=NOT_KNOWN, spares_git=False
            )
            if target != link:
                self._places[name] = kept(self._places.get(name, []), behind)

    def _links_in(self, making: PossibleLink) -> Sequence[str]:
        """Return paths in a written folder that may be links on the disk, as far as is known."""
        if making.names:
            first = {glob.removeprefix(f"{ANY_DEPTH}/").split("/")[0] for glob in making.names}
            return [posixpath.join(making.place, name) for name in first if not _is_glob(name)]
        if self._paths.look is None:
            return ()
        seen = self._paths.look(
            DiskQuery(place=making.place, spelled=making.place, tree=True, follow_links=True)
        )
        return () if seen is None else seen.linked_paths

    def _sources(self, maker: Invocation, here: PathContext) -> tuple[str, ...] | None:
        """Return the files a command copies or moves, as absolute paths; None where unknown."""
        found: list[str] = []
        for effect in maker.effects:
            if effect.verb != "reads":
                continue
            if effect.word is None or not effect.word.known or len(found) == MOST:
                return None
            path = read_path(effect.word.file_name, here)
            if isinstance(path, Unreadable):
                return None
            found.append(path.lexical)
        return tuple(found) or None

    def _resolved(self, path: str, command: SimpleCommand) -> str | None:
        """Follow the links of a path; None if an earlier command may have created one in it."""
        self._left -= 1
        if self._left < 0:
            return None
        if self._is_met(self._places.get(_ANYWHERE, ()), command, ()):
            return None
        names = [name for name in path.split("/") if name]
        spelled = real = "/"
        for place in range(len(names) + 1):
            if place:
                spelled = posixpath.join(spelled, names[place - 1])
                real = posixpath.join(real, names[place - 1])
            rest = tuple(names[place:])
            for name in {path_key(spelled), path_key(real)}:
                if name in self._places and self._is_met(self._places[name], command, rest):
                    return None
            followed = self._on_disk(real)
            if followed is None or self._leads_to_change(real, followed, rest, command):
                return None
            real = followed
        return real

    def _leads_to_change(
        self, link: str, target: str, rest: tuple[str, ...], command: SimpleCommand
    ) -> bool:
        """Return whether a link on the disk may lead over a path that may be another link by then.

        Where it leads now is known, and not over which other links: if a folder in which links may
        be made holds some already, they may be on the way.
        """
        if link == target:
            return False
        names = [name for name in target.split("/") if name]
        for end in range(len(names) + 1):
            key = path_key("/" + "/".join(names[:end]))
            further = (*names[end:], *rest)
            if key in self._places and self._is_met(self._places[key], command, further):
                return True
        return any(
            not f"{place}/".startswith(f"{path_key(link)}/")
            and self._is_met(makings, command, ANY_NAME)
            and any(self._holds_links(making.place) for making in makings)
            for place, makings in self._places.items()
        )

    def _may_link_below(self, folder: str, command: SimpleCommand) -> bool:
        """Return whether something below a folder may have become a link before a command."""
        below = path_key(folder).rstrip("/") + "/"
        return any(
            self._is_met(makings, command, ANY_NAME)
            for place, makings in self._places.items()
            if place == _ANYWHERE or f"{place}/".startswith(below) or below.startswith(f"{place}/")
        )

    def _is_met(
        self, makings: Sequence[PossibleLink], command: SimpleCommand, rest: tuple[str, ...]
    ) -> bool:
        for making in makings:
            own = making.by is command and not making.again
            before = making.since < command.number or command.inside or self._scripts > 1
            if (
                before
                and not own
                and (making.at or rest)
                and is_named(making.names, rest)
                and not is_spared(making, rest)
                and (not making.sources or self._carries(making, rest))
            ):
                return True
        return False

    def _carries(self, making: PossibleLink, rest: tuple[str, ...]) -> bool:
        """Return whether there may be a link at the source of a copy, on the way to `rest`."""
        if rest is ANY_NAME:
            return any(map(self._holds_links, making.sources))
        return any(
            self._leads_off(source, each, making.by)
            for source in making.sources
            for each in _below(source, rest)
        )

    def _leads_off(self, source: str, rest: tuple[str, ...], by: SimpleCommand) -> bool:
        folder = self._resolved(posixpath.dirname(source), by)
        if folder is None:
            return True
        place = posixpath.join(folder, posixpath.basename(source), *rest)
        return self._resolved(place, by) != place

    def _holds_links(self, source: str) -> bool:
        """Return whether there may be a link at or below the copied files."""
        if self._paths.resolve is None:
            return False
        place = self._paths.resolve(source)
        if place != source or self._paths.look is None:
            return True
        seen = self._paths.look(
            DiskQuery(place=place, spelled=source, tree=True, follow_links=True)
        )
        return seen is None or not seen.complete or bool(seen.linked_paths)

    def _on_disk(self, path: str) -> str | None:
        return path if self._paths.resolve is None else self._paths.resolve(path)


# What git itself writes: it refuses a `.git` in any folder.
_OF_GIT = frozenset({"stored", "patched"})
# The key of links that may be anywhere; no file has this name.
_ANYWHERE = ""


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


def _folders(command: SimpleCommand, changed: tuple[Word, ...]) -> tuple[str, ...] | None:
    if command.folders is None or not all(word.known for word in changed):
        return None
    return (*command.folders, *(word.file_name for word in changed))


def _is_folder(word: Word | None) -> bool:
    return word is not None and word.text.endswith("/")


def _program(label: str) -> str:
    return label.partition(" ")[0]


def _below(source: str, rest: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the former path of a file now at `rest`, in the target or in a copied folder."""
    yield rest
    if rest and rest[0] == posixpath.basename(source):
        yield rest[1:]
