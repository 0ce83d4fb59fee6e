"""Paths: text in, its lexical and its resolved form out, and what either has to do with patterns.

What could name another file to another reader (a backslash, an encoded character, a way through
/proc) is Unreadable. Links are followed by the resolver of the context, where there is one.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote_to_bytes

from policy.facts import ResolvePath
from policy.values.reading import Unreadable
from policy.values.text import has_control, is_encodable, normalise, quote

_LONGEST = 4096
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_DRIVE = re.compile(r"[A-Za-z]:")
_VARIABLE = re.compile(r"\$[A-Za-z_{(]")
# Ways to files that depend on who walks them.
_MAGIC = re.compile(
    r"/proc/[^/]+/(root|cwd|fd|fdinfo|exe|map_files|task)(/|$)|/dev/fd(/|$)", re.ASCII
)
# Names that Windows, and only Windows, takes for others: `a.`, `a `, `A~1`, `a::$DATA`.
_WINDOWS_ALIAS = re.compile(r"[. ](/|$)|~[0-9]|:")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathContext:
    """Where a path is read: folders as absolute paths, and how links are followed, if at all.

    Relative paths are below `cwd`, else below `workspace`, and Unreadable where `lost`: in a
    script whose `cd` may have worked or not. `resolve` is asked again for every pattern and
    path, so it is best given with a memory of this call.
    """

    cwd: str | None = None
    home: str | None = None
    workspace: str | None = None
    resolve: ResolvePath | None = None
    case_insensitive: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """An absolute path, normalised as spelled and with links followed; a tree is all below too.

    `resolved` is None where nobody follows links.
    """

    lexical: str
    resolved: str | None = None
    tree: bool = False


def read_path(text: str, context: PathContext, *, tree: bool = False) -> Path | Unreadable:
    """Read what a tool would be given as a path: plain, `~/…` or a `file:` URL."""
    problem = _problem(text)
    if problem is not None:
        return Unreadable(reason=problem)
    spelled = _from_url(text) if text[:5].lower() == "file:" else _from_plain(text)
    if isinstance(spelled, Unreadable):
        return spelled
    absolute = _absolute(spelled, context)
    if isinstance(absolute, Unreadable):
        return absolute
    if len(absolute) > _LONGEST:
        return Unreadable(reason="a path that is too long")
    lexical = normalise(normal_path(absolute))
    if _MAGIC.search(lexical):
        return Unreadable(reason=f"leads to another place for every process: {quote(text)}")
    if context.case_insensitive and _WINDOWS_ALIAS.search(lexical):
        return Unreadable(reason=f"may be another name of a file: {quote(text)}")
    if context.resolve is None:
        return Path(lexical=lexical, tree=tree)
    resolved = _follow(absolute, context.resolve)
    if resolved is None:
        return Unreadable(reason=f"where this leads cannot be known: {quote(text)}")
    if _MAGIC.search(resolved):
        return Unreadable(reason=f"leads to another place for every process: {quote(text)}")
    return Path(lexical=lexical, resolved=normalise(resolved), tree=tree)


def after_cd(folders: tuple[str, ...] | None, context: PathContext) -> PathContext:
    """Return the context of a command that runs after `cd` to each of `folders`; None: unknown.

    The folder is the one that links lead to, where links are followed.
    """
    for folder in folders or ():
        place = read_path(folder, context)
        if isinstance(place, Unreadable):
            folders = None
            break
        context = replace(context, cwd=place.resolved or place.lexical)
    return replace(context, lost=True) if folders is None else context


def normal_path(text: str) -> str:
    """Settle `.`, `..` and repeated separators; two at the beginning are one here."""
    settled = posixpath.normpath(text)
    return settled[1:] if settled.startswith("//") else settled


def _problem(text: str) -> str | None:
    if not text:
        return "an empty path"
    if len(text) > _LONGEST:
        return "a path that is too long"
    if not is_encodable(text):
        return "a path that is no valid Unicode"
    if has_control(text):
        return f"a path with control characters: {quote(text)}"
    if "\\" in text:
        return f"a backslash may be a separator or not: {quote(text)}"
    if text != text.strip():
        return f"a path with white space around it: {quote(text)}"
    return None


def _from_url(text: str) -> str | Unreadable:
    """Return the path of a `file:` URL, decoded once."""
    rest = text[5:]
    if "?" in rest or "#" in rest:
        return Unreadable(reason=f"a file URL with a query or fragment: {quote(text)}")
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host.lower() not in ("", "localhost"):
            return Unreadable(reason=f"a file URL of another host: {quote(text)}")
        rest = slash + path
    if not rest.startswith("/"):
        return Unreadable(reason=f"a file URL without an absolute path: {quote(text)}")
    if "%" in _ENCODED.sub("", rest):
        return Unreadable(reason=f"a stray `%` in a URL: {quote(text)}")
    try:
        decoded = unquote_to_bytes(rest).decode()
    except UnicodeDecodeError:
        return Unreadable(reason=f"a file URL that is no valid UTF-8: {quote(text)}")
    if decoded.count("/") != rest.count("/") or _problem(decoded) or _ENCODED.search(decoded):
        return Unreadable(reason=f"a file URL that may be decoded otherwise: {quote(text)}")
    return decoded


def _from_plain(text: str) -> str | Unreadable:
    if _SCHEME.match(text):
        return Unreadable(reason=f"a URL where a path is needed: {quote(text)}")
    if _DRIVE.match(text):
        return Unreadable(reason=f"a path on a Windows drive: {quote(text)}")
    if _ENCODED.search(text):
        return Unreadable(reason=f"encoded characters may be decoded or not: {quote(text)}")
    if _VARIABLE.match(text):
        return Unreadable(reason=f"a variable may be replaced or not: {quote(text)}")
    return text


def _absolute(text: str, context: PathContext) -> str | Unreadable:
    if text.startswith("/"):
        return text
    if text.startswith("~"):
        name, _, rest = text.partition("/")
        if name != "~":
            return Unreadable(reason=f"the home of another user: {quote(text)}")
        if context.home is None:
            return Unreadable(reason="the home folder is not known")
        return f"{context.home}/{rest}"
    folder = context.cwd if context.cwd is not None else context.workspace
    if folder is None or context.lost:
        return Unreadable(reason=f"relative to a folder that is not known: {quote(text)}")
    return f"{folder}/{text}"


def _follow(absolute: str, resolve: ResolvePath) -> str | None:
    """Walk as the system does: `..` leaves the folder that a link leads to, not the link."""
    place = "/"
    for part in absolute.split("/"):
        if part == "..":
            folder = resolve(place)
            if folder is None:
                return None
            place = posixpath.dirname(folder)
        elif part not in ("", "."):
            place = f"{place.rstrip('/')}/{part}"
    return resolve(place)
