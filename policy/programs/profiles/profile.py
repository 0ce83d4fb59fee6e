"""`Profile`: how a program's options are spelled, and what options and operands do."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

# Roles that take this word and all words after it.
MANY_WORDS = frozenset(
    {
        "argv...", "argv-more...", "argv-until", "argv-until-there", "env-argv...",
        "named-argv...", "words-command...",
    }
)  # fmt: skip
# Words up to `;` or `+`: `find -exec`, `find -execdir`.
UNTIL_THE_END = frozenset({"argv-until", "argv-until-there"})

# How options are parsed: `gnu` accepts options anywhere, clusters `-rf` and unique prefixes of long
# names; `posix` is the same until the first operand; `words` has whole words with one dash (`find`,
# `java`), `listed` the same and only those listed (`echo`), `pairs` has `name=value` (`dd`).
Style: TypeAlias = Literal["gnu", "posix", "words", "listed", "pairs"]
Takes: TypeAlias = Literal["nothing", "value", "glued", "number"]
# Which of the written files may be links afterwards: `trees`: what it writes, with everything below
# it; `below`: only what is below; `made`: all, as it creates links; `carried`: all, as it copies
# existing links; `beside`: what is next to them; `never`: none.
Links: TypeAlias = Literal["trees", "below", "made", "carried", "beside", "never"]
# In which trees symbolic links are followed: in all, only in those that are written (`cp -r` writes
# through links of its target), in none.
Follows: TypeAlias = Literal["always", "written", "never"]

# What is skipped below folders that are read: names that begin with a dot, or nothing.
Leaves: TypeAlias = Literal["hidden", "nothing"]

# What is done, unless a path is named, with all of the repository that a folder belongs to.
WholeRepository: TypeAlias = Literal["reads", "writes", "nothing"]

# The spelling of an option that is a number: `head -5`, `git log -20`.
NUMBER = "-NUM"

# In `means`: an operand behind the word that ends the options.
BEHIND_OPTIONS = "--"

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionMention:
    """An option of an implication, by its canonical name.

    `value`: a glob of its value, empty for any; of an implied option the value that it then has,
    empty for that of the option which implies it. `times`: how often it is given; 0 if it is not.
    """

    name: str
    value: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Implication:
    """Options that together do what others do: `rsync -a` what `-r` and `-l` do."""

    given: tuple[OptionMention, ...]
    implied: tuple[OptionMention, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option. `name` is canonical: the last of its spellings.

    `takes`: a value that follows or is glued on, one that can only be glued on (`--color=auto`),
    digits that can only be glued on (`perl -l0`), or nothing. `role` is the effect of the value,
    see `roles`; `text` is the object of that effect where the option takes no value. `more` are the
    roles of further values (`jq --arg NAME VALUE`). `last`: the words after it are operands
    (`python -c`).
    """

    name: str
    spellings: tuple[str, ...]
    takes: Takes = "nothing"
    role: str = "text"
    guarded: bool = False
    text: str = ""
    more: tuple[str, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The differences if one of the options `given` is present; None means no difference.

    One of `given` may be spelled with its value, `-m=pip`, or with the modules below one,
    `-m=policy.*`. `also` requires one of others as well. `options` are the options with another
    meaning, by canonical name.
    """

    given: frozenset[str]
    also: frozenset[str] = frozenset()
    options: Mapping[str, Option] = field(default_factory=lambda: MappingProxyType({}))
    operands: tuple[str, ...] | None = None
    bare: tuple[tuple[str, str], ...] | None = None
    always: tuple[tuple[str, str], ...] | None = None
    unseen: bool | None = None
    hides: bool | None = None
    stdin: str | None = None
    links: Links | None = None
    links_at: tuple[str, ...] = ()
    follows_links: Follows | None = None
    kept_links: tuple[str, ...] = ()
    leaves_out: Leaves | None = None
    whole_repository: WholeRepository | None = None

    def holds(self, given: Set[str]) -> bool:
        """Return whether it applies, given the canonical names of the options."""
        return not self.given.isdisjoint(given) and not (self.also and self.also.isdisjoint(given))


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One program or subcommand.

    `operands` are roles by position; one that ends in `...` takes any number, and others may follow
    it. `bare` are the effects (role, text) of a command without operands, `always` those of any.
    `means` maps globs of operands to options that they stand for, `implies` are the options that do
    what others do, `overrides` those that take others back, `same` subcommands of subcommands to
    those that they are under another name. `alone` is the option that a single operand stands for,
    unless one of `alone_unless` is given.
    `stdin` is the role of standard input where there are no operands. `hides`: it may run commands
    that its words do not show.
    `free`: it needs no pattern of its own if everything that it runs is covered.

    `plus`: one-letter options may begin with `+` too, with another meaning (`set +e`).
    `at_options`: a word `@FILE` stands for the words in that file. `settings` are globs of harmless
    settings, for words with the role `config`.

    `siblings` are other programs with the same profile, each under its own name.

    `links`: what may be a link once it has run; with `links_at`, globs of paths below what it
    writes, only these are, with everything below them.

    `follows_links`: in which of its trees it follows symbolic links; `kept_links`, globs of paths
    below what it writes: there it leaves a link or replaces it. `leaves_out`: what it skips
    below its trees, unless an option overrides that. `uses_folder`: what it does depends on the
    folder that it runs in; None: if it runs unseen code. `prints_paths`: a search that prints the
    paths that it finds, one on each line, unless an option overrides that; `paths_with`: only with
    one of these options. `passes_lines`: without operands that name files it prints lines of its
    input as they are, with no other options than these. `only_reads`: what its words name it reads,
    though it also runs unseen code. `sources` are globs of
    the files that it writes below its trees of source files, `skipped` of the folders there that it
    does not enter, `outputs` of the paths that it creates somewhere below its output trees.

    `options` has an entry for each of their spellings, `subcommands` for each of their names.
    """

    name: str
    names: tuple[str, ...] = ()
    siblings: frozenset[str] = frozenset()
    style: Style = "gnu"
    options: Mapping[str, Option] = field(default_factory=lambda: MappingProxyType({}))
    operands: tuple[str, ...] = ()
    bare: tuple[tuple[str, str], ...] = ()
    always: tuple[tuple[str, str], ...] = ()
    variants: tuple[Variant, ...] = ()
    means: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    implies: tuple[Implication, ...] = ()
    overrides: tuple[Implication, ...] = ()
    same: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    alone: str = ""
    alone_unless: frozenset[str] = frozenset()
    subcommands: Mapping[str, Profile] = field(default_factory=lambda: MappingProxyType({}))
    settings: tuple[str, ...] = ()
    stdin: str = "text"
    bundled_first: bool = False
    plus: bool = False
    at_options: bool = False
    unseen: bool = False
    free: bool = False
    hides: bool = False
    links: Links = "trees"
    links_at: tuple[str, ...] = ()
    follows_links: Follows = "always"
    kept_links: tuple[str, ...] = ()
    leaves_out: Leaves = "nothing"
    whole_repository: WholeRepository = "nothing"
    uses_folder: bool | None = None
    prints_paths: bool = False
    only_reads: bool = False
    paths_with: frozenset[str] = frozenset()
    passes_lines: frozenset[str] | None = None
    sources: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    # Computed once, since every command needs them: whether some option is guarded, whether
    # operands may be a command, and whether an option takes a command up to `;`.
    has_guarded: bool = field(init=False, repr=False, compare=False)
    runs_operands: bool = field(init=False, repr=False, compare=False)
    runs_until_end: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        guarded = any(option.guarded for option in self.options.values())
        object.__setattr__(self, "has_guarded", guarded)
        listed = (self.operands, *(one.operands or () for one in self.variants))
        runs = any(role in MANY_WORDS for roles in listed for role in roles)
        object.__setattr__(self, "runs_operands", runs)
        ends = any(option.role in UNTIL_THE_END for option in self.options.values())
        object.__setattr__(self, "runs_until_end", ends)
