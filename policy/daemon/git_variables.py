"""Whether the environment makes git use another repository, or other settings, than its folder's.

A hook process has the environment of its agent, and so have the commands of the agent's shell. It
imports this, so it needs only what Python starts with.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What they steer is neither where a repository is nor what is in it.
_HARMLESS = frozenset(
    """
    GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS
    GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_MERGE_AUTOEDIT GIT_ADVICE GIT_PAGER_IN_USE
    GIT_CONFIG_NOSYSTEM GIT_LFS_SKIP_SMUDGE GIT_PROMPT_DISABLE GIT_FLUSH GIT_PROTOCOL_FROM_USER
    """.split()
)
_HARMLESS_BEGINNINGS = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TRACE", "GIT_PS1_", "GIT_CURL_")


def leads_elsewhere(names: Iterable[str]) -> bool:
    """Return whether a variable of git is set that is not known to leave the repository alone."""
    return any(
        name.startswith("GIT_")
        and name not in _HARMLESS
        and not name.startswith(_HARMLESS_BEGINNINGS)
        for name in names
    )
