"""Resolves the files that commands run: of `./run.sh` and `python src/a.py`, links followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policy.programs import Invocation, ProgramFile
from policy.shell import SimpleCommand, Word
from policy.values import PathContext, read_path

Paths = Callable[[SimpleCommand], PathContext]


def with_program_files(command: Invocation, paths: Paths) -> Invocation:
    """Return a command with the files of its program and script, and so for all that it runs."""
    if not any(each.place or _has_script(each) for each in command.walk()):
        return command
    inner = tuple(with_program_files(each, paths) for each in command.inner)
    context = paths(command.command)
    spelled = command.place and "/" in command.command.words[0].text
    file = _file(command.command.words[0], context) if spelled else None
    operands = command.operands
    if _has_script(command):
        operands = tuple(
            replace(one, file=_file(one.word, context)) if one.script and one.word.known else one
            for one in operands
        )
    return replace(command, inner=inner, file=file, operands=operands)


def _has_script(command: Invocation) -> bool:
    """Return whether a command runs a script that it names, in the folder that the call shows."""
    elsewhere = any(option.changes_folder or option.unknown for option in command.options)
    return not elsewhere and any(one.script for one in command.operands)


def _file(word: Word, context: PathContext) -> ProgramFile:
    return ProgramFile(read_path(word.file_name, context), context)
