"""Commands that run in the folder of the call after all, in spite of changes of the folder.

`cd /srv/project && bash build.sh` is `bash build.sh` if the call is made in that folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policy.programs import Invocation
from policy.shell import SimpleCommand
from policy.values import PathContext, Unreadable, read_path

Paths = Callable[[SimpleCommand], PathContext]


def in_call_folder(command: Invocation, paths: Paths, *, base: PathContext) -> Invocation:
    """Return a command, and so all that it runs, without the changes that led back to `base`."""
    if not any(each.command.folders for each in command.walk()):
        return command
    inner = tuple(in_call_folder(each, paths, base=base) for each in command.inner)
    simple = command.command
    if simple.folders and _is_same(paths(simple), base):
        simple = replace(simple, folders=())
    return replace(command, command=simple, inner=inner)


def _is_same(changed: PathContext, base: PathContext) -> bool:
    if changed.directory_unknown:
        return False
    here, there = read_path(".", changed), read_path(".", base)
    if isinstance(here, Unreadable) or isinstance(there, Unreadable):
        return False
    return (here.resolved or here.lexical) == (there.resolved or there.lexical)
