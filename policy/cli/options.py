"""The options of `placet decide` as data: click's are made of them, and so is what needs no click.

`clicked` makes those of click; `plain` reads the words of a plain call by the same data.
"""

from __future__ import annotations

import os
from typing import Literal

from policy.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How an option is written, what the code calls it, and what it takes.

    `file` gives the path of a file that there is, `bytes` the open file. What takes nothing is
    false unless it is said, and has a second way to write it if it can be denied.
    """

    written: tuple[str, ...]
    name: str
    takes: Literal["file", "bytes", "nothing"]
    help: str


# Where the policy is when nobody says.
USUAL_PATH = "rules"

CATALOG = Option(
    written=("--catalog",),
    name="catalog_file",
    takes="file",
    help="Tools beside the built-in ones: an MCP tools/list answer, or a list of definitions.",
)
CALL = Option(
    written=("--call",),
    name="call_file",
    takes="bytes",
    help="Read calls from this file instead of standard input.",
)
LEXICAL = Option(
    written=("--lexical",),
    name="lexical",
    takes="nothing",
    help="Judge paths as spelled; follow no symbolic links of this disk.",
)
CACHE = Option(
    written=("--cache", "--no-cache"),
    name="cache",
    takes="nothing",
    help="Keep what was found out of the rules for the next start, in $XDG_CACHE_HOME/placet or "
    "~/.cache/placet.",
)
DECIDE = (CATALOG, CALL, LEXICAL, CACHE)


def may_be_policy(path: str | os.PathLike[str]) -> bool:
    """Say whether something that there is can be a policy: a folder, or a file called like one."""
    name = os.path.basename(os.fspath(path).rstrip(os.sep))
    return (name.endswith(".policy") and name != ".policy") or not os.path.isfile(path)
