"""SQL for a client program in; files that it touches and what it may run out.

What a statement does to tables is the business of `sql(…)`; here only what leaves the database
counts: commands of the client (`\\!`, `.shell`), and functions that reach for files.
"""

from __future__ import annotations

import re

from policy import later
from policy.commands.small_language import Doings, Touched

_RUNS = later.pattern(
    r"\bprogram\b|\bload_extension\b|\bxp_cmdshell\b|\bsys_exec\b|\bsys_eval\b|\bedit\s*\(|"
    r"\blanguage\b|\bcreate\s+extension\b|\bload\s+'|\bplugin\b",
    re.IGNORECASE,
)
_FILES = later.pattern(
    r"\bcopy\b|\boutfile\b|\bdumpfile\b|\binfile\b|\bload_file\b|\bpg_\w*file\w*|\bpg_ls_\w+|"
    r"\blo_import\b|\blo_export\b|\breadfile\b|\bwritefile\b|\battach\b|\bvacuum\b|"
    r"\bfsdir\b|\bread_(?:csv|json|parquet|text|blob)\w*|\bfileio\w*|\bdblink\w*|\bfts\w*tokenizer",
    re.IGNORECASE,
)
_META = later.pattern(r"\\([a-z?!]+\+?|\S)|^[ \t]*\.([a-z]+)", re.IGNORECASE | re.MULTILINE)
# Commands of clients that only show something. (`\n` and the like stand in strings.)
_SHOWN = frozenset(
    """
    q quit x timing pset conninfo l l+ list encoding h help ? a t f crosstabview errverbose
    tables schema fullschema headers header mode width exit databases indexes indices show stats
    timer changes nullvalue separator bail echo eqp explain
    """.split()
)


def read_sql(text: str) -> Doings:
    """Return what leaves the database."""
    unseen = Doings(
        touched=(Touched("reads", None), Touched("writes", None), Touched("connects", None)),
        gap="SQL whose commands of the client may run programs",
    )
    for backslash, dotted in _META.findall(text):
        name = (backslash or dotted).lower()
        if name not in _SHOWN and not (backslash and re.fullmatch(r"d[a-z]*S?\+?", name)):
            return unseen
    if _RUNS.search(text) or ("\\" in text and "`" in text):
        return unseen
    if _FILES.search(text):
        return Doings(
            touched=(Touched("reads", None), Touched("writes", None), Touched("connects", None))
        )
    return Doings()
