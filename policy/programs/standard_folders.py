"""The folders of programs that are run by their name alone."""

from __future__ import annotations

# The folders in which a program is found by its name alone.
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
