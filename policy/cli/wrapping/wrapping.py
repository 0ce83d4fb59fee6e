"""Which servers of a client move behind the gateway, and its file with them moved, or back again.

The file as it was is kept. Wrapping again starts from it, so that doing so twice is doing it once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from policy.cli.wrapping.client_file import ClientFile
from policy.cli.wrapping.gateway_entry import NAME, gateway_entry, gateway_of
from policy.cli.wrapping.moved_server import MovedServer, NotMovedError, is_disabled, moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """The servers that move, why others cannot, and which are left where they are."""

    servers: tuple[MovedServer, ...]
    problems: Mapping[str, str]
    left: tuple[str, ...]


def moves_of(file: ClientFile, *, leave: Collection[str] = ()) -> Moves:
    """Return what becomes of each server of a client that is not wrapped."""
    ours = gateway_of(file)
    names = [name for name in file.servers if name != ours]
    left = [name for name in names if name in leave or is_disabled(file.servers[name])]
    servers: list[MovedServer] = []
    problems: dict[str, str] = {}
    for name in names:
        if name in left:
            continue
        try:
            server = moved(name, file.servers[name])
        except NotMovedError as error:
            problems[name] = str(error)
        else:
            servers.append(server)
    taken: set[str] = set()
    for server in servers:
        if taken & server.variables.keys():
            problems[server.name] = "its variables would be those of another server: rename it"
        taken |= server.variables.keys()
    return Moves(servers=tuple(servers), problems=problems, left=tuple(left))


def wrapped(file: ClientFile, servers: Iterable[MovedServer], policy: str) -> ClientFile:
    """Return a client's file with the gateway in place of these servers; raises ValueError."""
    servers, ours = tuple(servers), gateway_of(file)
    before = None if ours is None else file.servers[ours]
    entry = gateway_entry(file.kind, policy, servers, before=before)
    for server in servers:
        file = file.without(server.name)
    if ours is not None:
        if entry == before:
            return file
        file = file.without(ours)
    return file.with_server(ours or NAME, entry)


def unwrapped(file: ClientFile, original: ClientFile, policy: str) -> ClientFile:
    """Return a client's file without the gateway, and with its servers; raises ValueError.

    That is `original` if the file is as wrapping that would make it. Otherwise what was edited
    since stays, and the servers are added as they were written.
    """
    ours = gateway_of(file)
    if ours is None:
        return file
    servers = moved_from(file, original)
    if wrapped(original, servers, policy).text == file.text:
        return original
    file = file.without(ours)
    for name in original.servers:
        if name not in file.servers and (name == ours or name in {each.name for each in servers}):
            file = file.with_server_of(original, name)
    return file


def moved_from(file: ClientFile, original: ClientFile) -> tuple[MovedServer, ...]:
    """Return the servers that were moved when the file was wrapped."""
    return tuple(each for each in moves_of(original).servers if each.name not in file.servers)
