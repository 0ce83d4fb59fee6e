"""Who runs this command: the user of the operating system, with their groups."""

from __future__ import annotations

import os
import pwd

from policy.approvals import Person
from policy.generation import ApprovalSettings


def person_of(settings: ApprovalSettings | None) -> Person:
    """Return the user of the operating system, with the groups that the policy gives to it.

    No option or environment variable is read, since those can be set to anything.
    """
    name = _user()
    return Person(id=name, groups=() if settings is None else settings.groups_of(name), listed=True)


def _user() -> str:
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"
