"""SQL for client programs: files that it accesses, and what it may run.

The effects of statements on tables are for `sql(…)` conditions; here only effects outside the
database count: commands of the client (`\\!`, `.shell`, `system`), and functions that access files.
Statements, functions and settings without such effects are listed in `sql_names`; any other may
have them. The text is not parsed, as each client has its own quotes: a possible call counts as one.
"""

from __future__ import annotations

import re

from policy.programs.embedded import sql_names as names
from policy.programs.embedded.embedded_program import NOTHING, AccessedResource, ProgramEffects

_RUNS = re.compile(
    r"\bprogram\b|\bload_extension\b|\bxp_cmdshell\b|\bsys_exec\b|\bsys_eval\b|\bedit\s*\(|"
    r"\blanguage\b|\bcreate\s+extension\b|\bload\s+'|\bplugin\b|\bsoname\b",
    re.IGNORECASE,
)
_FILES = re.compile(
    r"\bcopy\b|\boutfile\b|\bdumpfile\b|\binfile\b|\bload_file\b|\bpg_\w*file\w*|\bpg_ls_\w+|"
    r"\blo_import\b|\blo_export\b|\breadfile\b|\bwritefile\b|\battach\b|\bvacuum\b|"
    r"\bfsdir\b|\bzipfile|\bread_(?:csv|json|parquet|text|blob)\w*|\bfileio\w*|\bdblink\w*|"
    r"\bfts\w*tokenizer|\b(?:data|index)\s+directory\b|\btablespace\b|"
    r"\bengine\s*=?\s*['\"]?(?:federated|connect|csv|spider|s3|sphinx|cassandra|jdbc)",
    re.IGNORECASE,
)
# The name of a command of SQLite's client may stand behind blanks, or in quotes.
_META = re.compile(r"\\([A-Za-z?!]+\+?|\S)|^[ \t\r\f\v]*+(\.\s*+[A-Za-z]*+)", re.MULTILINE)
# Commands of clients that only display something. (`\T` of one client names a file that it writes,
# and `.l` of another loads code: letters keep their case, and abbreviations are listed.)
_SHOWN = frozenset("q quit x timing pset conninfo l l+ list encoding h help ? a t f".split())
_SHOWN |= frozenset("crosstabview errverbose".split())
_SHOWN_DOTTED = frozenset(
    """
    quit help list tables schema fullschema headers header mode width exit databases indexes indices
    show stats timer changes nullvalue separator bail echo eqp explain dump
    """.split()
)
_DESCRIBES = re.compile(r"d[A-Za-z]*S?\+?")
_SHOWN_LINE = re.compile(r"^[ \t]*[\\.][^\n]*", re.MULTILINE)
# Where one of these occurs, a string may end elsewhere than `'…'` does.
_DOUBTFUL = re.compile(r"[\\$\[#]|--|/\*")
_STRING = re.compile(r"'(?:[^']|'')*+'(\s*[(.])?|\"[^\"]*+\"|`[^`]*+`")
# psql substitutes variables by their values, which may be any text.
_VARIABLE = re.compile(r"(?<!:):[A-Za-z_\"]")
# (No function has a longer name.)
_NAME = r"(?:[\w$]++|\"[^\"]{0,99}+\"|`[^`]{0,99}+`|\[[^\]]{0,99}+\]|'[^']{0,99}+')"
_CALL = re.compile(
    rf"(?<![\w$])(?:([\w$]++)\s++)?(?:{_NAME}\s*\.\s*){{0,2}}+({_NAME})"
    r"(?:\s|--[^\n]*\n|#[^\n]*\n)*+\("
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_SET = re.compile(r"set\s+@(?!@)|set\s+(?:(?:session|local)\s+)?(\w+)", re.IGNORECASE)
_PRAGMA = re.compile(r"pragma\s+(?:\w+\s*\.\s*)?(\w+)", re.IGNORECASE)
_MODULE = re.compile(r"\busing\s+(\S+?)\s*(?:\(|;|\Z)", re.IGNORECASE)
_COMMENT_LINES = re.compile(r"(?:\s|\(|--[ \t][^\n]*(?:\n|\Z))*+")
_TOUCHED = (
    AccessedResource("reads", None),
    AccessedResource("writes", None),
    AccessedResource("connects", None),
)
_UNSEEN = ProgramEffects(accesses=_TOUCHED, gap="SQL whose commands of the client may run programs")
_OUTSIDE = ProgramEffects(accesses=_TOUCHED)


def read_sql(text: str) -> ProgramEffects:
    """Return the effects outside the database."""
    if _runs(text):
        return _UNSEEN
    plain = _SHOWN_LINE.sub("", text)
    if not _DOUBTFUL.search(plain):
        plain = _STRING.sub(_without_content, plain)
    statements = [statement[_start(statement) :] for statement in plain.split(";")]
    if _VARIABLE.search(plain) or not all(map(_is_known, statements)):
        return _UNSEEN
    if _FILES.search(text) or "/*" in plain or not all(map(_stays_inside, statements)):
        return _OUTSIDE
    return NOTHING


def _runs(text: str) -> bool:
    """Return whether some part of a text may make the client, or the server, run programs."""
    for backslash, dotted in _META.findall(text):
        shown = backslash in _SHOWN or (backslash and _DESCRIBES.fullmatch(backslash))
        if not (shown or dotted[1:].lower() in _SHOWN_DOTTED):
            return True
    return bool(_RUNS.search(text)) or ("\\" in text and "`" in text)


def _without_content(quoted: re.Match[str]) -> str:
    """Return a string without its contents; a name, or a string that is called, is kept."""
    return "''" if quoted[0].startswith("'") and not quoted[1] else quoted[0]


def _start(statement: str) -> int:
    match = _COMMENT_LINES.match(statement)
    return 0 if match is None else match.end()


def _is_known(statement: str) -> bool:
    """Return whether a statement is known to run nothing beyond its text."""
    if not statement:
        return True
    first = _WORD.match(statement)
    match first[0].lower() if first else "":
        case "create":
            return _object_of(statement) in names.CREATED
        case "alter":
            return _object_of(statement) in names.ALTERED
        case "drop":
            return True
        case "set":
            setting = _SET.match(statement)
            return setting is not None and (setting[1] or "names").lower() in names.SETTINGS
        case "pragma":
            pragma = _PRAGMA.match(statement)
            return pragma is not None and pragma[1].lower() in names.PRAGMAS
        case word:
            return word in names.STATEMENTS


def _object_of(statement: str) -> str:
    """Return the type of object that a statement creates or alters: a view for `create view`."""
    for place, word in enumerate(_WORD.finditer(statement, 0, 200)):
        if place and word[0].lower() not in names.BETWEEN:
            return word[0].lower()
    return ""


def _stays_inside(statement: str) -> bool:
    """Return whether all functions that a statement calls are known."""
    creates = statement[:6].lower() == "create"
    if creates and "virtual" in statement[:40].lower():
        module = _MODULE.search(statement)
        return module is not None and module[1].lower() in names.MODULES
    return statement[:6].lower() == "pragma" or all(
        _is_no_call(before.lower(), creates=creates) or _is_known_call(name)
        for before, name in _CALL.findall(statement)
    )


def _is_no_call(before: str, *, creates: bool) -> bool:
    return before in names.BEFORE_COLUMNS or (creates and before in ("on", "exists"))


def _is_known_call(name: str) -> bool:
    plain = name.strip("\"'`[]").lower()
    return plain in names.FUNCTIONS or plain in names.NO_CALLS
