"""Parses shell scripts: text to simple commands, or to a tree.

A module apart from `reader.py`, which imports it when a script comes: the parser is large.
"""

from __future__ import annotations

from dataclasses import replace

from policy.shell.cursor import Cursor
from policy.shell.double_evaluation import COMPUTED_TEXT, may_run_texts
from policy.shell.list_reader import ScriptReader
from policy.shell.not_readable import NotReadable
from policy.shell.redirections import MAY_CONNECT
from policy.shell.script import Script
from policy.shell.shell_state import Findings, ShellState
from policy.shell.stated_words import Settle, without_output, without_places
from policy.shell.tree import CommandList
from policy.shell.variation_selectors import (
    quotes_all_variation_selectors,
    without_variation_selectors,
)
from policy.shell.word import Assignment
from policy.values import Unreadable, is_ordinary

_NO_ASSIGNMENTS: frozenset[Assignment] = frozenset()


_LONGEST = 1_000_000
_INVISIBLE = "a script with invisible characters"


def read_script_uncached(text: str) -> Script | Unreadable:
    """Parse a script without the cache of results."""
    reason = _rejection(text)
    if reason is not None:
        return Unreadable(reason=reason)
    findings = Findings()
    try:
        _parse(text, findings)
    except NotReadable as problem:
        return Unreadable(reason=str(problem))
    _settle(findings)
    return Script(
        commands=tuple(findings.commands),
        gaps=tuple(findings.gaps),
        computed=frozenset(findings.computed),
        texts=frozenset(findings.texts),
        concurrent=findings.concurrent,
        repeats=findings.repeats,
    )


def read_tree(text: str) -> CommandList:
    """Parse a script into a tree; raise NotReadable if that is not possible or is ambiguous."""
    reason = _rejection(text)
    if reason is not None:
        raise NotReadable(reason)
    findings = Findings()
    tree = _parse(text, findings)
    if findings.aliased and findings.gaps:
        # The shell may expand it, and its text is then joined to the text that follows.
        raise NotReadable("an alias that the shell may expand")
    return tree


def _rejection(text: str) -> str | None:
    """Return why a text is rejected before parsing, None if it is not."""
    if len(text) > _LONGEST:
        return "a script that is too long"
    # Control characters, other blanks and lone surrogates.
    if not text.replace("\n", " ").replace("\t", " ").isprintable():
        return "a script with unprintable characters"
    if not is_ordinary(text) and not is_ordinary(without_variation_selectors(text)):
        return _INVISIBLE
    return None


def _parse(text: str, findings: Findings) -> CommandList:
    tree = ScriptReader(Cursor(text, findings), ShellState(findings), ()).read()
    # In quotes they only determine how the character before is drawn, as in many emojis.
    if not is_ordinary(text) and not quotes_all_variation_selectors(tree):
        raise NotReadable(_INVISIBLE)
    return tree


def _settle(findings: Findings) -> None:
    """Add findings that depend on the whole script."""
    if may_run_texts(findings.computed, findings.texts):
        findings.gap(COMPUTED_TEXT)
    if findings.counting and (
        findings.replaced_functions or not findings.counting.isdisjoint(findings.defined)
    ):
        findings.gap(COMPUTED_TEXT)
    if findings.wandering and not findings.handlers.isdisjoint(findings.defined):
        findings.gap("a trap whose commands may change the shell")
    commands = findings.commands
    if findings.replaced_functions or not findings.feeding.isdisjoint(findings.defined):
        # The printing program may be a function, as far as is known.
        commands[:] = [
            replace(each, fed_by=(), fed_before=()) if each.fed_by else each for each in commands
        ]
    _settle_words(findings)
    carried = tuple(findings.carried)
    for position in findings.bodies:
        command = commands[position]
        if command.folders is None and not findings.moved:
            command = replace(command, folders=())
        present = frozenset(command.assignments) if carried else _NO_ASSIGNMENTS
        missing = tuple(each for each in carried if each not in present)
        if missing and command.words:
            command = replace(command, assignments=(*missing, *command.assignments))
        commands[position] = command


def _settle_words(findings: Findings) -> None:
    """Make words unknown that rely on a program, or on a variable, that the script may change."""
    changed, defined = findings.replaced_functions, findings.defined
    settle: list[Settle] = []
    if changed or findings.splitting or not findings.printing.isdisjoint(defined):
        settle.append(without_output)
    if changed or findings.renaming or "pwd" in defined:
        settle.append(without_places)
    for each in settle:
        for position, command in enumerate(findings.commands):
            settled = each(command)
            if settled.redirections != command.redirections:
                findings.gap(MAY_CONNECT)
            findings.commands[position] = settled
