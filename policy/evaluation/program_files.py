"""Resolves the programs that commands spell as paths: the file of `./run.sh`, links followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policy.programs import Invocation, ProgramFile
from policy.shell import SimpleCommand
from policy.values import PathContext, read_path

Paths = Callable[[SimpleCommand], PathContext]


def with_program_files(command: Invocation, paths: Paths) -> Invocation:
    """Return a command with its program's file, and so for all that it runs."""
    if not any(each.place for each in command.walk()):
        return command
    inner = tuple(with_program_files(each, paths) for each in command.inner)
    if not command.place:
        return replace(command, inner=inner)
    context = paths(command.command)
    path = read_path(command.command.words[0].file_name, context)
    return replace(command, inner=inner, file=ProgramFile(path, context))
