"""Options and operands with the meaning that they have beside the options that are given."""

from __future__ import annotations

from dataclasses import replace

from policy.programs.arguments.items import OperandItem, OptionItem, ParsedArguments, option_names
from policy.programs.patterns.wildcards import has_placeholder
from policy.programs.profiles.profile import Profile


def operand_roles(profile: Profile, given: set[str]) -> tuple[str, ...]:
    """Return the roles of operands when these options are present."""
    roles = profile.operands
    for variant in profile.variants:
        if variant.operands is not None and variant.holds(given):
            roles = variant.operands
    return roles


def with_variants(parts: ParsedArguments, profile: Profile, given: set[str]) -> ParsedArguments:
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


def with_option_of_one_operand(parts: ParsedArguments, profile: Profile) -> ParsedArguments:
    """Return the items with the option that a single operand stands for: `git config user.name`.

    Every word must be known: one that is not may be an option, or a second operand.
    """
    option = profile.options.get(profile.alone) if profile.alone else None
    if option is None:
        return parts
    operands = [item for item in parts.items if isinstance(item, OperandItem)]
    options = [item for item in parts.items if isinstance(item, OptionItem)]
    if len(operands) != 1 or not operands[0].word.known or has_placeholder(operands[0].word.text):
        return parts
    if any(item.option is None or (item.value and not item.value.known) for item in options):
        return parts
    given: set[str] = set().union(*map(option_names, options))
    if not profile.alone_unless.isdisjoint(given):
        return parts
    return replace(parts, items=(*parts.items, OptionItem(option, profile.alone)))
