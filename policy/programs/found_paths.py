"""The paths that a search finds and passes on to other commands."""

from __future__ import annotations

from dataclasses import dataclass

from policy.model import Exclusions
from policy.shell import SimpleCommand, Word
from policy.values import escape_glob


@dataclass(frozen=True, slots=True)
class FoundPaths:
    """The paths that a search passes on: below `root`, with names that match the glob `name`.

    An empty `root` is unknown. `follow_links`: also paths behind links below the root. `exclusions`
    are the names that it skips.
    """

    root: str = ""
    name: str = "*"
    follow_links: bool = False
    exclusions: Exclusions | None = None

    def word(self) -> Word:
        """Return a word that stands for any one of them."""
        root = self.root
        if not (self.name and root) or root[0] in "-~" or "[" in root:
            return Word(root, "opaque")
        # The search starts at a folder and finds paths below it.
        below = self.name if self.name == "*" else f"*/{self.name}"
        spelled = f"{escape_glob(root.rstrip('/'))}/{below}"
        return Word(
            spelled,
            "glob",
            recursive=True,
            follow_links=self.follow_links,
            exclusions=self.exclusions,
        )


NOT_SEARCHED = FoundPaths()


@dataclass(frozen=True, slots=True)
class Search:
    """A search whose paths, one on each line, are split into words; `by` is the command that does.

    It is in the same folder. No path may hold a blank, a quote or a backslash, or the words are
    other paths. `expanded`: the shell splits them, so that wildcards in them would be expanded.
    """

    found: FoundPaths
    by: SimpleCommand
    expanded: bool = False
