"""Options and operands of a command with their meaning, and the effects they have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from policy.programs.arguments.chosen_roles import INTO, certain_roles, roles_of_operands
from policy.programs.arguments.exclusions import is_steered_by_variable
from policy.programs.arguments.found_trees import narrow_found
from policy.programs.arguments.http_redirects import REDIRECTING, redirect_target
from policy.programs.arguments.items import (
    MAIN_MODULE,
    Item,
    OperandItem,
    OptionItem,
    ParsedArguments,
)
from policy.programs.arguments.operand_roles import argv_start
from policy.programs.arguments.overridden import (
    is_switched_off,
    overridden,
    perhaps_switched_off,
    standing_options,
)
from policy.programs.arguments.possible_options import (
    note_possible_folders,
    note_uncertain_operands,
)
from policy.programs.arguments.searches import (
    found_paths,
    named_placeholders,
    printed_names,
    printed_paths,
    reads_null_separated,
    reads_words,
)
from policy.programs.arguments.standard_input import note_standard_input
from policy.programs.arguments.variants import (
    operand_roles,
    with_option_of_one_operand,
    with_variants,
)
from policy.programs.arguments.whole_repository import (
    NamedPaths,
    named_paths,
    note_whole_repository,
)
from policy.programs.effects import CommandEffects
from policy.programs.found_paths import NOT_SEARCHED, FoundPaths, Search
from policy.programs.invocation import CommandEffect, GivenOperand, GivenOption
from policy.programs.placeholders import Placeholders
from policy.programs.profiles.profile import BEHIND_OPTIONS, Profile
from policy.programs.profiles.roles import PROGRAMS, bare_role, leads_elsewhere, verbs_of_role
from policy.programs.words.approximate_paths import note_suffixes
from policy.programs.words.copy_destination import copied_file_name
from policy.programs.words.forwarded import may_load_code
from policy.programs.words.possible_code import may_be_code
from policy.programs.words.roles import note_text, note_word
from policy.programs.words.separated_parts import has_parts
from policy.shell import Word
from policy.values import quote

# Options whose words are a command that is fully known: `find -exec`, `fd -x`.
_SPELLED_COMMANDS = frozenset({"argv-until", "argv-more..."})

_HERE = Word(".")
# Characters that never occur in the name of a package script.
_PATH_LIKE = frozenset("./=")
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*=")


class ArgumentUsage:
    """Gathers one command's options and operands; their effects are recorded in `effects`.

    `runs_module`: the words after an option belong to the program that it names (`python -m pip`).
    """

    def __init__(self, effects: CommandEffects) -> None:
        self.effects = effects
        self.options: list[GivenOption] = []
        self.operands: list[GivenOperand] = []
        self.runs_module = False
        self.paths = NamedPaths()
        # The items before the subcommand.
        self.above: tuple[Item, ...] = ()

    def take(self, profile: Profile, parts: ParsedArguments) -> None:
        """Record everything that a command does by the profile of its program or subcommand."""
        parts = with_option_of_one_operand(parts, profile)
        items = (*self.above, *parts.items)
        taken_back = overridden(items, profile)
        given = standing_options(parts.items, taken_back[len(self.above) :])
        before = len(self.effects.found)
        self.effects.profile = profile
        parts = with_variants(parts, profile, given)
        roles = self._note_words(parts, operand_roles(profile, given), profile)
        self._note_overridden(items, taken_back, profile)
        for role in self.paths.excluded:
            note_word(self.effects, role, _HERE)
        self._whole(profile, given, roles=roles)
        effects = self.effects
        if parts.uncertain or parts.splitting:
            note_possible_folders(effects, profile)
        if effects.suffixes:
            note_suffixes(effects)
        narrow_found(effects, profile, items=parts.items, before=before)
        effects.found += redirect_target(effects.redirects, effects.found, effects.name)

    def note_argument_files(self, program: str, words: Sequence[Word]) -> None:
        """Record that words may come from a file, where a word `@FILE` stands for its contents."""
        if any(word.text.startswith("@") for word in words):
            self.effects.may_do_anything(f"words of `{program}` are in a file")

    def note_options(self, profile: Profile, parts: ParsedArguments) -> None:
        """Record the options before a subcommand."""
        for item in parts.items:
            if isinstance(item, OptionItem):
                self._note_option(item, profile, found=NOT_SEARCHED, placeholders=None)
        self.above += parts.items

    def _note_overridden(
        self, items: Sequence[Item], overridden: Sequence[bool | None], profile: Profile
    ) -> None:
        """Record which options later words take back, also those before the subcommand."""
        doubtful = perhaps_switched_off(items)
        taken_back = [
            item
            for item, each in zip(items, overridden, strict=True)
            if each is not False or item in doubtful
        ]
        if not taken_back:
            return
        if any(item.option and _is_known_to(profile, item.option.name) for item in doubtful):
            self.effects.may_do_anything(
                f"whether `{doubtful[0].spelled}` is switched off is not known", runs=False
            )
        names = {
            (item.option.name, item.spelled)
            for item in taken_back
            if isinstance(item, OptionItem) and item.option
        }
        self.options = [
            replace(one, unsure=True) if (one.name, one.spelled) in names else one
            for one in self.options
        ]

    def _note_words(
        self, parts: ParsedArguments, roles: tuple[str, ...], profile: Profile
    ) -> set[str]:
        """Record options and operands in order; return the roles that operands surely have."""
        operands = [item for item in parts.items if isinstance(item, OperandItem)]
        items: Sequence[Item] = parts.items
        start = argv_start(roles)
        words: tuple[Word, ...] = ()
        runs = ""
        # A module that an option names runs even without operands.
        if start is not None and (len(operands) > start or roles[start] == "named-argv..."):
            ran, runs = operands[start:], roles[start]
            operands, roles = operands[:start], roles[:start]
            words = tuple(item.word for item in ran)
            items = [item for item in parts.items if item not in ran]
            if ran and any(isinstance(item, OptionItem) for item in _after(ran[0], parts.items)):
                # After an unknown word that may itself be an option, as in `busybox $x -rf a`.
                self.effects.gap(f"which command `{self.effects.name}` runs is not known")
            if runs == "named-argv...":
                self.runs_module = True
                words = (_named(items), *words)
        possible = roles_of_operands(items, roles, [item.word for item in operands])
        runs_found = any(isinstance(item, OptionItem) and item.words for item in items)
        placeholders = named_placeholders(items) if runs or runs_found else None
        found = NOT_SEARCHED
        if runs_found:
            found = found_paths(items, profile, steered=is_steered_by_variable(self.effects))
        elif runs and self.effects.command.fed_by:
            found = self._handed_on(items)
        self.effects.members += _download_folder(items, roles)
        taken = iter(possible)
        may_be_value = False
        for item in items:
            if isinstance(item, OptionItem):
                self._note_option(item, profile, found=found, placeholders=placeholders)
                may_be_value = _may_take_next(item)
            else:
                self._note_operand(item, next(taken), profile, aside=may_be_value)
                may_be_value = False
        self.paths = named_paths(operands, possible)
        if runs or any(item.may_be_option for item in operands):
            note_uncertain_operands(self.effects, operands, profile=profile, runs=runs)
        if not INTO.isdisjoint(roles):
            self._write_into([item.word for item in operands])
        if runs:
            self.effects.run_words(runs, words, option="", placeholders=placeholders, found=found)
            if not (self.effects.inner or self.effects.gaps):
                runs = ""  # `env A=b` runs nothing
        return certain_roles(operands, possible) | ({runs} - {""})

    def _handed_on(self, items: Sequence[Item]) -> FoundPaths:
        """Return the paths that a search passes on to the program by a pipe."""
        command, profiles = self.effects.command, self.effects.profiles
        if reads_null_separated(items):
            return printed_names(command.fed_by, profiles)
        budget = self.effects.nesting.budget
        if not (budget.plain_names and reads_words(items)):
            return NOT_SEARCHED
        line = (command.fed_by, *command.fed_before)
        found = printed_paths(line, profiles)
        if found != NOT_SEARCHED:
            budget.searches.append(Search(found, command))
        return found

    def _note_option(
        self,
        item: OptionItem,
        profile: Profile,
        *,
        found: FoundPaths,
        placeholders: Placeholders | None,
    ) -> None:
        effects, option = self.effects, item.option
        inner = len(effects.inner)
        if option is None:
            self.options.append(GivenOption(name=item.spelled, spelled=item.spelled, unknown=True))
            effects.may_do_anything(
                f"what `{effects.name} {item.spelled}` does is not known", runs=False
            )
            return
        guarded = option.guarded
        if option.role == "guarded":
            if not _is_known_to(profile, option.name):
                note_word(effects, option.role, item.value or Word(""), option=item.spelled)
        elif item.words:
            effects.run_words(
                option.role, item.words, option=item.spelled, placeholders=placeholders, found=found
            )
        elif option.role in REDIRECTING:
            effects.redirects.option(option.role, item.value, option.name)
        elif option.takes == "nothing":
            if option.text:
                note_text(effects, option.role, option.text)
        elif item.value is not None:
            if option.role == "members-write" and self.operands:
                effects.unknown_access(
                    "writes", f"`{effects.name}` changes its folder between operands"
                )
            guarded = note_word(effects, option.role, item.value, option=item.spelled) or guarded
            for role, word in zip(option.more, item.more, strict=False):
                guarded = note_word(effects, role, word, option=item.spelled) or guarded
        elif option.role != "suffix":
            # An optional value that is absent.
            note_text(effects, option.role, "?")
        self.options.append(
            GivenOption(
                name=option.name,
                value=item.value,
                guarded=guarded,
                spelled=item.spelled,
                changes_folder=leads_elsewhere(option.role, item.value),
                runs_words=len(effects.inner) > inner and _is_spelled_command(item),
                unsure=item.unsure,
                off=is_switched_off(item),
                parts=option.role if has_parts(option.role) else "",
            )
        )

    def _note_operand(
        self, item: OperandItem, roles: tuple[str, ...], profile: Profile, *, aside: bool
    ) -> None:
        guarded, effects = False, self.effects
        folder = effects.folder
        effects.folder = (*folder, *effects.members)
        before = self.operands[-1].word if self.operands else None
        effects.after_option = before is not None and before.text.startswith("-")
        script = any(bare_role(role) == "script" for role in roles)
        for role in roles:
            if bare_role(role) == "passed-on":
                harms = may_load_code(item.word, before)
                effects.passes_on = True
                if may_be_code(item.word, before):
                    harms = True
                    effects.may_do_anything(
                        f"`{effects.name}` may run {quote(item.word.text)} as a command or as code"
                    )
                named = before is None and item.word.text[:1] != "-"
                if not named or not _PATH_LIKE.isdisjoint(item.word.text):
                    # The first word may name a script; any later one may be a file.
                    note_word(effects, "argument", item.word)
            else:
                harms = note_word(effects, bare_role(role), item.word)
            guarded = guarded or (harms and not role.startswith("place-"))
            guarded = guarded or role.removesuffix("...").endswith("!")
        effects.folder = folder
        may_be_option = item.may_be_option and profile.has_guarded
        self.operands.append(
            GivenOperand(
                word=item.word,
                guarded=guarded,
                may_be_option=may_be_option,
                no_option=item.no_option,
                aside=aside or any(_is_aside(bare_role(role), item.word) for role in roles),
                script=script,
                parts=next(filter(has_parts, map(bare_role, roles)), ""),
            )
        )
        if profile.means:
            self._note_meant_option(item, profile)

    def _note_meant_option(self, item: OperandItem, profile: Profile) -> None:
        """Record the option that an operand stands for."""
        for glob, name in profile.means.items():
            behind = glob == BEHIND_OPTIONS and item.no_option
            if behind or (item.word.known and fnmatchcase(item.word.text, glob)):
                option = profile.options.get(name)
                guarded = option is None or option.guarded
                self.options.append(GivenOption(name=name, guarded=guarded))
                if option is not None and option.text:
                    note_text(self.effects, option.role, option.text)

    def _write_into(self, words: list[Word]) -> None:
        """Record the files that are written where the last operand is a folder."""
        target = words[-1] if len(words) > 1 else Word(".")
        for word in words[:-1] or words:
            name = copied_file_name(target, word)
            if name is not None:
                folder = self.effects.folder
                self.effects.found.append(
                    CommandEffect(verb="writes", word=name, folder=folder, into=True)
                )

    def _whole(self, profile: Profile, given: set[str], *, roles: set[str]) -> None:
        """Record the effects of a command that do not depend on its operands' values."""
        without, always, unseen = profile.bare, profile.always, profile.unseen
        hides, stdin = profile.hides, profile.stdin
        for variant in profile.variants:
            if variant.holds(given):
                without = variant.bare if variant.bare is not None else without
                always = variant.always if variant.always is not None else always
                unseen = variant.unseen if variant.unseen is not None else unseen
                hides = variant.hides if variant.hides is not None else hides
                stdin = variant.stdin if variant.stdin is not None else stdin
        effects = self.effects
        # `grep -r word` has an operand, but none that names a file.
        has_resource = bool(without) and any(verbs_of_role(role) for role in roles - PROGRAMS)
        folder = effects.folder
        effects.folder = (*folder, *effects.members)
        for role, text in () if has_resource else without:
            note_text(effects, role, text)
        effects.folder = folder
        before = len(effects.found)
        for role, text in always:
            note_text(effects, role, text)
        # The program writes somewhere below the tree; the disk cannot show which files.
        effects.found[before:] = [
            replace(each, listed=True, follows=False) if each.tree and not each.sources else each
            for each in effects.found[before:]
        ]
        alone = {role for role, _ in (*always, *(() if has_resource else without))}
        note_whole_repository(effects, profile, self.paths, roles=alone | roles, given=given)
        effects.unseen = effects.unseen or unseen
        if hides:
            effects.gap(f"`{effects.name}` may run commands that its words do not show")
        if note_standard_input(effects, stdin, roles=roles):
            # As with `-f`, a pattern has to spell it: `psql * < *`.
            self.options.append(GivenOption(name="<", guarded=True))


def _download_folder(items: Sequence[Item], roles: Sequence[str]) -> tuple[Word, ...]:
    """Return the folder of files that URLs name: `wget -P out`, `curl -O --output-dir out`."""
    if "fetched..." not in roles:
        return ()
    named = [
        item.value
        for item in items
        if isinstance(item, OptionItem) and item.option and item.option.role == "write-tree"
    ]
    return tuple(word for word in named[-1:] if word is not None)


def _may_take_next(item: OptionItem) -> bool:
    """Return whether an option has an optional value, which some programs also take apart."""
    return item.value is None and item.option is not None and item.option.takes == "glued"


def _is_aside(role: str, word: Word) -> bool:
    """Return whether a word may be an option or a setting of unseen code, or one target of some."""
    if role == "target":
        return True
    if role not in ("argument", "passed-on"):
        return False
    return word.text.startswith("-") or _SETTING.match(word.text) is not None


def _after(one: Item, items: Sequence[Item]) -> Sequence[Item]:
    return items[items.index(one) + 1 :]


def _is_spelled_command(item: OptionItem) -> bool:
    """Return whether the words of an option are one command, in which no word may end it.

    `find . -exec grep $x ';'` may become `-exec grep a ';' -delete -exec echo ';'`.
    """
    if item.option is None or item.option.role not in _SPELLED_COMMANDS:
        return False
    return not any(word.many and _may_end(word) for word in item.words)


def _may_end(word: Word) -> bool:
    if word.known:
        return False  # `{}`, which stands for all the names that are found
    return word.shape != "glob" or any(map(word.may_spell, (";", "+", "{}")))


def _is_known_to(profile: Profile, option: str) -> bool:
    """Return whether a variant of the profile mentions an option."""
    return any(option in one.given or option in one.also for one in profile.variants)


def _named(items: Sequence[Item]) -> Word:
    """Return the program that the value of the last option names: `python -m pre_commit`."""
    values = [item.value for item in items if isinstance(item, OptionItem) and item.value]
    named = values[-1] if values else Word("", "opaque")
    return replace(named, text=named.text.removesuffix(MAIN_MODULE).replace("_", "-"))
