"""Words that consist of the paths which a search prints: `$(find . -name x)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policy.programs.arguments.searches import printed_paths
from policy.programs.budget import Budget
from policy.programs.found_paths import NOT_SEARCHED, Search
from policy.programs.profiles.registry import Profiles
from policy.shell import SimpleCommand, Word, read_script
from policy.values import Unreadable


def printed_words(command: SimpleCommand, profiles: Profiles, budget: Budget) -> Iterator[Word]:
    """Yield the words of a command, with any path that a search prints in place of its output.

    The paths are relative to the folder in which the script starts, so that in another one such a
    word stays unknown.
    """
    for word in command.words:
        found = NOT_SEARCHED
        if word.printed and command.folders == ():
            found = printed_paths(_pipeline(word.printed), profiles)
        if found == NOT_SEARCHED:
            yield word
            continue
        budget.searches.append(Search(found, command, expanded=True))
        yield replace(found.word(), many=word.many)


def _pipeline(text: str) -> tuple[tuple[Word, ...], ...]:
    """Return the words of the commands of a pipeline, the last one first; none if it does more."""
    script = read_script(text)
    if isinstance(script, Unreadable) or script.gaps:
        return ()
    commands = script.commands
    if any(one.inside or one.assignments or one.folders != () for one in commands):
        return ()
    if not all(map(_prints_alone, commands)):
        return ()
    return tuple(one.words for one in reversed(commands))


def _prints_alone(command: SimpleCommand) -> bool:
    """Return whether the next command gets all that a command prints, and nothing else."""
    return command.stdin is None and all(
        one.op == ">" and one.fd == 2 and one.target.known and one.target.text == "/dev/null"
        for one in command.redirections
    )
