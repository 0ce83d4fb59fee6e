"""The resources that a call accesses, as its arguments and commands spell them.

An access is parsed as a path, a host or a recipient only when a rule needs its verb.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from policy.evaluation.disk_view import GlobMeaning, glob_of
from policy.programs import CommandEffect, Invocation, is_harmless_redirection
from policy.shell import Redirection, Word
from policy.values import ANY_DEPTH, escape_glob, quote

# Where an access comes from. A pattern of `runs only` that matches a command covers the effects of
# its arguments (`command`), and a redirection only if the pattern contains it.
Origin: TypeAlias = Literal["argument", "command", "redirection"]
Folders: TypeAlias = tuple[str, ...] | None

_UNKNOWN_FOLDER: Folders = None


class Access:
    """One accessed resource as written; `text` is None if unknown, and `why` is the reason.

    `tree`: with everything below it; `if_folder`: if it is a folder. `folders` are the earlier
    changes of the working directory, None where unknown. `names` is a glob of the names below a
    tree, if a wildcard names them, and `meant` the query for the disk, from `base` if that is
    another folder. `by` is the command that accesses it, `steps` the path of the argument in the
    input. `unseen`: the call does not show which resource it is, so that only `only` tests are
    affected. `redirected`: another host to which a program may be redirected. `by_inline_code`:
    code that the command spells out may access it. `open_path`: of a URL only the host is known,
    and not the whole path. `stored`: git shows what its repository holds under a path, and follows
    no link there. `split`: it is below the folder of the call, whose path the shell splits at
    blanks. `unless`: it is all of the repository that the folder belongs to, as in `CommandEffect`.

    Not changed after construction. (A plain class: a frozen dataclass of ten fields takes three
    times as long to create, and every call creates some.)
    """

    __slots__ = (
        "base", "by", "by_inline_code", "folders", "if_folder", "meant", "names", "open_path",
        "origin", "redirected", "split", "steps", "stored", "text",
        "tree", "unless", "unseen", "verb", "why",
    )  # fmt: skip

    def __init__(
        self,
        verb: str,
        text: str | None,
        *,
        why: str = "",
        tree: bool = False,
        names: str = "",
        origin: Origin = "argument",
        folders: Folders = (),
        by: Invocation | None = None,
        steps: tuple[str, ...] = (),
        unseen: bool = False,
        redirected: bool = False,
        by_inline_code: bool = False,
        open_path: bool = False,
        meant: GlobMeaning | None = None,
        base: str | None = None,
        stored: bool = False,
        split: bool = False,
        unless: tuple[str, ...] | None = None,
        if_folder: bool = False,
    ) -> None:
        self.verb = verb
        self.text = text
        self.why = why
        self.tree = tree
        self.names = names
        self.origin = origin
        self.folders = folders
        self.by = by
        self.steps = steps
        self.unseen = unseen
        self.redirected = redirected
        self.by_inline_code = by_inline_code
        self.open_path = open_path
        self.meant = meant
        self.base = base
        self.split = split
        self.stored = stored
        self.unless = unless
        self.if_folder = if_folder


_OF_GAPS = ("reads", "writes", "connects", "sends")
_SIGNS = {"reads": "<", "writes": ">"}


def accesses_of(command: Invocation, verb: str) -> Iterator[Access]:
    """Yield the accesses of one command: by options and operands, redirections and gaps."""
    for effect in command.effects:
        if effect.verb == verb and (effect.word is None or not effect.word.pipe):
            yield _effect(effect, command)
    sign = _SIGNS.get(verb)
    if sign is not None:
        for redirection in command.command.redirections:
            if sign in redirection.op and _is_file(redirection):
                yield _redirected(redirection, verb, command)
    if verb in _OF_GAPS:
        for gap in command.gaps:
            coded = gap in command.inline_code
            yield Access(verb, None, why=gap, origin="command", by=command, by_inline_code=coded)


def is_redirected(command: Invocation) -> bool:
    """Return whether a command accesses a file by a redirection."""
    return any(map(_is_file, command.command.redirections))


def _is_file(redirection: Redirection) -> bool:
    return not is_harmless_redirection(redirection) and not redirection.target.pipe


def _effect(effect: CommandEffect, command: Invocation) -> Access:
    verb, word = effect.verb, effect.word
    folders = command.command.folders
    if effect.folder:
        folders = folders_below(folders, effect.folder)
    files = verb == "reads" or verb == "writes"
    if word is not None and word.shape == "known":
        # The usual case, without another object.
        return Access(
            verb,
            word.file_name if files else word.text,
            tree=effect.tree,
            origin="command",
            folders=folders,
            by=command,
            unseen=effect.unseen,
            meant=_tree(effect) if effect.tree and files else None,
            stored=effect.stored,
            unless=None
            if effect.unless is None
            else tuple(word.file_name for word in effect.unless),
        )
    spelled = _Spelled(None, effect.why, effect.tree)
    meant = None
    site = _site(word) if verb == "connects" and word is not None else None
    if site is not None:
        spelled = _Spelled(site)
    elif word is not None and word.below_start is not None and files:
        # Wherever the command runs, it is the same path.
        spelled, folders = _Spelled(word.below_start, tree=effect.tree), ()
        meant = _tree(effect) if effect.tree else None
    elif word is not None:
        spelled = _spelled(word, command, tree=effect.tree, files=files)
        if word.shape == "glob" and files:
            meant = replace(
                glob_meaning(word, tree=effect.tree, follows=effect.follows, listed=effect.listed),
                exclusions=word.exclusions if word.recursive else effect.exclusions,
                new_names=effect.new_names,
            )
    return Access(
        verb,
        spelled.text,
        why=spelled.why,
        tree=spelled.tree,
        names=spelled.names,
        origin="command",
        folders=folders,
        by=command,
        unseen=effect.unseen,
        redirected=effect.redirected,
        open_path=site is not None,
        meant=meant,
        base=None if meant is None or word is None or word.shape != "glob" else glob_of(word)[0],
        split=word is not None and word.below_start is not None and word.many,
    )


def _site(word: Word) -> str | None:
    """Return the scheme and host of a URL whose end only the shell knows: `https://a.example/$X`.

    What follows the first slash of the path cannot change the host.
    """
    if word.shape != "opaque" or word.many or word.home:
        return None
    found = _SITE.match(word.text)
    return None if found is None else found[0]


_SITE = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?/")


def _tree(effect: CommandEffect) -> GlobMeaning:
    return GlobMeaning(
        tree=True,
        follow_links=effect.follows,
        listed=effect.listed,
        exclusions=effect.exclusions,
        new_names=effect.new_names,
        sources=effect.sources,
        kept_links=effect.kept_links,
    )


def glob_meaning(word: Word, *, tree: bool, follows: bool, listed: bool) -> GlobMeaning:
    """Return the query for the disk that a wildcard of a command stands for."""
    _, steps = glob_of(word)
    if word.recursive:
        steps = (ANY_DEPTH, *(steps[1:] or ("*",)))
    return GlobMeaning(
        steps=steps,
        tree=tree,
        follow_links=word.follow_links or (tree and follows),
        listed=listed,
        lenient=word.recursive,
    )


def _redirected(redirection: Redirection, verb: str, command: Invocation) -> Access:
    if redirection.target.below_start is not None:
        return Access(
            verb,
            redirection.target.below_start,
            origin="redirection",
            by=command,
            split=redirection.target.many,
        )
    spelled = _spelled(redirection.target, command, tree=False, files=True)
    globbed = redirection.target.shape == "glob"
    return Access(
        verb,
        spelled.text,
        why=spelled.why,
        tree=spelled.tree,
        names=spelled.names,
        origin="redirection",
        folders=command.command.folders,
        by=command,
        meant=glob_meaning(redirection.target, tree=False, follows=False, listed=False)
        if globbed
        else None,
        base=glob_of(redirection.target)[0] if globbed else None,
    )


def folders_below(folders: Folders, changed: tuple[Word, ...]) -> Folders:
    """Return the changes of the folder, with those that options make after them."""
    if folders is None or not all(word.known for word in changed):
        return _UNKNOWN_FOLDER
    return (*folders, *(word.file_name for word in changed)) if changed else folders


@dataclass(frozen=True, slots=True)
class _Spelled:
    text: str | None
    why: str = ""
    tree: bool = False
    names: str = ""


def _spelled(word: Word, command: Invocation, *, tree: bool, files: bool) -> _Spelled:
    """Return the path of a word: for a glob, the folder that it searches, with the names below."""
    if word.known:
        return _Spelled(word.file_name if files else word.text, tree=tree)
    if word.shape == "opaque":
        text = command.command.text
        shown = quote(word.text + "…") if word.text else f"a word of {quote(text)}"
        if command.command.inside[-1:] == ("xargs",):
            shown = f"{shown}, which `xargs` adds (`find … -print0 | xargs -0` shows its names),"
        return _Spelled(None, f"{shown} cannot be known before the shell runs it", tree)
    if not files:
        return _Spelled(_before_wildcard(word).literal, tree=tree)
    folder, names = searched_folder(word)
    return _Spelled(folder, tree=True, names=names)


@dataclass(frozen=True, slots=True)
class _Beginning:
    literal: str
    file_name: str


def _before_wildcard(word: Word) -> _Beginning:
    """Return the literal prefix of a glob, and the whole glob without escapes."""
    pieces: list[str] = []
    known: int | None = None
    text = word.text
    place = 0
    while place < len(text):
        char = text[place]
        if char == "\\" and place + 1 < len(text):
            place += 1
            char = text[place]
        elif char in "*?[" and known is None:
            known = len(pieces)
        pieces.append(char)
        place += 1
    beginning = "".join(pieces[:known])
    named = Word(beginning, "known", home=word.home)
    return _Beginning("".join(pieces), named.file_name)


def searched_folder(word: Word) -> tuple[str, str]:
    """Return the folder that a shell's glob searches, and a glob of the names wanted there."""
    folder, slash, _ = _before_wildcard(word).file_name.rpartition("/")
    folder, names = folder + slash or ".", _names(word)
    segments = names.split("/")
    going = segments[:-1] if word.text.rpartition("/")[2].startswith(_NO_FOLDER_ABOVE) else segments
    ups = [place for place, segment in enumerate(going) if _may_go_up(segment)]
    if not ups:
        return folder, names
    # In some shells `.*` and `.?` match `..` too, so the rest is searched for there.
    return posixpath.join(folder, *[".."] * len(ups)), "/".join(segments[ups[-1] + 1 :])


# The start of a glob of hidden files that does not match `..`.
_NO_FOLDER_ABOVE = ".[!."


def _may_go_up(segment: str) -> bool:
    """Return whether a segment of a glob from `_names` is or matches `..`."""
    return segment[:1] == "." and fnmatchcase("..", segment)


def _names(word: Word) -> str:
    """Return a shell's glob from its first segment with a wildcard on, with `?` for `[…]`."""
    pieces: list[str] = []
    start: int | None = None
    cut = place = 0
    text = word.text
    while place < len(text):
        char, width = text[place], 1
        if char == "\\" and place + 1 < len(text):
            width = 2
            char = text[place + 1]
            pieces.append(escape_glob(char))
        elif char == "[":
            # A `]` may be the first letter of the set. An unclosed set may match anything.
            end = text.find("]", place + (3 if text[place + 1 : place + 2] in ("!", "^") else 2))
            pieces.append("?" if end > 0 and "/" not in text[place:end] else "*")
            width = end + 1 - place if pieces[-1] == "?" else len(text) - place
            start = cut if start is None else start
        else:
            pieces.append(char)
            start = cut if start is None and char in "*?" else start
        if char == "/":
            cut = len(pieces)
        place += width
    return "" if start is None else "".join(pieces[start:])
