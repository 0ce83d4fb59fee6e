"""What a script did to the files around it, as the detectors observed it."""

from __future__ import annotations

from dataclasses import dataclass

# What happens to a file or folder: its content was read, its names were listed, it was changed
# (content, rights or number of names), made, or removed.
READ, LISTED, CHANGED, MADE, REMOVED = "read", "listed", "changed", "made", "removed"
# The content of a canary (named by its path) is in the output, or in a file that a script wrote.
TOLD = "told"
# A program that only tells of itself was started; a file of the workspace was run as code.
RAN, CODE = "ran", "code"
# Something went out to the network, or tried to.
CONNECTED = "connected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that happened, and to what: a path, or the words of a program."""

    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind} {self.what}"
