"""A command analysed by its program's profile: options, effects, inner commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.model import Exclusions
from policy.shell import SimpleCommand, Word

Verb: TypeAlias = Literal["reads", "writes", "connects", "sends"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOption:
    """An option of a command by its canonical name (`--output`, whether spelled `-o` or `--out`).

    `guarded`: it writes, runs or connects, so that no `*` of a pattern covers it. `spelled` is how
    it stands in the command; empty where an operand means it (`+main` means `--force`).
    `elsewhere`: it works by what stands in another folder. A pattern that only gives has to
    spell it; one that takes need not. `unknown`: the profile does not have it, or it is not known
    well enough to say which it is; `name` is then its spelling, and the next word may be its value.
    """

    name: str
    value: Word | None = None
    guarded: bool = False
    spelled: str = ""
    unknown: bool = False
    elsewhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOperand:
    """An operand. `guarded`: a program in itself, whose text writes, runs or connects.

    `may_be_option`: it is not known well enough (`$x`, `*.txt`) to tell it from an option that no
    `*` covers.
    """

    word: Word
    guarded: bool = False
    may_be_option: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One resource that a command touches, as spelled; to be read as a path, host or recipient.

    `word` is None where it is not known which; `why` then says why. `tree`: with all below it.
    `folder` is the folder that an option such as `-C` changed to before, as spelled. `unseen`: what
    the call does not tell, such as the host of a configured remote. `listed`: names and attributes
    alone are read, or it is not known which files below are touched. `follows`: symbolic links
    below a tree are followed. `left`: what is left out below it.
    `redirected`: another host that the program may be sent on to; `by` are the options that say so.
    """

    verb: Verb
    word: Word | None = None
    tree: bool = False
    folder: tuple[Word, ...] = ()
    why: str = ""
    into: bool = False
    unseen: bool = False
    listed: bool = False
    follows: bool = True
    left: Exclusions | None = None
    redirected: bool = False
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCreation:
    """What may be links after a command, with all below it; of places that stay, all `below`.

    `carried`: only if there were links in what it reads.
    """

    places: tuple[Effect, ...]
    carried: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One command of a script, with what its program's profile says of it.

    `program` is the canonical name without folder (`gsed` and `/bin/sed` are `sed`), followed by
    its subcommands (`("git", "stash", "pop")`); empty where the program is not known statically.
    `place` is the folder that the program's name is spelled with (`/bin`, `.`), empty if none.

    Without a profile (`profiled` False) `operands` holds all words after the program, `options`
    nothing, and every word may be a resource.

    `inner` are the commands it runs that are in sight, `gaps` reasons why others may run that
    are not, `unseen` says that it runs code. `free`: it needs no pattern when all it runs is
    covered. `links` tells what may be links once it has run.
    """

    command: SimpleCommand
    program: tuple[str, ...] = ()
    place: str = ""
    profiled: bool = False
    options: tuple[GivenOption, ...] = ()
    operands: tuple[GivenOperand, ...] = ()
    effects: tuple[Effect, ...] = ()
    inner: tuple[Invocation, ...] = ()
    gaps: tuple[str, ...] = ()
    unseen: bool = False
    free: bool = False
    links: LinkCreation | None = None

    def walk(self) -> Iterator[Invocation]:
        """Yield this command and all that it runs, outermost first."""
        yield self
        for command in self.inner:
            yield from command.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptAnalysis:
    """A script taken apart: its commands in order, and reasons why others may run out of sight."""

    commands: tuple[Invocation, ...]
    gaps: tuple[str, ...] = ()

    def walk(self) -> Iterator[Invocation]:
        """Yield every command in sight, those that others run included."""
        for command in self.commands:
            yield from command.walk()
