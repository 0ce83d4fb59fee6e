"""`Profile`: how a program's options are spelled, and what options and operands do."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

# Roles that take this word and those after it.
MANY_WORDS = frozenset(
    {
        "argv...", "argv-more...", "argv-until", "env-argv...", "named-argv...",
        "words-command...",
    }
)  # fmt: skip

# How words are told apart: `gnu` takes options anywhere, clusters `-rf` and unique beginnings of
# long names; `posix` is the same until the first operand; `words` has whole words with one dash
# (`find`, `java`), `listed` the same and no others, however they begin (`echo`), `pairs` has
# `name=value` (`dd`).
Style: TypeAlias = Literal["gnu", "posix", "words", "listed", "pairs"]
Takes: TypeAlias = Literal["nothing", "value", "glued", "number"]
# Which of what a program writes may be links afterwards: what it writes with all below it, or only
# what is below; all, as it makes links; all, as it takes along links that there are; what stands
# beside; nothing.
Links: TypeAlias = Literal["trees", "below", "made", "carried", "beside", "never"]
# In which trees symbolic links that stand below are followed: in all, only in those that are
# written (`cp -r` writes through links of its target), in none.
Follows: TypeAlias = Literal["always", "written", "never"]

# What is passed over below folders that are read: names that begin with a dot, or nothing.
Leaves: TypeAlias = Literal["hidden", "nothing"]

# The spelling of an option that is a number: `head -5`, `git log -20`.
NUMBER = "-NUM"

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option. `name` is canonical: the last of its spellings.

    `takes` a value that follows or is glued on, one that can only be glued on (`--color=auto`),
    digits that can only be glued on (`perl -l0`), or nothing. `role` says what the value does, see
    `roles`; `text` is what it does it to where the option takes nothing. `more` are the roles of
    further values (`jq --arg NAME VALUE`). `last`: the words after it are operands (`python -c`).
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
    """What holds instead where one of the options `given` is there; None leaves it as it is.

    One of `given` may be spelled with its value, `-m=pip`. `also` asks for one of others besides.
    `options` are what options do then, by canonical name.
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
    follows_links: Follows | None = None
    leaves_out: Leaves | None = None

    def holds(self, given: Set[str]) -> bool:
        """Tell whether it holds with the options of these canonical names."""
        return not self.given.isdisjoint(given) and not (self.also and self.also.isdisjoint(given))


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One program or subcommand.

    `operands` are roles by place; one that ends in `...` takes any number, and others may follow
    it. `bare` holds effects (role, text) of a command without operands, `always` those of any.
    `means` maps globs of operands to options that they stand for. `stdin` is the role of standard
    input where there are no operands. `hides`: it may run commands that its words do not show.
    `free`: it needs no pattern of its own when all that it runs is covered.

    `plus`: options of one letter may begin with `+` too, and are then others (`set +e`).
    `at_options`: a word `@FILE` stands for the words in that file.
    `settings` are globs of what can be set without harm where a word has the role `config`.

    `siblings` are other programs of which the same is true, each under its own name.

    `follows_links` says in which of its trees it goes through the symbolic links that it meets.
    `leaves_out` says what it passes over below its trees, unless an option says otherwise.

    `options` are found by each of their spellings, `subcommands` by each of their names.
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
    follows_links: Follows = "always"
    leaves_out: Leaves = "nothing"
    # Found once, as they are asked for with every command: whether some option does harm, and
    # whether operands may be a command.
    has_guarded: bool = field(init=False, repr=False, compare=False)
    runs_operands: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        guarded = any(option.guarded for option in self.options.values())
        object.__setattr__(self, "has_guarded", guarded)
        listed = (self.operands, *(one.operands or () for one in self.variants))
        runs = any(role in MANY_WORDS for roles in listed for role in roles)
        object.__setattr__(self, "runs_operands", runs)
