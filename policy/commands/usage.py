"""The options and operands of one command in; them by meaning, and their effects noted, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from policy.commands.argv import Item, OperandItem, OptionItem, Parts, operand_roles
from policy.commands.destination import written_into
from policy.commands.effects import Effects
from policy.commands.invocation import Effect, GivenOperand, GivenOption
from policy.commands.nested import common_root
from policy.commands.operand_places import argv_start, possible_roles
from policy.commands.profile import Profile
from policy.commands.roles import bare_role, touches
from policy.commands.word import Word

_INPUT = "runs what it is given as input"


class Usage:
    """What is gathered of one command's options and operands; effects go to `effects`."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.options: list[GivenOption] = []
        self.operands: list[GivenOperand] = []

    def take(self, profile: Profile, parts: Parts) -> None:
        """Note all that a command does by the profile of its program or subcommand."""
        given = {
            item.option.name
            for item in parts.items
            if isinstance(item, OptionItem) and item.option is not None
        }
        self.give_options(_varied(parts, profile, given), root=_root(parts, profile))
        operands = [item for item in parts.items if isinstance(item, OperandItem)]
        self._give_operands(operands, parts, operand_roles(profile, given), profile=profile)
        self._whole(profile, given, bare=not operands)

    def give_options(self, parts: Parts, *, root: str = "") -> None:
        """Note the options; `root` is what the paths begin with that are put into commands."""
        stand_in = _stand_in(parts)
        for item in parts.items:
            if isinstance(item, OptionItem):
                self._give_option(item, root=root, stand_in=stand_in)

    def _give_option(self, item: OptionItem, *, root: str, stand_in: str | None) -> None:
        effects, option = self.effects, item.option
        if option is None:
            self.options.append(GivenOption(name=item.spelled, spelled=item.spelled, unknown=True))
            effects.unclear(f"what `{effects.name} {item.spelled}` does is not known", runs=False)
            return
        guarded = option.guarded
        if item.words:
            effects.run_words(
                option.role, item.words, option=item.spelled, stand_in=stand_in, root=root
            )
        elif option.takes == "nothing":
            if option.text:
                effects.effect(option.role, option.text)
        elif item.value is not None:
            guarded = effects.add(option.role, item.value, option=item.spelled) or guarded
            for role, word in zip(option.more, item.more, strict=False):
                guarded = effects.add(role, word, option=item.spelled) or guarded
        self.options.append(
            GivenOption(name=option.name, value=item.value, guarded=guarded, spelled=item.spelled)
        )

    def _give_operands(
        self,
        operands: list[OperandItem],
        parts: Parts,
        roles: tuple[str, ...],
        *,
        profile: Profile,
    ) -> None:
        items: Sequence[Item] = parts.items
        start = argv_start(roles)
        if start is not None and len(operands) > start:
            words = tuple(item.word for item in operands[start:])
            operands = operands[:start]
            if any(item.may_be_option or item.word.many for item in operands):
                self.effects.gap(f"which command `{self.effects.name}` runs is not known")
            self.effects.run_words(
                roles[start], words, option="", stand_in=_stand_in(parts), root=""
            )
            items, roles = operands, roles[:start]
        unsure = [item.word for item in operands if item.may_be_option]
        wary = bool(unsure) and profile.has_guarded
        alone = len(operands) == 1 and "write-into" in roles
        for item, possible in zip(operands, possible_roles(items, roles), strict=True):
            self._give_operand(item, (*possible, roles[0]) if alone else possible, wary=wary)
            self._mean(item.word, profile)
        if "write-into" in roles:
            self._write_into([item.word for item in operands])
        for folder_only in {_is_name(word) for word in unsure}:
            self._fear_options(profile, folder_only=folder_only)

    def _give_operand(self, item: OperandItem, roles: tuple[str, ...], *, wary: bool) -> None:
        guarded = False
        for role in roles:
            harms = self.effects.add(bare_role(role), item.word)
            guarded = guarded or (harms and not role.startswith("place-"))
            guarded = guarded or role.removesuffix("...").endswith("!")
        may_be_option = wary and item.may_be_option
        self.operands.append(
            GivenOperand(word=item.word, guarded=guarded, may_be_option=may_be_option)
        )

    def _mean(self, word: Word, profile: Profile) -> None:
        """Note the option that an operand stands for."""
        if not word.known:
            return
        for glob, name in profile.means.items():
            if fnmatchcase(word.text, glob):
                option = profile.options.get(name)
                guarded = option is None or option.guarded
                self.options.append(GivenOption(name=name, guarded=guarded))

    def _fear_options(self, profile: Profile, *, folder_only: bool) -> None:
        """Note what operands would do that are options after all."""
        verbs = {verb for option in profile.options.values() for verb in touches(option.role)}
        why = f"a word of `{self.effects.name}` that is not known may be an option"
        for verb in sorted(verb for verb in verbs if verb is not None):
            if folder_only and verb in ("reads", "writes"):
                spelled = Word("*", "glob", many=True)
                self.effects.found.append(Effect(verb=verb, word=spelled, why=why))
            else:
                self.effects.not_known(verb, why)
        if None in verbs:
            self.effects.gap(why)

    def _write_into(self, words: list[Word]) -> None:
        """Note what is written where the last operand is a folder."""
        target = words[-1] if len(words) > 1 else Word(".")
        for word in words[:-1] or words:
            name = written_into(target, word)
            if name is not None:
                folder = self.effects.folder
                self.effects.found.append(
                    Effect(verb="writes", word=name, folder=folder, into=True)
                )

    def _whole(self, profile: Profile, given: set[str], *, bare: bool) -> None:
        """Note what a use of the program does whatever its operands are."""
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
        for role, text in (*without, *always) if bare else always:
            effects.effect(role, text)
        effects.unseen = effects.unseen or unseen
        if hides:
            effects.gap(f"`{effects.name}` may run commands that its words do not show")
        if bare and stdin != "text":
            self._take_input(stdin)

    def _take_input(self, role: str) -> None:
        """Note what is done with standard input."""
        effects, command = self.effects, self.effects.command
        files = [
            one.target
            for one in command.redirections
            if one.op in ("<", "<>") and one.fd in (None, 0)
        ]
        if command.stdin is not None and not files:
            effects.add_input(role, command.stdin)
        elif role not in ("command", "code"):
            effects.add(role, Word("", "opaque"))
        elif files and files[-1].known and not files[-1].text.startswith(("/dev/", "/proc/")):
            effects.unseen = True
        else:
            effects.gap(f"`{effects.name}` {_INPUT}")


def _varied(parts: Parts, profile: Profile, given: set[str]) -> Parts:
    """Return the options with what they do instead in the variants that hold."""
    others = {
        name: option
        for variant in profile.variants
        if variant.options and variant.holds(given)
        for name, option in variant.options.items()
    }
    if not others:
        return parts
    items = tuple(
        replace(item, option=others.get(item.option.name, item.option))
        if isinstance(item, OptionItem) and item.option
        else item
        for item in parts.items
    )
    return replace(parts, items=items)


def _is_name(word: Word) -> bool:
    """Tell whether a word can only be names of files in the folder, with something at the end.

    What is then glued to an option has no slash, and is such a name too.
    """
    return word.shape == "glob" and "/" not in word.text and not word.text.endswith("*")


def _stand_in(parts: Parts) -> str | None:
    """Return what unknown words are put in the place of, if an option says so."""
    for item in parts.items:
        if isinstance(item, OptionItem) and item.option and item.option.role == "placeholder":
            return (item.value.text if item.value else "") or "{}"
    return None


def _root(parts: Parts, profile: Profile) -> str:
    """Return what the paths begin with that a command finds."""
    words = tuple(item.word for item in parts.items if isinstance(item, OperandItem))
    if words:
        return common_root(words)
    return next((text for role, text in profile.bare if role == "read-tree"), "")
