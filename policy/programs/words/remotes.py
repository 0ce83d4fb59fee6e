"""Words that name a remote repository or a place on another host."""

from __future__ import annotations

import re
from typing import Literal

from policy.programs.embedded.embedded_program import NOTHING, AccessedResource, ProgramEffects
from policy.programs.words.go_packages import package_folder
from policy.shell import Word

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
# `user@host:`, `host:` or `[::1]:`; matching takes linear time.
_HOST_FIRST = re.compile(
    r"(?:[^/:\[]++|[^/:]*\[[^/:\[@]*+@[^/:\[]++|(?:[^/:]*@)?\[[^\]/]{0,99}+\]):"
)
# `name@https://…` and `name @ https://…`, the sources of packages.
_SOURCE = re.compile(r"[^/:]*@\s*([A-Za-z][A-Za-z0-9+.-]*://.*)", re.DOTALL)
_RUNS = "a remote that is reached by a program of its own"


def is_web_url(text: str) -> bool:
    """Return whether a text in place of a file is a URL to fetch."""
    scheme = _SCHEME.match(text)
    return scheme is not None and scheme[1].lower() in ("http", "https", "ftp")


def scheme_of(text: str) -> str:
    """Return the scheme of a URL, empty if the text has none."""
    scheme = _SCHEME.match(text.strip())
    return "" if scheme is None else scheme[1].lower()


def is_bare_name(text: str) -> bool:
    """Return whether a remote is a name without a place: a configured remote, or a folder."""
    return bool(text) and not (_SCHEME.match(text) or _HOST_FIRST.match(text) or is_local(text))


def is_local(text: str) -> bool:
    """Return whether a remote is spelled as a folder."""
    if text.startswith(("/", ".", "~")):
        return True
    return "/" in text and not (_SCHEME.match(text) or _HOST_FIRST.match(text))


def read_remote(text: str) -> ProgramEffects:
    """Return what a remote accesses: a URL, `user@host:path`, a folder or a configured name."""
    if _HELPER.match(text):
        return ProgramEffects(accesses=(AccessedResource("connects", None),), gap=_RUNS)
    if scheme := _SCHEME.match(text):
        return (
            _local(text)
            if scheme[1].lower() == "file"
            else ProgramEffects(accesses=_connects(text))
        )
    if source := _SOURCE.match(text):
        return read_remote(source[1])
    if text.startswith(("/", ".", "~")):
        return _local(text)
    if _HOST_FIRST.match(text):
        return ProgramEffects(accesses=_connects(_as_ssh(text)))
    if "/" in text:
        return _local(text)
    # The host of a configured name is in the repository's configuration.
    return ProgramEffects(accesses=(AccessedResource("connects", None),))


def read_module(word: Word) -> ProgramEffects:
    """Return what a package of Go accesses: a folder, or the host that its path begins with."""
    text = word.text
    if text.startswith(("/", "./", "../")) or text in (".", "..") or text.endswith(".go"):
        folder = package_folder(word).text
        return ProgramEffects(accesses=(AccessedResource("reads", folder if word.known else None),))
    path, slash, _ = text.partition("/")
    host = path.partition("@")[0]
    if not word.known and not (slash and word.shape == "opaque"):
        return ProgramEffects(
            accesses=(AccessedResource("connects", None), AccessedResource("reads", None))
        )
    return ProgramEffects(accesses=_connects(host)) if "." in host else NOTHING


def read_user_at_host(word: Word) -> ProgramEffects:
    """Return the host of `user@db.example`, none for a name alone."""
    _, sign, host = word.text.rpartition("@")
    if not word.known:
        return ProgramEffects(accesses=(AccessedResource("connects", None),))
    return ProgramEffects(accesses=_connects(host)) if sign else NOTHING


def read_copy_place(text: str, verb: Literal["reads", "writes"]) -> ProgramEffects:
    """Return what the source or target of a copy accesses: another host, or a path."""
    if scheme := _SCHEME.match(text):
        local = scheme[1].lower() == "file"
        return ProgramEffects(
            accesses=(AccessedResource(verb, text),) if local else _connects(text)
        )
    host = None if text.startswith(("/", ".", "~")) else _HOST_FIRST.match(text)
    if host is not None:
        module = text.startswith(":", host.end())
        return ProgramEffects(
            accesses=_connects(_as_ssh(text, scheme="rsync" if module else "ssh"))
        )
    return ProgramEffects(accesses=(AccessedResource(verb, text),))


def as_url(text: str) -> str:
    """Return `user@host:path` as a URL, any other text unchanged."""
    if _SCHEME.match(text) or not _HOST_FIRST.match(text):
        return text
    return _as_ssh(text)


def _local(text: str) -> ProgramEffects:
    return ProgramEffects(
        accesses=(AccessedResource("reads", text), AccessedResource("writes", text))
    )


def _connects(text: str) -> tuple[AccessedResource, ...]:
    return (AccessedResource("connects", text),)


def _as_ssh(text: str, *, scheme: str = "ssh") -> str:
    """Return `user@host:path` as a URL, so that the port is not read from the path."""
    match = _HOST_FIRST.match(text)
    assert match is not None
    user_and_host, path = text[: match.end() - 1], text[match.end() :].lstrip(":")
    return f"{scheme}://{user_and_host}/{path.lstrip('/')}"
