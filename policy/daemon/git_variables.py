"""Whether the environment makes git use another repository, or other settings, than its folder's.

A hook process has the environment of its agent, and so have the commands of the agent's shell. It
imports this, so it needs only what Python starts with.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What they steer is neither where a repository is nor what is in it: who is asked and shown what
# (`ASKPASS`, `EDITOR`, `PAGER`, `ADVICE`), how a remote is reached (`SSH`, `SSL`, `HTTP`, `PROXY`:
# what a remote brings is unknown anyway), and how much is locked, fetched or reported.
_HARMLESS = frozenset(
    """
    GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS
    GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_MERGE_AUTOEDIT GIT_ADVICE GIT_PAGER_IN_USE
    GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_CERT GIT_SSL_KEY GIT_SSL_NO_VERIFY GIT_SSL_VERSION
    GIT_SSL_CIPHER_LIST GIT_SSL_CERT_PASSWORD_PROTECTED GIT_PROXY_SSL_CAINFO GIT_PROXY_SSL_CERT
    GIT_PROXY_SSL_KEY GIT_PROXY_SSL_CERT_PASSWORD_PROTECTED GIT_HTTP_LOW_SPEED_LIMIT
    GIT_HTTP_LOW_SPEED_TIME GIT_HTTP_PROXY_AUTHMETHOD GIT_HTTP_USER_AGENT GIT_HTTP_MAX_REQUESTS
    GIT_PROTOCOL GIT_NO_LAZY_FETCH GIT_PROGRESS_DELAY GIT_COMPLETION_SHOW_ALL
    GIT_PRINT_SHA1_ELLIPSIS GIT_MERGE_VERBOSITY
    GIT_CONFIG_NOSYSTEM GIT_LFS_SKIP_SMUDGE GIT_PROMPT_DISABLE GIT_FLUSH GIT_PROTOCOL_FROM_USER
    """.split()
)
_HARMLESS_BEGINNINGS = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TRACE", "GIT_PS1_", "GIT_CURL_")


def leads_elsewhere(names: Iterable[str]) -> str:
    """Return a variable of git that is not known to leave the repository alone, or `""`."""
    found = (
        name
        for name in names
        if name.startswith("GIT_")
        and name not in _HARMLESS
        and not name.startswith(_HARMLESS_BEGINNINGS)
    )
    return min(found, default="")
