"""Options that a command takes back: `--dry-run --no-dry-run`, `--ignore-scripts=false`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from policy.programs.arguments.items import Item, OperandItem, OptionItem, option_names
from policy.programs.profiles.profile import Option, Profile

# Values that switch an option off, of those that need none.
_OFF = frozenset({"false", "no", "off", "none", "0", "f"})
_NEGATIVE = "no-"


def is_switched_off(item: OptionItem) -> bool:
    """Return whether the value of an option that needs none switches it off."""
    if item.option is None or item.value is None:
        return False
    if item.option.takes == "nothing":
        return item.value.text.lower() in _OFF
    # Elsewhere `0` is an amount.
    return item.option.takes == "glued" and item.value.text.lower() in _OFF - {"0", "f"}


def overridden(items: Sequence[Item], profile: Profile) -> tuple[bool | None, ...]:
    """Return for each item whether a later one takes it back; None if a later word may do so."""
    later: set[str] = set()
    unclear = False
    found: list[bool | None] = []
    for item in reversed(items):
        if not isinstance(item, OptionItem) or item.option is None:
            unclear = unclear or (isinstance(item, OperandItem) and item.may_be_option)
            found.append(False)
            continue
        opposites = set(_opposites(item.option))
        if not later.isdisjoint(opposites):
            found.append(True)
        else:
            negatable = unclear and not profile.options.keys().isdisjoint(opposites)
            found.append(None if negatable else False)
        later |= opposites if is_switched_off(item) else {*item.option.spellings}
        later |= _overridden_by(item.option, profile)
    return tuple(reversed(found))


def standing_options(items: Sequence[Item], overridden: Sequence[bool | None]) -> set[str]:
    """Return the names of the options that count, as variants use them."""
    return {
        name
        for item, taken_back in zip(items, overridden, strict=True)
        if isinstance(item, OptionItem) and not taken_back and not _is_off_flag(item)
        for name in option_names(item)
    }


def perhaps_switched_off(items: Sequence[Item]) -> tuple[OptionItem, ...]:
    """Return the flags before a word `false`, which some programs take for their value."""
    return tuple(
        one
        for one, other in pairwise(items)
        if isinstance(one, OptionItem)
        and isinstance(other, OperandItem)
        and one.option is not None
        and one.option.takes == "nothing"
        and one.spelled.startswith("--")
        and other.word.text.lower() == "false"
    )


def _is_off_flag(item: OptionItem) -> bool:
    return item.option is not None and item.option.takes == "nothing" and is_switched_off(item)


def _opposites(option: Option) -> Iterator[str]:
    """Yield the spellings that take an option back, and what stands for them."""
    yield f"!{option.name}"
    for spelling in option.spellings:
        if spelling.startswith("--"):
            stem = spelling[2:]
            positive = stem.removeprefix(_NEGATIVE)
            yield f"--{positive}" if positive != stem else f"--{_NEGATIVE}{stem}"


def _overridden_by(option: Option, profile: Profile) -> set[str]:
    return {
        f"!{each.name}"
        for rule in profile.overrides
        if any(one.name == option.name for one in rule.given)
        for each in rule.implied
    }
