"""Which names a command excludes below the folders that it reads.

An option that excludes names counts where its meaning is certain: names without slashes, of plain
letters, `*` and `?`. One that includes names counts for everything that it may mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from policy.model import Exclusions
from policy.programs.arguments.file_types import FILE_TYPES
from policy.programs.arguments.items import Item, OperandItem, OptionItem, option_names
from policy.programs.effects import CommandEffects
from policy.programs.profiles.profile import Profile
from policy.shell import Word

_PLAIN = re.compile(r"[A-Za-z0-9_.*?][A-Za-z0-9_.*?~-]*")
_BRACES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
_BACK = re.compile(r"!|[^ ]* ")
_ENDING = re.compile(r"\*[A-Za-z0-9_.]+")
_NOTHING = Exclusions()


def is_portable_glob(glob: str) -> bool:
    """Return whether every program interprets a glob of names alike."""
    return _PLAIN.fullmatch(glob) is not None


def exclusions_of(profile: Profile, items: Sequence[Item]) -> Exclusions | None:
    """Return what is skipped below folders; None if nothing is, or a word may be any option."""
    given: set[str] = set()
    for item in items:
        if isinstance(item, OptionItem):
            if item.loose or item.option is None:
                return None
            names = option_names(item)
            given |= names | {f"{name}*2" for name in names & given}
        elif item.may_be_option:
            return None
    hidden = _hides(profile, given)
    named = _Named()
    for item in items:
        if isinstance(item, OperandItem):
            named.operands = True
        elif item.option is not None and not named.note(item):
            return None
    left = Exclusions(
        hidden=hidden,
        may_show_hidden=hidden,
        included=tuple(named.kept),
        all_others=named.others is True,
        files=tuple(named.files),
        folders=tuple(named.folders),
    )
    return None if left == _NOTHING else left


def is_steered_by_variable(effects: CommandEffects) -> bool:
    """Return whether a variable of a command may change what its program does."""
    roles = map(effects.profiles.variable_set, effects.command.assignments)
    return any(role not in (None, "harmless") for role in roles)


def _hides(profile: Profile, given: set[str]) -> bool:
    found = profile.leaves_out
    for variant in profile.variants:
        if variant.leaves_out is not None and variant.holds(given):
            found = variant.leaves_out
    return found == "hidden"


class _Named:
    """The names in options; `others`: files that none of the options names are read too."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.files: list[str] = []
        self.folders: list[str] = []
        self.others: bool | None = None
        self.operands = False

    def note(self, item: OptionItem) -> bool:
        """Record an option; return whether it is certain enough to skip anything."""
        role = item.option.role if item.option is not None else ""
        if role not in NAMING:
            return True
        text = item.value.text if item.value is not None and item.value.known else None
        match role:
            case "only-files":
                self.kept += _only(item.value)
                self.others = True if self.others is None else self.others
            case "only-type":
                return self._type(text)
            case "leaves-glob":
                return text is not None and self._glob(text)
            case _:
                return self._leaves(role, text)
        return True

    def _leaves(self, role: str, text: str | None) -> bool:
        if role == "leaves-files":
            # If the first option excludes something, files that no option names are read.
            self.others = False if self.others is None else self.others
        if text is None or not is_portable_glob(text):
            # rsync clears its list at a `!`, and includes what follows `+ `.
            return role != "leaves" or (text is not None and not _BACK.match(text))
        if role == "leaves-after" and self.operands:
            return True
        if role != "leaves-folders":
            self.files.append(text)
        if role != "leaves-files":
            self.folders.append(text)
        return True

    def _type(self, text: str | None) -> bool:
        globs = FILE_TYPES.get(text or "")
        if globs is None:
            return False
        self.kept += globs
        self.others = True
        return True

    def _glob(self, text: str) -> bool:
        """Record a glob of `rg`: its matches are read even if hidden, unless it begins with `!`."""
        if text.startswith("!"):
            name = text[1:].removeprefix("**/")
            if is_portable_glob(name.removesuffix("/")):
                self.folders.append(name.removesuffix("/"))
                self.files += [] if name.endswith("/") else [name]
            return True
        name = text.rstrip("/").rpartition("/")[2]
        braces = _BRACES.fullmatch(text.rstrip("/"))
        names = [name]
        if braces is not None:
            spelled = [f"{braces[1]}{each}{braces[3]}" for each in braces[2].split(",")]
            names = [each.rpartition("/")[2] for each in spelled]
        if "**" in names or not all(is_portable_glob(each) for each in names):
            return False
        self.kept += names
        self.others = True
        return True


def _only(value: Word | None) -> tuple[str, ...]:
    """Return globs of the only names that a program reads when it gets this value."""
    text = value.text if value is not None else ""
    if value is None or value.shape == "opaque":
        return ("*",)
    if value.shape == "glob":
        # No file has such a name, or each has one with the same ending.
        return (text,) if _ENDING.fullmatch(text) else ("*",)
    braces = _BRACES.fullmatch(text)
    if braces is None:
        return (text,) if is_portable_glob(text) else ("*",)
    # Some programs treat braces as ordinary characters.
    names = [f"{braces[1]}{each}{braces[3]}" for each in braces[2].split(",")]
    letters = "".join("?" if char in "{,}" else char for char in text)
    return (
        (*names, letters) if all(is_portable_glob(each) for each in (*names, letters)) else ("*",)
    )


NAMING = frozenset(
    {
        "only-files", "only-type", "leaves", "leaves-after", "leaves-files", "leaves-folders",
        "leaves-glob",
    }
)  # fmt: skip
