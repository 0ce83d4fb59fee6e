"""Parses an item of a set of paths into a normalised glob and the folder that it is below."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import lru_cache

from policy.values.globs import escape_glob, has_wildcard
from policy.values.paths.foreign_globs import foreign_glob, unescape_foreign
from policy.values.paths.path import normal_path
from policy.values.text import has_control, is_encodable, is_ordinary, normalise, quote
from policy.values.unreadable import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPattern:
    """One item of a set of paths, as a normalised glob.

    `base` is what the glob is below: nothing (`root`), the home folder, the workspace, or any
    folder at all (`floating`, which keeps its leading `**`).
    """

    glob: str
    base: str = "root"


def read_path_pattern(text: str, context_home: str | None = None) -> PathPattern | Unreadable:
    """Parse an item such as `/srv/work/**`, `**/.env`, `~/.ssh/**` or `src/**`."""
    if not text.strip() or not is_encodable(text) or has_control(text):
        return Unreadable(reason=f"not a path pattern: {quote(text)}")
    if not is_ordinary(normalise(text)):
        return Unreadable(reason=f"a path pattern with invisible characters: {quote(text)}")
    if text[:5].lower() == "file:" or "://" in text:
        return Unreadable(reason=f"a URL where a path pattern is needed: {quote(text)}")
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        return Unreadable(reason=f"the home folder of another user: {quote(text)}")
    foreign = foreign_glob(normalise(text))
    if foreign is not None:
        return Unreadable(reason=foreign)
    settled = _settle(unescape_foreign(normalise(text)))
    if settled is None:
        return Unreadable(reason=f"`..` leads out of the pattern: {quote(text)}")
    if settled.startswith("~"):
        rest = settled[2:]
        if context_home is not None:
            return PathPattern(glob=glob_below(context_home, rest))
        return PathPattern(glob=rest, base="home")
    if settled.startswith("/"):
        return PathPattern(glob=settled)
    # `./**` begins in the workspace, as every relative item does.
    floats = text.startswith("**") and (settled == "**" or settled.startswith("**/"))
    return PathPattern(glob=settled, base="floating" if floats else "workspace")


def _settle(text: str) -> str | None:
    """Resolve `.`, `..` and separators; None where `..` would remove a wildcard or the start."""
    parts: list[str] = []
    for part in text.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif not parts or has_wildcard(parts[-1]) or parts[-1] in ("~", ".."):
            return None
        else:
            parts.pop()
    joined = "/".join(parts)
    if text.startswith("/"):
        return "/" + joined
    return joined


def folder_pattern(folder: str) -> PathPattern:
    """Return the pattern of an absolute folder and everything below it."""
    return PathPattern(glob=glob_below(folder, "**"))


def path_pattern_text(pattern: PathPattern) -> str:
    """Return the pattern as an author would write it."""
    if pattern.base == "home":
        return posixpath.join("~", pattern.glob) if pattern.glob else "~"
    if pattern.base == "workspace" and pattern.glob.startswith("**"):
        return f"./{pattern.glob}"
    return pattern.glob


@lru_cache(maxsize=4096)
def glob_below(folder: str, rest: str) -> str:
    """Return the glob of `rest` in a folder."""
    base = escape_glob(normalise(normal_path(folder))).rstrip("/")
    return f"{base}/{rest}".rstrip("/") or "/"
