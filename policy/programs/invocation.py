"""A command analysed by its program's profile: options, effects, inner commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from policy.model import Exclusions
from policy.programs.found_paths import Search
from policy.programs.program_file import ProgramFile
from policy.shell import SimpleCommand, Word

Verb: TypeAlias = Literal["reads", "writes", "connects", "sends"]
# The names of the files that a program creates below a tree that it writes: its own, those of the
# copied files, any that its input spells (an archive, a patch), those that git stores, and those of
# a patch that git applies. git writes no file below a `.git`.
NewNames: TypeAlias = Literal["own", "copied", "any", "stored", "patched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOption:
    """An option of a command by its canonical name (`--output`, whether spelled `-o` or `--out`).

    `guarded`: it writes, runs or connects, so that no `*` of a pattern covers it. `spelled` is its
    text in the command; empty where an operand stands for it (`+main` means `--force`).
    `runs_words`: it runs a command that its words spell, which needs a pattern of its own.
    `changes_folder`: it makes the program use another folder: a pattern that grants must spell it;
    one that restricts need not. `unknown`: the profile does not have it, or the word is not known
    well enough to identify it; `name` is then its spelling, and the next word may be its value.
    `unsure`: it may be the value of the option before it, whose own value may be no word, or later
    words may take it back. `off`: its value switches it off (`--dry-run=false`). `parts` is the
    role of a value that consists of parts, as `KEY=VALUE`.
    """

    name: str
    value: Word | None = None
    guarded: bool = False
    spelled: str = ""
    unknown: bool = False
    changes_folder: bool = False
    runs_words: bool = False
    unsure: bool = False
    off: bool = False
    parts: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOperand:
    """An operand. `guarded`: a program in itself, whose text writes, runs or connects.

    `script`: the name of a file that is run as code; `file` is that file, once the folder of the
    call is known.
    `may_be_option`: an unknown word (`$x`, `*.txt`) that may be an option which no `*` covers.
    `no_option`: it is none, as it stands behind all options: `-- "$x"`.
    `aside`: it may be an option or a setting for code that is not known, or one of several targets:
    a pattern that restricts matches the command without it, too. `parts` is the role of a word
    that consists of parts, as `src:dst`.
    """

    word: Word
    guarded: bool = False
    may_be_option: bool = False
    no_option: bool = False
    aside: bool = False
    script: bool = False
    parts: str = field(default="", compare=False)
    file: ProgramFile | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEffect:
    """One access of a command to a resource, as spelled; a path, host or recipient.

    `word` is None where the resource is not known; `why` is then the reason. `tree`: with
    everything below it. `folder` is the folder that an option such as `-C` changed to before, as
    spelled. `unseen`: the resource is not in the call, such as the host of a configured remote.
    `listed`: only names and attributes are read, or it is not known which files below are accessed.
    `follows`: symbolic links below a tree are followed. `exclusions`: the names skipped below it.
    `redirected`: another host that the program may be redirected to; `by` are the options that
    cause that. `working_folder`: the folder that the program works in, which no word names.
    `new_names`: which files below a written tree are new, see `NewNames`. `sources`: globs of the
    only names below it. `stored`: what a repository holds under this path; no link of the disk
    is followed. `kept_links`: globs of paths below a written tree at which a link is left or
    replaced, so that nothing is written through it. `unless`: it is all of the repository that the
    folder belongs to, if that begins above the folder and none of these words is a file there.
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
    exclusions: Exclusions | None = None
    redirected: bool = False
    by: tuple[str, ...] = ()
    working_folder: bool = False
    new_names: NewNames = "own"
    sources: tuple[str, ...] = ()
    stored: bool = False
    kept_links: tuple[str, ...] = ()
    unless: tuple[Word, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedWord:
    """A word that unseen code is given, and the folder that an option changed to before.

    `only_reads`: by its profile the program changes none of the files that its operands name.
    """

    word: Word
    folder: tuple[Word, ...] = ()
    only_reads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCreation:
    """The paths that may be links after a command, with everything below them.

    `below`: only the contents may be. `carried`: only if there were links in what it reads.
    `names`: globs of the paths below the places; if there are some, all others are no links.
    """

    places: tuple[CommandEffect, ...]
    names: tuple[str, ...] = ()
    carried: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One command of a script, analysed by its program's profile.

    `program` is the canonical name without folder (`gsed` and `/bin/sed` are `sed`), followed by
    its subcommands (`("git", "stash", "pop")`); empty where the program is not known. `place` is
    the folder that the program's name is spelled with (`/bin`, `.`), or the version in which it is
    fetched (`@5`); empty if none.

    Without a profile (`profiled` False) `operands` has all words after the program, `options` is
    empty, and every word may be a resource.

    `inner` are the nested commands that are known, `gaps` the reasons why it may run others, those
    in `inline_code` because of code in another language, all of which the command spells out.
    `unseen`: it runs code that is not in the call. `free`: it needs no pattern if everything that
    it runs is covered. `links` are the paths that may be links once it has run. `file` is the file
    of a program that is spelled as a path, once the folder of the call is known. `handed` are the
    words that code which nobody sees is given: it may write the files that they name. `passes_on`:
    words are passed on to code of which it is not known whether it runs them as a command.
    """

    command: SimpleCommand
    program: tuple[str, ...] = ()
    place: str = ""
    profiled: bool = False
    options: tuple[GivenOption, ...] = ()
    operands: tuple[GivenOperand, ...] = ()
    effects: tuple[CommandEffect, ...] = ()
    inner: tuple[Invocation, ...] = ()
    gaps: tuple[str, ...] = ()
    inline_code: frozenset[str] = frozenset()
    unseen: bool = False
    free: bool = False
    handed: tuple[HandedWord, ...] = ()
    passes_on: bool = False
    links: LinkCreation | None = None
    file: ProgramFile | None = field(default=None, compare=False, repr=False)

    def walk(self) -> Iterator[Invocation]:
        """Yield this command and its nested commands, outermost first."""
        yield self
        for command in self.inner:
            yield from command.walk()

    @property
    def only_unseen(self) -> bool:
        """Whether all that this command runs is unseen code."""
        if not self.inner:
            return self.unseen
        return (self.unseen or self.free) and all(one.only_unseen for one in self.inner)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptAnalysis:
    """An analysed script: its commands in order, and the reasons why it may run others.

    `concurrent`: some commands run beside others, here or in a nested script; `repeats`: some may
    run repeatedly, or later than their position. `searches` are those whose paths were taken to be
    words as they are, which the disk has to confirm.
    """

    commands: tuple[Invocation, ...]
    gaps: tuple[str, ...] = ()
    concurrent: bool = False
    repeats: bool = False
    searches: tuple[Search, ...] = ()

    def walk(self) -> Iterator[Invocation]:
        """Yield every known command, including nested ones."""
        for command in self.commands:
            yield from command.walk()
