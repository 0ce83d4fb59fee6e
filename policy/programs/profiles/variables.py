"""Environment variables: which are harmless, and which name files or run something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias, get_args

from policy.programs.profiles.faults import Faults
from policy.values import quote

# `command`: its value is a command line; `code`: it makes programs load or run something; `read`
# and `write`: it names a file.
VariableRole: TypeAlias = Literal["harmless", "command", "code", "read", "write"]
_ROLES: tuple[VariableRole, ...] = get_args(VariableRole)


@dataclass(frozen=True, slots=True)
class Variables:
    """Roles by exact name, and by glob of names in the order of the file."""

    exact: Mapping[str, VariableRole]
    globs: tuple[tuple[str, VariableRole], ...] = ()

    def role(self, name: str) -> VariableRole | None:
        """Return the role of a variable; None if it is not known."""
        found = self.exact.get(name)
        if found is not None:
            return found
        return next((role for glob, role in self.globs if fnmatchcase(name, glob)), None)

    def extending(self, earlier: Variables) -> Variables:
        """Return these roles, completed by the earlier ones."""
        return Variables({**earlier.exact, **self.exact}, (*self.globs, *earlier.globs))


def read_variables(table: Mapping[str, Any], faults: Faults) -> Variables:
    """Return the variables of `environment.toml`, recording every mistake."""
    exact: dict[str, VariableRole] = {}
    globs: list[tuple[str, VariableRole]] = []
    for key in table:
        if key not in _ROLES:
            faults.add((key,), f"{quote(key)} is not a key here", help=f"keys: {', '.join(_ROLES)}")
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
    return Variables(exact, tuple(globs))
