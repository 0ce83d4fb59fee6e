"""The folders of programs that are run by their name alone."""

from __future__ import annotations

# Folders whose programs are those that a name without folder means.
STANDARD_PLACES = frozenset(
    {
        "",
        "/bin",
        "/sbin",
        "/usr/bin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
    }
)
