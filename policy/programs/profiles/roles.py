"""The roles that a profile gives to words of a command: which there are, and what they imply."""

from __future__ import annotations

from policy.programs.invocation import Verb
from policy.programs.profiles.profile import MANY_WORDS
from policy.shell import Word

__all__ = [
    "MANY_WORDS",
    "PROGRAMS",
    "ROLES",
    "WORDLESS",
    "bare_role",
    "is_harmful_role",
    "leads_elsewhere",
    "takes_many",
    "verbs_of_role",
]

# The accesses of a word in each role. `None` stands for running something.
_VERBS: dict[str, tuple[Verb | None, ...]] = {
    "text": (),
    "read": ("reads",),
    "read-tree": ("reads",),
    "list-file": ("reads",),
    "list-tree": ("reads",),
    "list-write-tree": ("reads", "writes"),
    "write": ("writes",),
    "write-tree": ("writes",),
    "copy-tree": ("writes",),
    "unpack-tree": ("writes",),
    "stored-tree": ("writes",),
    "patch-tree": ("writes",),
    "output-tree": ("writes",),
    "revision": ("writes",),
    "source-tree": ("reads",),
    "source-write-tree": ("writes",),
    "package-tree": ("reads",),
    "package-write-tree": ("writes",),
    "write-into": ("writes",),
    "write-parents": ("writes",),
    "write-into-parents": ("writes",),
    "link-target": ("reads", "writes"),
    "read-write": ("reads", "writes"),
    "read-write-tree": ("reads", "writes"),
    "folder": (),
    "host": ("connects",),
    "connect": ("connects",),
    "remote": ("connects", "reads"),
    "source-remote": ("connects", "reads"),
    "clone-source": ("connects", "reads"),
    "fetch-source": ("connects", "reads"),
    "place-read": ("reads", "connects"),
    "place-write": ("writes", "connects"),
    "recipient": ("sends",),
    "send": ("sends",),
    "command": (None,),
    "program": (None,),
    "argv...": (None,),
    "argv-more...": (None,),
    "placeholder": (),
    "placeholder-of-all": (),
    "added-words": (),
    "added-lines": (),
    "found-name": (),
    "found-otherwise": (),
    "respells-found": (),
    "null-ended": (),
    "otherwise-ended": (),
    "argv-until": (None,),
    "argv-until-there": (None,),
    "env-argv...": (None,),
    "named-argv...": (None,),
    "passed-on": (),
    "typed": (None,),
    "given-code": (None,),
    "keys": (None,),
    "words-command...": (None,),
    "code": (None,),
    "script": (None, "reads"),
    "config": (None,),
    "assignment": (None,),
    "argument": ("reads",),
    "target": (),
    "at-file": ("reads",),
    "form-file": ("reads",),
    "certificate": ("reads",),
    "keyed-read": ("reads",),
    "keyed-read-tree": ("reads",),
    "report-write": ("writes",),
    "optioned-write": ("writes",),
    "folder-list": ("reads",),
    "keyed-write": ("writes",),
    "at-host": ("connects",),
    "address": ("connects", "reads"),
    "fetched": ("connects", "writes"),
    "output-format": (None, "reads", "writes"),
    "pathspec": ("reads",),
    "changed-pathspec": ("reads",),
    "history-pathspec": ("reads",),
    "compared-pathspec": ("reads",),
    "stored-pathspec": ("writes",),
    "written-pathspec": ("writes",),
    "moved-pathspec": ("reads", "writes"),
    "line-range": ("reads",),
    # Words without an effect of their own that consist of parts.
    "refspec": (),
    "variable": (),
    "ports": (),
    "listed-input": ("reads",),
    # Names that are excluded from the folders that are read, or included again.
    "only-files": (),
    "only-type": (),
    "leaves": (),
    "leaves-after": (),
    "leaves-files": (),
    "leaves-folders": (),
    "leaves-glob": (),
    "read-folder": ("reads",),
    "project-folder": ("reads",),
    "mount": ("reads", "writes"),
    "read-beside": ("reads", "writes"),
    "read-write-beside": ("reads", "writes"),
    "globbed-read": ("reads",),
    "numbered-write": ("writes",),
    "joined-read": ("reads",),
    "joined-write": ("writes",),
    "read-joined": ("reads", "writes"),
    "mailbox": ("sends", "writes", None),
    "page": ("reads",),
    "database": ("connects", "reads"),
    "image": ("connects",),
    "repository": ("connects",),
    "inventory": ("connects", "reads"),
    "url": ("connects",),
    "module": ("connects", "reads"),
    "user-at-host": ("connects",),
    "client-variable": (None, "reads", "writes"),
    "clock": (None, "reads", "writes"),
    "filter-rule": ("reads",),
    "listing-format": ("reads",),
    "name-or-read": ("reads",),
    "config-or-read": (None, "reads"),
    "library": ("reads",),
    "ran-module": ("connects", "reads"),
    "name-or-script": (None, "reads"),
    "password": ("reads",),
    "members": (),
    "members-write": ("writes",),
    "prefix": ("writes",),
    "suffix": ("writes",),
    "piped-write": (None, "writes"),
    "tunnel": ("connects",),
    "list": ("reads",),
    "host-list": ("reads", "connects"),
    "sed": (None, "reads", "writes"),
    "awk": (None, "reads", "writes"),
    "awk-input": ("reads", "connects"),
    "jq": ("reads",),
    "sql": (None, "reads", "writes"),
    "unknown": (None, "reads", "writes", "connects", "sends"),
    # Harmful effects of an option that no other role describes: a pattern that spells the option
    # covers it.
    "guarded": ("reads", "writes", "connects"),
    "unseen": (None,),
    "hides": (None,),
    # A redirect to another host: evaluated with all options, as one may override another.
    "redirect": (),
    "no-redirect": (),
    "redirect-limit": (),
}

ROLES = frozenset(_VERBS)
# Roles whose text determines whether they are harmful: an embedded program, a setting, a place.
_BY_TEXT = frozenset(
    {
        "sed", "awk", "awk-input", "jq", "sql", "config", "assignment", "place-read",
        "output-format",
        "database", "image", "repository", "url", "client-variable", "clock", "name-or-script",
        "mailbox", "module", "ran-module", "user-at-host", "config-or-read",
    }
)  # fmt: skip
# Roles of embedded programs: their input is another operand, or standard input.
PROGRAMS = frozenset({"sed", "awk", "jq", "sql"})
# Roles without a word: used after `flag`, in `bare` and in `always`.
WORDLESS = frozenset({"unseen", "hides", "redirect", "no-redirect"})


def leads_elsewhere(role: str, folder: Word | None) -> bool:
    """Return whether an option makes a program use a folder that may not be below its own."""
    if role == "project-folder" and folder is not None and folder.known:
        return folder.text.startswith(("/", "~")) or ".." in folder.text.split("/")
    return role in ("read-folder", "project-folder")


def bare_role(role: str) -> str:
    """Return the role of an operand without its marks: `write!...` is `write`."""
    return role if role in ROLES else role.removesuffix("...").removesuffix("!")


def takes_many(role: str) -> bool:
    """Return whether any number of operands have this role."""
    return role.endswith("...") or role in MANY_WORDS


def verbs_of_role(role: str) -> tuple[Verb | None, ...]:
    """Return the accesses of a word in this role, with None if it may run something."""
    return _VERBS[role]


def is_harmful_role(role: str) -> bool:
    """Return whether an option of this role is harmful whatever its value is."""
    return role not in _BY_TEXT and any(verb != "reads" for verb in _VERBS[role])
