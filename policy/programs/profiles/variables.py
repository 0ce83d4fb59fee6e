"""Environment variables: which are harmless, and which name files or run something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from policy.programs.profiles.faults import Faults
from policy.shell import Assignment, Word
from policy.values import quote

# `command`: its value is a command line; `code`: it makes programs load or run something;
# `folders`: a list of folders with code; `read` and `write`: it names a file; `searched`: one that
# is looked for in a folder of the system.
VariableRole: TypeAlias = Literal[
    "harmless", "command", "code", "folders", "read", "write", "searched"
]
_ROLES: tuple[VariableRole, ...] = get_args(VariableRole)
_VALUES = "values"
_KEYS = (*_ROLES, _VALUES)
_NO_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Variables:
    """Roles by exact name, and by glob of names in the order of the file.

    `values` are the globs of the words of which a value may consist to be harmless, by name.
    """

    exact: Mapping[str, VariableRole]
    globs: tuple[tuple[str, VariableRole], ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NO_VALUES)

    def role(self, name: str) -> VariableRole | None:
        """Return the role of a variable; None if it is not known."""
        found = self.exact.get(name)
        if found is not None:
            return found
        return next((role for glob, role in self.globs if fnmatchcase(name, glob)), None)

    def extending(self, earlier: Variables) -> Variables:
        """Return these roles, completed by the earlier ones.

        A name with another role than before loses the values that were harmless.
        """
        kept = {name: globs for name, globs in earlier.values.items() if self.role(name) is None}
        return Variables(
            {**earlier.exact, **self.exact},
            (*self.globs, *earlier.globs),
            {**kept, **self.values},
        )

    def is_harmless_value(self, given: Assignment) -> bool:
        """Return whether a variable is set to a value that is known to be harmless."""
        globs = self.values.get(given.name)
        if globs is None or given.appends or not given.value.known or given.value.home:
            return False
        words = given.value.text.split()
        return all(any(_matches(word, glob) for glob in globs) for word in words)


def _matches(word: str, glob: str) -> bool:
    """Return whether a glob matches a word; its wildcards do not cross a slash."""
    parts, globs = word.split("/"), glob.split("/")
    return len(parts) == len(globs) and all(map(fnmatchcase, parts, globs))


# Names of variables whose value may name code, a file or a host, though no profile knows them.
_MEANS_MORE = re.compile(
    "ARG|BIN|BROWSER|CMD|COMMAND|CONF|DIR|EDITOR|EXEC|FILE|FLAG|HOME|HOOK|HOST|INDEX|INIT|LIB|LOAD"
    "|MODULE|OPT|PAGER|PATH|PLUGIN|PREFIX|PRELOAD|PROFILE|PROG|PROXY|RC$|REGISTRY|ROOT|RUN|SCRIPT"
    "|SERVER|SETTINGS|SHELL|SOURCE|STARTUP|TOOL|UR[IL]|WRAPPER"
)
_PLAIN_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*|[0-9.]+")


def is_plain_setting(given: Assignment) -> bool:
    """Return whether a variable that no profile knows is set to a word for a program's own use.

    `APP_TIER=test` is, and neither `APP_CONFIG=test` nor `APP_TIER=./test`.
    """
    if given.appends or not given.value.known or given.value.home:
        return False
    if not _PLAIN_NAME.fullmatch(given.name) or _MEANS_MORE.search(given.name):
        return False
    return _PLAIN_VALUE.fullmatch(given.value.text) is not None


def listed_folders(value: Word) -> tuple[str, ...] | None:
    """Return the folders of a list if all are the current one or plain names below it.

    One below the folder in which the script starts is relative to that.
    """
    text = value.text if value.below_start is None else value.below_start
    if value.below_start is not None:
        if ":" in text:
            return None
    elif not value.known or value.home:
        return None
    folders = tuple(dict.fromkeys(folder or "." for folder in text.split(":")))
    if any(each.startswith(("/", "~")) or ".." in each.split("/") for each in folders):
        return None
    return folders


def read_variables(table: Mapping[str, Any], faults: Faults) -> Variables:
    """Return the variables of `environment.toml`, recording every mistake."""
    exact: dict[str, VariableRole] = {}
    globs: list[tuple[str, VariableRole]] = []
    for key in table:
        if key not in _KEYS:
            faults.add((key,), f"{quote(key)} is not a key here", help=f"keys: {', '.join(_KEYS)}")
    for role in _ROLES:
        listed = table.get(role, "")
        if not isinstance(listed, str):
            faults.add((role,), f"`{role}` must be a string of names")
            continue
        for name in listed.split():
            if name in exact:
                faults.add((role,), f"the variable {quote(name)} is defined twice")
            if any(char in name for char in "*?["):
                globs.append((name, role))
            else:
                exact[name] = role
    return Variables(exact, tuple(globs), _harmless_values(table.get(_VALUES, {}), faults))


def _harmless_values(table: object, faults: Faults) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(table, Mapping):
        faults.add((_VALUES,), f"`{_VALUES}` must be a table")
        return _NO_VALUES
    found: dict[str, tuple[str, ...]] = {}
    for names, globs in table.items():
        if not isinstance(globs, str) or not globs.split():
            faults.add((_VALUES, names), "the harmless values must be a string of words, as globs")
            continue
        found |= dict.fromkeys(names.split(), tuple(globs.split()))
    return found
