"""Words that may be addresses, images or databases: what each connects to.

A word is not an address only if it is known not to be one.
"""

from __future__ import annotations

import re

from policy.programs.embedded.embedded_program import NOTHING, AccessedResource, ProgramEffects
from policy.shell import Word

_ANYWHERE = ProgramEffects(accesses=(AccessedResource("connects", None),))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SOURCE = re.compile(r"(?:[^/:]*@\s*)?([A-Za-z][A-Za-z0-9+.-]*://.*)", re.DOTALL)
_MAY_BECOME_URL = re.compile(r"[A-Za-z0-9+.-]*(?::/?)?\Z")
_DATABASE_URL = re.compile(r"postgres(?:ql)?://(?:[^/?#@]*@)?([^/?#@]*)(?:/[^?#]*)?\Z")
_PLAIN_HOST = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]+)?|\[[0-9A-Fa-f:.]+\](?::[0-9]+)?")
_PAIR = re.compile(r"\s*([a-z_]+)\s*=\s*([^\s'\\]*|'[^'\\]*+')(?=\s|\Z)")
# Settings of a connection that neither change the host nor name a file.
_HARMLESS_KEYS = frozenset(
    """
    dbname user password port connect_timeout application_name fallback_application_name sslmode
    client_encoding options target_session_attrs keepalives keepalives_idle keepalives_interval
    keepalives_count tcp_user_timeout gssencmode channel_binding ssl_min_protocol_version
    ssl_max_protocol_version sslcompression replication
    """.split()
)
_SHORT_NAME = "docker.io"


def read_database(word: Word) -> ProgramEffects:
    """Return what the name of a database connects to: a URL or `host=db.example port=1`."""
    text = word.text
    if not word.known:
        return _ANYWHERE
    if _SCHEME.match(text):
        url = _DATABASE_URL.match(text)
        return _ANYWHERE if url is None else _hosts(url[1])
    return _of_pairs(text) if "=" in text else NOTHING


def _of_pairs(text: str) -> ProgramEffects:
    accesses: list[AccessedResource] = []
    text, at = text.rstrip(), 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            return _ANYWHERE
        key, value, at = pair[1], pair[2].strip("'"), pair.end()
        if key in ("host", "hostaddr"):
            accesses.extend(_hosts(value).accesses)
        elif key not in _HARMLESS_KEYS:
            return ProgramEffects(
                accesses=(AccessedResource("connects", None), AccessedResource("reads", None))
            )
    return ProgramEffects(accesses=tuple(accesses))


def _hosts(listed: str) -> ProgramEffects:
    hosts = [host for host in listed.split(",") if host]
    if not all(_PLAIN_HOST.fullmatch(host) for host in hosts):
        return _ANYWHERE
    return ProgramEffects(accesses=tuple(AccessedResource("connects", host) for host in hosts))


def read_image(word: Word) -> ProgramEffects:
    """Return the registry at the beginning of an image's name: `registry.example/app:1`."""
    transport, scheme, rest = word.text.partition("://")
    name = rest if scheme and transport == "docker" else word.text
    registry, slash, _ = name.partition("/")
    if not word.known and (not slash or word.shape == "glob"):
        return _ANYWHERE
    if scheme and transport != "docker":
        return _ANYWHERE
    if not slash or not ("." in registry or ":" in registry or registry == "localhost"):
        return NOTHING
    if not _PLAIN_HOST.fullmatch(registry):
        return _ANYWHERE
    return (
        NOTHING
        if registry == _SHORT_NAME
        else ProgramEffects(accesses=(AccessedResource("connects", registry),))
    )


def read_repository(word: Word) -> ProgramEffects:
    """Return the host of a repository: of its URL, or before `/OWNER/NAME`."""
    if word.known and (url := _SOURCE.match(word.text)):
        return ProgramEffects(accesses=(AccessedResource("connects", url[1]),))
    return read_image(word)


def read_url_or_name(word: Word) -> ProgramEffects:
    """Return what a word connects to: a URL, or else a name known to the program."""
    if word.known:
        url = _SOURCE.match(word.text)
        return (
            NOTHING
            if url is None
            else ProgramEffects(accesses=(AccessedResource("connects", url[1]),))
        )
    begun = _SCHEME.match(word.text) or _MAY_BECOME_URL.match(word.text) or word.shape == "glob"
    return _ANYWHERE if begun else NOTHING


def read_inventory(word: Word) -> ProgramEffects:
    """Return the hosts of a list with a comma in it; any other text names a file of hosts."""
    if not word.known:
        return ProgramEffects(
            accesses=(AccessedResource("reads", None), AccessedResource("connects", None))
        )
    if "," not in word.text:
        return ProgramEffects(accesses=(AccessedResource("reads", word.text),))
    hosts = [host.strip() for host in word.text.split(",") if host.strip()]
    return ProgramEffects(accesses=tuple(AccessedResource("connects", host) for host in hosts))
