"""Options and operands of a command with their meaning, and the effects they have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from policy.programs.arguments.argv import (
    MAIN_MODULE,
    Item,
    OperandItem,
    OptionItem,
    ParsedArguments,
    operand_roles,
    option_names,
)
from policy.programs.arguments.exclusions import exclusions_of, is_steered_by_variable
from policy.programs.arguments.http_redirects import REDIRECTING, redirect_target
from policy.programs.arguments.link_following import followed_links, kept_links
from policy.programs.arguments.operand_roles import argv_start, becomes_a_word, possible_roles
from policy.programs.arguments.searches import (
    found_paths,
    named_placeholders,
    printed_names,
    printed_paths,
    reads_null_separated,
    reads_words,
)
from policy.programs.effects import CommandEffects
from policy.programs.found_paths import NOT_SEARCHED, FoundPaths, Search
from policy.programs.invocation import CommandEffect, GivenOperand, GivenOption
from policy.programs.placeholders import Placeholders
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.roles import PROGRAMS, bare_role, leads_elsewhere, verbs_of_role
from policy.programs.words.approximate_paths import note_suffixes
from policy.programs.words.copy_destination import copied_file_name
from policy.programs.words.forwarded import may_load_code
from policy.programs.words.pathspecs import COMPARED, HISTORY, may_leave_repository
from policy.programs.words.possible_code import may_be_code
from policy.programs.words.roles import note_input, note_text, note_word
from policy.programs.words.typed_input import has_input, may_be_typed
from policy.shell import Word
from policy.values import quote

# Options whose words are a command that is fully known: `find -exec`, `fd -x`.
_SPELLED_COMMANDS = frozenset({"argv-until", "argv-more..."})

# Roles of folders that the paths of other words are relative to.
_MOVING = frozenset({"folder", "read-folder", "project-folder", "members", "members-write"})

# Characters that never occur in the name of a package script.
_PATH_LIKE = frozenset("./=")
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*=")

# Roles of a target that may be a folder into which files are put.
_INTO = frozenset({"write-into", "write-into-parents"})


class ArgumentUsage:
    """Gathers one command's options and operands; their effects are recorded in `effects`.

    `runs_module`: the words after an option belong to the program that it names (`python -m pip`).
    """

    def __init__(self, effects: CommandEffects) -> None:
        self.effects = effects
        self.options: list[GivenOption] = []
        self.operands: list[GivenOperand] = []
        self.runs_module = False

    def take(self, profile: Profile, parts: ParsedArguments) -> None:
        """Record everything that a command does by the profile of its program or subcommand."""
        options = [item for item in parts.items if isinstance(item, OptionItem)]
        given: set[str] = set().union(*map(option_names, options))
        before = len(self.effects.found)
        self.effects.profile = profile
        parts = _with_variants(parts, profile, given)
        roles = self._note_words(parts, operand_roles(profile, given), profile)
        self._whole(profile, given, roles=roles)
        effects = self.effects
        if parts.uncertain or parts.splitting:
            self._note_possible_folders(profile)
        if effects.suffixes:
            note_suffixes(effects)
        self._choose(profile, parts.items, before)
        self._leave_out(profile, parts.items, before)
        self._keep_links(profile, parts.items, before)
        follows = followed_links(profile, parts.items)
        if follows != "always":
            found = effects.found
            found[before:] = [
                replace(each, follows=follows == "written" and each.verb == "writes")
                if each.tree and each.follows
                else each
                for each in found[before:]
            ]
        effects.found += redirect_target(effects.redirects, effects.found, effects.name)

    def _leave_out(self, profile: Profile, items: Sequence[Item], before: int) -> None:
        """Record which names the program skips in the trees that it reads."""
        left = exclusions_of(profile, items)
        if left is None or is_steered_by_variable(self.effects):
            return
        self.effects.found[before:] = [
            replace(each, exclusions=left) if each.tree and each.verb == "reads" else each
            for each in self.effects.found[before:]
        ]

    def _keep_links(self, profile: Profile, items: Sequence[Item], before: int) -> None:
        """Record at which links below its trees the program does not write through."""
        globs = kept_links(profile, items)
        if globs:
            self.effects.found[before:] = [
                replace(each, kept_links=globs) if each.tree and each.verb == "writes" else each
                for each in self.effects.found[before:]
            ]

    def _choose(self, profile: Profile, items: Sequence[Item], before: int) -> None:
        """Narrow the trees that a search deletes to the names that it matches."""
        found = found_paths(items, profile)
        if found.name == "*":
            return
        for place in range(before, len(self.effects.found)):
            effect = self.effects.found[place]
            if effect.verb == "writes" and effect.tree and effect.word and effect.word.known:
                chosen = replace(found, root=effect.word.text).word()
                if chosen.shape == "glob" and not effect.word.home:
                    self.effects.found[place] = replace(effect, word=chosen)

    def note_argument_files(self, program: str, words: Sequence[Word]) -> None:
        """Record that words may come from a file, where a word `@FILE` stands for its contents."""
        if any(word.text.startswith("@") for word in words):
            self.effects.may_do_anything(f"words of `{program}` are in a file")

    def note_options(self, profile: Profile, parts: ParsedArguments) -> None:
        """Record the options before a subcommand."""
        for item in parts.items:
            if isinstance(item, OptionItem):
                self._note_option(item, profile, found=NOT_SEARCHED, placeholders=None)

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
        possible = _possible(items, roles, [item.word for item in operands])
        runs_found = any(isinstance(item, OptionItem) and item.words for item in items)
        placeholders = named_placeholders(items) if runs or runs_found else None
        found = NOT_SEARCHED
        if runs_found:
            found = found_paths(items, profile, steered=is_steered_by_variable(self.effects))
        elif runs and self.effects.command.fed_by:
            found = self._handed_on(items)
        taken = iter(possible)
        may_be_value = False
        for item in items:
            if isinstance(item, OptionItem):
                self._note_option(item, profile, found=found, placeholders=placeholders)
                may_be_value = _may_take_next(item)
            else:
                self._note_operand(item, next(taken), profile, aside=may_be_value)
                may_be_value = False
        if runs or any(item.may_be_option for item in operands):
            self._note_uncertain_operands(operands, profile, runs=runs)
        if not _INTO.isdisjoint(roles):
            self._write_into([item.word for item in operands])
        if runs:
            self.effects.run_words(runs, words, option="", placeholders=placeholders, found=found)
            if not (self.effects.inner or self.effects.gaps):
                runs = ""  # `env A=b` runs nothing
        return _certain_roles(operands, possible) | ({runs} - {""})

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
            )
        )
        if profile.means:
            self._note_meant_option(item.word, profile)

    def _note_uncertain_operands(
        self, operands: list[OperandItem], profile: Profile, *, runs: str
    ) -> None:
        """Record what operands would do that may be options or several words."""
        if runs and any(item.may_be_option or item.word.many for item in operands):
            self.effects.gap(f"which command `{self.effects.name}` runs is not known")
        unsure = [item.word for item in operands if item.may_be_option]
        for folder_only in {_is_name(word) for word in unsure}:
            self._note_possible_options(profile, folder_only=folder_only)

    def _note_meant_option(self, word: Word, profile: Profile) -> None:
        """Record the option that an operand stands for."""
        if not word.known:
            return
        for glob, name in profile.means.items():
            if fnmatchcase(word.text, glob):
                option = profile.options.get(name)
                guarded = option is None or option.guarded
                self.options.append(GivenOption(name=name, guarded=guarded))
                if option is not None and option.text:
                    note_text(self.effects, option.role, option.text)

    def _note_possible_options(self, profile: Profile, *, folder_only: bool) -> None:
        """Record what unknown operands would do if they were options."""
        roles = {option.role for option in profile.options.values()}
        verbs = {verb for role in roles for verb in verbs_of_role(role)}
        if "remote" in roles:
            verbs.add("writes")  # where it is a folder
        why = f"a word of `{self.effects.name}` that only the shell knows may be an option"
        for verb in sorted(verb for verb in verbs if verb is not None):
            if folder_only and verb in ("reads", "writes"):
                spelled = Word("*", "glob", many=True)
                self.effects.found.append(CommandEffect(verb=verb, word=spelled, why=why))
            else:
                self.effects.unknown_access(verb, why)
        if None in verbs:
            self.effects.gap(why)

    def _note_possible_folders(self, profile: Profile) -> None:
        """Record that an unknown word may name another folder for all that is read and written."""
        if any(option.role in _MOVING for option in profile.options.values()):
            why = f"a word of `{self.effects.name}` that only the shell knows may name a folder"
            for verb in sorted({effect.verb for effect in self.effects.found}):
                self.effects.unknown_access(verb, why)

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
        for role, text in () if has_resource else without:
            note_text(effects, role, text)
        before = len(effects.found)
        for role, text in always:
            note_text(effects, role, text)
        # The program writes somewhere below the tree; the disk cannot show which files.
        effects.found[before:] = [
            replace(each, listed=True, follows=False) if each.tree and not each.sources else each
            for each in effects.found[before:]
        ]
        effects.unseen = effects.unseen or unseen
        if hides:
            effects.gap(f"`{effects.name}` may run commands that its words do not show")
        if stdin == "typed":
            if may_be_typed(effects.command):
                effects.gap(f"`{effects.name}` may run what is typed on its input")
        elif stdin == "given-code":
            if has_input(effects.command) and not roles - {"host", "connect"}:
                effects.gap(f"what `{effects.name}` runs from its input is not known")
        elif stdin != "text" and not _leaves_input(stdin, roles):
            self._note_standard_input(stdin)

    def _note_standard_input(self, role: str) -> None:
        """Record what the program does with standard input."""
        effects, command = self.effects, self.effects.command
        files = [
            one.target
            for one in command.redirections
            if one.op in ("<", "<>") and one.fd in (None, 0)
        ]
        if command.stdin is not None and not files:
            note_input(effects, role, command.stdin)
        elif role == "sql" and files and _is_file(files[-1]):
            # As with `-f`, a pattern has to spell it: `psql * < *`.
            effects.unseen = True
            self.options.append(GivenOption(name="<", guarded=True))
        elif role not in ("command", "code"):
            note_word(effects, role, Word("", "opaque"))
        elif files and files[-1].known and not files[-1].text.startswith(("/dev/", "/proc/")):
            effects.unseen = True
        else:
            effects.gap(f"what `{effects.name}` runs from its input is not known")


def _is_file(target: Word) -> bool:
    """Return whether a redirection names a file, and no device."""
    return target.shape != "opaque" and not target.text.startswith(("/dev/", "/proc/"))


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
    return word.shape != "glob" or any(fnmatchcase(end, word.text) for end in (";", "+", "{}"))


def _possible(
    items: Sequence[Item], roles: tuple[str, ...], words: Sequence[Word]
) -> list[tuple[str, ...]]:
    """Return the roles that each operand may have, by its position and by the other operands."""
    possible = possible_roles(items, roles)
    if len(words) == 1 and not _INTO.isdisjoint(roles):
        return [(*possible[0], roles[0])]
    if f"{COMPARED}..." in roles and may_leave_repository(words):
        return [(*each, "read-tree") for each in possible]
    if f"{COMPARED}..." in roles and len(words) == 1 and words[0].known:
        # One path is never compared with another one on the disk.
        return [(HISTORY,)]
    return possible


def _is_known_to(profile: Profile, option: str) -> bool:
    """Return whether a variant of the profile mentions an option."""
    return any(option in one.given or option in one.also for one in profile.variants)


def _certain_roles(
    operands: Sequence[OperandItem], possible: Sequence[tuple[str, ...]]
) -> set[str]:
    """Return the roles that some operand has, however many words globs and variables become.

    `grep -r r?` may be a pattern alone, and then searches the folder.
    """
    found: set[str] = set()
    for item, each in zip(operands, possible, strict=True):
        roles = {bare_role(role) for role in each}
        in_place_of_input = all(verbs_of_role(r) and not _goes_with_input(r) for r in roles)
        if becomes_a_word(item) and (len(roles) == 1 or in_place_of_input):
            found |= roles
    return found


def _leaves_input(stdin: str, roles: set[str]) -> bool:
    """Return whether some operands replace standard input."""
    if stdin in ("command", "code"):
        return any(verbs_of_role(role) and not _goes_with_input(role) for role in roles)
    return stdin in roles


def _goes_with_input(role: str) -> bool:
    """Return whether operands of a role leave the input to be run: hosts, and words for it."""
    return role.rstrip(".!") in ("host", "connect", "argument")


def _with_variants(parts: ParsedArguments, profile: Profile, given: set[str]) -> ParsedArguments:
    """Return the options with their meaning in the variants that hold."""
    if not profile.variants:
        return parts
    others = {
        name: option
        for variant in profile.variants
        if variant.options and variant.holds(given)
        for name, option in variant.options.items()
    }
    if not others:
        return parts
    items = tuple(
        item.with_option(others.get(item.option.name, item.option))
        if isinstance(item, OptionItem) and item.option
        else item
        for item in parts.items
    )
    return replace(parts, items=items)


def _named(items: Sequence[Item]) -> Word:
    """Return the program that the value of the last option names: `python -m pre_commit`."""
    values = [item.value for item in items if isinstance(item, OptionItem) and item.value]
    named = values[-1] if values else Word("", "opaque")
    return replace(named, text=named.text.removesuffix(MAIN_MODULE).replace("_", "-"))


def _is_name(word: Word) -> bool:
    """Return whether a word can only expand to names in the current folder with a fixed ending.

    Such a name has no slash, and neither has a part of it that is glued to an option.
    """
    return word.shape == "glob" and "/" not in word.text and not word.text.endswith("*")
