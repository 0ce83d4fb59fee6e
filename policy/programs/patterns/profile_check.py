"""Checks the examples in a profile file against what the profile declares."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from policy.programs.invocation import CommandEffect, Invocation, ScriptAnalysis, Verb
from policy.programs.patterns.coverage import covers
from policy.programs.patterns.pattern import CommandPattern, read_command_pattern
from policy.programs.profiles.examples import Example
from policy.programs.profiles.faults import ProfileFault
from policy.programs.profiles.profile_file import ProfileFile
from policy.programs.profiles.registry import Profiles
from policy.programs.script_analysis import analyse_script
from policy.programs.words.remotes import as_url
from policy.values import Unreadable, quote

_WITHOUT_QUOTES = str.maketrans("", "", "'\"\\")
_VARIABLES = re.compile(r"(?:[A-Za-z_]\w*=\S* )+")
_VERBS: tuple[Verb, ...] = ("reads", "writes", "connects", "sends")


def check_examples(file: ProfileFile, profiles: Profiles) -> tuple[ProfileFault, ...]:
    """Return a fault for each claim of an example that does not hold."""
    return tuple(
        ProfileFault(
            file=file.file,
            message=f"the example {quote(example.run)} {said}",
            help="correct the example, or what the profile says of its options and operands",
            line=example.line,
        )
        for example in file.examples
        for said in _wrong(example, profiles)
    )


def _wrong(example: Example, profiles: Profiles) -> Iterator[str]:
    understood = analyse_script(example.run, profiles)
    if isinstance(understood, Unreadable):
        yield f"cannot be read: {understood.reason}"
        return
    for verb in _VERBS:
        yield from _wrong_effects(verb, getattr(example, verb), understood)
    yield from _wrong_runs(example, understood)
    yield from _wrong_facts(example, understood)
    yield from _wrong_cover(example, understood, profiles)


def _wrong_effects(
    verb: Verb, wanted: tuple[str, ...] | None, understood: ScriptAnalysis
) -> Iterator[str]:
    if wanted is None:
        return
    effects = [one for command in understood.walk() for one in command.effects if one.verb == verb]
    # What begins above the folder only the disk tells.
    effects = [one for one in effects if one.unless is None]
    named = dict.fromkeys(_spelled(one) for one in effects if not (one.into or one.working_folder))
    missing = [one for one in wanted if not any(_same(one, texts) for texts in named)]
    other = [
        texts[0]
        for texts in named
        if texts[0] != "?" and not any(_same(one, texts) for one in wanted)
    ]
    if missing:
        told = _listed(texts[0] for texts in named)
        yield f"should be one that {verb} {_listed(missing)}; it {verb} {told}"
    if other:
        yield f"{verb} {_listed(other)} too"


def _spelled(effect: CommandEffect) -> tuple[str, ...]:
    """Return the spelling of a path, relative to its folder and joined with it."""
    if effect.word is None:
        return ("?",)
    text = effect.word.text
    if not effect.folder:
        return (text,)
    folders = (word.text for word in effect.folder)
    return posixpath.normpath(posixpath.join(*folders, text)), text


def _same(wanted: str, given: tuple[str, ...]) -> bool:
    """Return whether an example spells a resource in full, or by its host alone."""
    if wanted in given or as_url(wanted) in given:
        return True
    host = given[0].partition("://")[2].partition("/")[0]
    return bool(host) and wanted in (host, host.rpartition("@")[2])


def _wrong_runs(example: Example, understood: ScriptAnalysis) -> Iterator[str]:
    if example.runs is None:
        return
    # Either the direct nested commands, or all levels.
    near = [one for command in understood.commands for one in command.inner]
    all_of_them = [one for command in near for one in command.walk()]
    wanted = set(map(_on_one_line, example.runs))
    if wanted not in (_texts(near), _texts(all_of_them)):
        yield f"should run {_listed(example.runs)}; it runs {_listed(sorted(_texts(all_of_them)))}"


def _texts(commands: Iterable[Invocation]) -> set[str]:
    return {_on_one_line(one.command.text) for one in commands}


def _on_one_line(text: str) -> str:
    return _VARIABLES.sub("", " ".join(text.translate(_WITHOUT_QUOTES).split()))


def _wrong_facts(example: Example, understood: ScriptAnalysis) -> Iterator[str]:
    commands = tuple(understood.walk())
    gaps = [*understood.gaps, *(gap for command in commands for gap in command.gaps)]
    if example.hides is not None and example.hides != bool(gaps):
        yield f"hides commands: {gaps[0]}" if gaps else "should hide commands, and hides none"
    unseen = any(command.unseen for command in commands)
    if example.unseen is not None and example.unseen != unseen:
        yield "runs code out of sight" if unseen else "should run code out of sight"
    free = all(command.free for command in understood.commands)
    if example.free is not None and example.free != free:
        yield "needs no pattern of its own" if free else "should need no pattern of its own"


def _wrong_cover(example: Example, understood: ScriptAnalysis, profiles: Profiles) -> Iterator[str]:
    covering = list(_patterns(example.covered_by or (), profiles))
    others = list(_patterns(example.not_covered_by or (), profiles))
    for wrong in (*covering, *others):
        if isinstance(wrong, str):
            yield wrong
            return
    if covering and not _is_covered(understood, covering):
        yield f"should be covered by {_listed(example.covered_by or ())}"
    for pattern in others:
        if _is_covered(understood, [pattern]):
            yield f"should not be covered by {_listed([_text(pattern)])}"


def _patterns(texts: Iterable[str], profiles: Profiles) -> Iterator[CommandPattern | str]:
    for text in texts:
        pattern = read_command_pattern(text, profiles)
        if isinstance(pattern, Unreadable):
            yield f"names the pattern {quote(text)}, which cannot be read: {pattern.reason}"
        else:
            yield pattern


def _text(pattern: CommandPattern | str) -> str:
    return pattern if isinstance(pattern, str) else pattern.text


def _is_covered(understood: ScriptAnalysis, patterns: list[CommandPattern | str]) -> bool:
    read = [pattern for pattern in patterns if not isinstance(pattern, str)]
    return not understood.gaps and all(
        covers(command, read, redirections_covered=True) for command in understood.commands
    )


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(quote(text) for text in texts) or "nothing"
