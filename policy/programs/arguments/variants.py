"""Options and operands with the meaning that they have beside the options that are given."""

from __future__ import annotations

from dataclasses import replace

from policy.programs.arguments.items import OptionItem, ParsedArguments
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
