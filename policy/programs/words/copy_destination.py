"""The file that a copy into a folder writes."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from policy.shell import Word
from policy.values import escape_glob


def copied_file_name(target: Word, source: Word) -> Word | None:
    """Return the path of a file copied into a folder; None where the folder's word covers it."""
    if source.below_start not in (None, "."):
        source = Word(f"{source.below_start}")
    if target.below_start is not None:
        name = posixpath.basename(source.text.rstrip("/"))
        if not source.known or name in ("", ".", ".."):
            return replace(target, below_start=None)
        return replace(target, below_start=f"{target.below_start.rstrip('/')}/{name}")
    if target.shape == "opaque":
        return None
    folder = target.text.rstrip("/") + "/"
    name = posixpath.basename(source.text.rstrip("/"))
    if source.shape == "opaque":
        return replace(target, text=folder, shape="opaque") if target.known else None
    if source.known and name in ("", ".", ".."):
        return None
    if target.known and source.known:
        return replace(target, text=folder + name)
    if target.known:
        return replace(target, text=escape_glob(folder) + name, shape="glob", many=True)
    return replace(target, text=folder + (escape_glob(name) if source.known else name))
