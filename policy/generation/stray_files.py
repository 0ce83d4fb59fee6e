"""Files of a policy folder that are not read, and whose names are almost those of files that are.

A rule file that is misspelled is not missed by anything else: the policy loads without its rules.
"""

from __future__ import annotations

from collections.abc import Collection

from policy.catalog import LOCK_FILE
from policy.diagnostics import Diagnostic, diagnose, nearest, visible
from policy.generation.walk import POLICY_SUFFIX, SETTINGS_FILE

_ENDING = POLICY_SUFFIX.removeprefix(".")
# What is put behind the name of a file by mistake; a copy (`.bak`, `~`) is there on purpose.
_ADDED = (".txt", ".text", ".md", ".", " ")


def meant_name(name: str, present: Collection[str]) -> str | None:
    """Return the name that a file should have in order to be read; None if it is a stranger.

    `present` are the names of the files in its folder. Names are without folders.
    """
    if name.endswith("~"):
        return None
    stem, dot, ending = name.rpartition(".")
    for added in _ADDED:
        if name.endswith(f"{POLICY_SUFFIX}{added}"):
            return name.removesuffix(added)
    if dot and ending.casefold() != _ENDING and nearest(ending, (_ENDING,)) is not None:
        return f"{stem}{POLICY_SUFFIX}"
    if not dot and name.casefold().endswith(_ENDING) and name.casefold() != _ENDING:
        return f"{name[: -len(_ENDING)].rstrip('-_ ')}{POLICY_SUFFIX}"
    for wanted in (SETTINGS_FILE, LOCK_FILE):
        if wanted not in present and nearest(name, (wanted,)) is not None:
            return wanted
    return None


def stray(name: str, meant: str) -> Diagnostic:
    """Report a file that is not read because of its name."""
    folder = name.rpartition("/")[0]
    wanted = f"{folder}/{meant}" if folder else meant
    return diagnose(
        "stray-file",
        f"`{visible(name)}` is not read, as its name does not end in `{POLICY_SUFFIX}`"
        if meant.endswith(POLICY_SUFFIX)
        else f"`{visible(name)}` is not read as `{meant}`",
        file=visible(name),
        help=f"rename it to `{visible(wanted)}`, or move it out of the policy folder",
    )
