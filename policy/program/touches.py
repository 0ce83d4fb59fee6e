"""What a call touches, as it is spelled there: declared arguments and commands in, touches out.

A touch is read as a path, a host or a receiver only when a rule asks for its verb.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.commands import Effect, Invocation, Redirection, Word, is_harmless_redirection
from policy.values import quote

# Where a touch comes from. A pattern of `runs only` that spells a command covers what its words
# do (`command`), and a redirection only where it spells that too.
Origin: TypeAlias = Literal["argument", "command", "redirection"]
Folders: TypeAlias = tuple[str, ...] | None

_UNKNOWN_FOLDER: Folders = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One resource as spelled; `text` is None where it is not known, and `why` then says why.

    `tree`: with all below it. `folders` are what was changed to before, None where that is not
    known. `by` is the command that touches it, `steps` the place of the argument in the input.
    `unseen`: the call does not tell which, so that only `only` is touched by it.
    """

    verb: str
    text: str | None
    why: str = ""
    tree: bool = False
    origin: Origin = "argument"
    folders: Folders = ()
    by: Invocation | None = None
    steps: tuple[str, ...] = ()
    unseen: bool = False


def touches_of(command: Invocation) -> Iterator[Touch]:
    """Yield what one command touches: by its options and operands, redirections and gaps."""
    for effect in command.effects:
        yield _effect(effect, command)
    for redirection in command.command.redirections:
        if not is_harmless_redirection(redirection):
            yield from _redirected(redirection, command)
    for gap in command.gaps:
        for verb in ("reads", "writes", "connects", "sends"):
            yield Touch(verb=verb, text=None, why=gap, origin="command", by=command)


def _effect(effect: Effect, command: Invocation) -> Touch:
    folders = _below(command.command.folders, effect.folder)
    text, why, tree = None, effect.why, effect.tree
    if effect.word is not None:
        files = effect.verb in ("reads", "writes")
        text, why, tree = _spelled(effect.word, tree=tree, files=files)
    return Touch(
        verb=effect.verb,
        text=text,
        why=why,
        tree=tree,
        origin="command",
        folders=folders,
        by=command,
        unseen=effect.unseen,
    )


def _redirected(redirection: Redirection, command: Invocation) -> Iterator[Touch]:
    text, why, tree = _spelled(redirection.target, tree=False, files=True)
    for sign, verb in (("<", "reads"), (">", "writes")):
        if sign in redirection.op:
            yield Touch(
                verb=verb,
                text=text,
                why=why,
                tree=tree,
                origin="redirection",
                folders=command.command.folders,
                by=command,
            )


def _below(folders: Folders, changed: tuple[Word, ...]) -> Folders:
    if folders is None or not all(word.known for word in changed):
        return _UNKNOWN_FOLDER
    return (*folders, *(word.file_name for word in changed)) if changed else folders


def _spelled(word: Word, *, tree: bool, files: bool) -> tuple[str | None, str, bool]:
    """Return text, reason and tree of a word: a glob is the folder it looks in, with all below."""
    if word.known:
        return (word.file_name if files else word.text), "", tree
    if word.shape == "opaque":
        shown = quote(word.text + "…") if word.text else "a word"
        return None, f"{shown} cannot be known before the shell runs it", tree
    before = _before_wildcard(word)
    if not files:
        return before.literal, "", tree
    folder, slash, _ = before.file_name.rpartition("/")
    return folder + slash or ".", "", True


@dataclass(frozen=True, slots=True)
class _Beginning:
    literal: str
    file_name: str


def _before_wildcard(word: Word) -> _Beginning:
    """Return what a glob begins with, and all of it with its escapes taken away."""
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
