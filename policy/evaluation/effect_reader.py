"""Reads the effects of a call from its input: declared arguments, and the commands of scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from policy.catalog import Resource
from policy.evaluation.accesses import Access, folders_below, glob_meaning, searched_folder
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.disk_view import GlobMeaning, glob_of
from policy.evaluation.effects import (
    MOST_TEXTS,
    SETS_GLOBS,
    CallEffects,
    PossibleWord,
    UndeclaredText,
    is_one_word,
)
from policy.evaluation.link_changes import LinkChanges
from policy.evaluation.plain_names import prints_plain_names
from policy.evaluation.uri_arguments import uri_accesses
from policy.model import HasOtherNames
from policy.programs import (
    Invocation,
    Profiles,
    ScriptAnalysis,
    analyse_script,
    listed_folders,
    orders_to_write,
)
from policy.shell import Assignment, Word
from policy.values import PathContext, Unreadable


def read_effects(
    input: Mapping[str, Any],
    declared: DeclaredResources,
    paths: PathContext,
    *,
    other_names: HasOtherNames | None,
) -> CallEffects:
    """Return the effects of a call's input, by the layer's declarations of the tool."""
    effects = CallEffects(declared, paths, other_names)
    present: set[str] = set()
    alone = _runs_one_script(declared)
    for resource in declared.resources:
        if resource.only_for is not None and not resource.counts_in(input):
            continue
        verb, steps = resource.verb, resource.steps
        if len(steps) == 1:
            # The usual case: a single argument, which is a string.
            leaf = input.get(steps[0])
            if leaf.__class__ is str:
                present.add(verb)
                _add_leaf(effects, input, resource, leaf=leaf, alone=alone)
                continue
        leaves = list(_leaves(input, steps, whole=verb == "runs"))
        if leaves:
            present.add(verb)
        else:
            effects.absent.add(verb)
        for leaf in leaves:
            _add_leaf(effects, input, resource, leaf=leaf, alone=alone and len(leaves) == 1)
    effects.absent -= present
    if not declared.complete:
        effects.possible = tuple(islice(_texts(input), MOST_TEXTS + 1))
    uncertain = effects.possible or effects.words or effects.unprofiled or effects.handed
    effects.certain = not uncertain
    return effects


def _runs_one_script(declared: DeclaredResources) -> bool:
    """Return whether a tool runs one script, and creates files by nothing else."""
    verbs = [resource.verb for resource in declared.resources]
    return declared.complete and verbs.count("runs") == 1 and "writes" not in verbs


def _leaves(value: Any, steps: tuple[str, ...], *, whole: bool) -> Iterator[Any]:
    """Yield the values at `steps`, through lists; null counts as absent.

    For a `whole` value, the elements of a list are its values only if a step selects them: a list
    of strings may be several commands, or the words of one.
    """
    if value is None:
        return
    if isinstance(value, tuple):
        if whole and not steps:
            yield Unreadable(reason="a list may be commands, or the words of one")
            return
        rest = steps[1:] if steps and steps[0] == "*" else steps
        for item in value:
            yield from _leaves(item, rest, whole=whole)
        return
    if not steps:
        yield value
    elif steps[0] == "*":
        yield from _leaves(value, steps[1:], whole=whole)
    elif isinstance(value, Mapping):
        yield from _leaves(value.get(steps[0]), steps[1:], whole=whole)
    else:
        yield Unreadable(reason="a value of an unexpected type where a resource is declared")


def _texts(value: Any) -> Iterator[UndeclaredText]:
    """Yield the strings of a value, each once."""
    pending = [(value, "input")]
    seen: set[str] = set()
    while pending:
        item, field = pending.pop()
        if isinstance(item, str):
            if item not in seen:
                seen.add(item)
                yield UndeclaredText(item, field)
        elif isinstance(item, Mapping):
            pending.extend((each, f"{field}.{name}") for name, each in item.items())
        elif isinstance(item, tuple):
            pending.extend((each, field) for each in item)


def _add_leaf(
    effects: CallEffects, input: Mapping[str, Any], resource: Resource, *, leaf: Any, alone: bool
) -> None:
    verb = resource.verb
    if resource.uri and isinstance(leaf, str):
        for access in uri_accesses(verb, leaf, steps=resource.steps):
            effects.add(access)
    elif leaf.__class__ is str and verb != "runs" and resource.tree_field is None:
        unsaid = resource.may_be_tree
        effects.add(
            Access(
                verb,
                leaf,
                tree=bool(resource.tree),
                if_folder=unsaid,
                steps=resource.steps,
                meant=_tree_of(resource) if resource.tree or unsaid else None,
                open_path=resource.open_path,
            )
        )
    elif not isinstance(leaf, str):
        why = leaf.reason if isinstance(leaf, Unreadable) else "not a string"
        _add_unknown(effects, _ALL if verb == "runs" else (verb,), why=why)
    elif verb == "runs":
        _add_script(effects, leaf, alone=alone)
    else:
        tree = resource.tree or bool(resource.tree_field and input.get(resource.tree_field))
        meant = _tree_of(resource) if tree else None
        effects.add(Access(verb, leaf, tree=tree, steps=resource.steps, meant=meant))


def _tree_of(resource: Resource) -> GlobMeaning:
    """Return how a tool uses a tree: one that depends on an argument is a listing."""
    listed = resource.listed or (resource.tree_field is not None and not resource.tree)
    return GlobMeaning(
        tree=True, listed=listed, follow_links=resource.verb == "reads" and not listed
    )


def _add_unknown(effects: CallEffects, verbs: tuple[str, ...], *, why: str) -> None:
    for verb in verbs:
        effects.add(Access(verb, None, why=why))


# Commands that cannot be parsed may do anything.
_ALL = ("runs", "reads", "writes", "connects", "sends")


# ------------------------------------------------------------------ commands

# The program that splits the paths that searches print.
_SPLITS = "xargs"


def _add_script(effects: CallEffects, text: str, *, alone: bool) -> None:
    """Add the commands of a script; `alone`: nothing else of the call creates files."""
    script = analyse_script(text, effects.profiles)
    if alone and isinstance(script, ScriptAnalysis) and _splits(text, script):
        plainly = analyse_script(text, effects.profiles, plain_names=True)
        assert isinstance(plainly, ScriptAnalysis)
        if prints_plain_names(plainly, lambda by: effects.folder(by.folders)):
            script = plainly
    if SETS_GLOBS in text:
        effects.widen_globs()
    if isinstance(script, Unreadable):
        _add_unknown(effects, _ALL, why=script.reason)
        return
    for gap in script.gaps:
        _add_unknown(effects, _ALL, why=gap)
    makers = [command for command in script.walk() if command.links is not None]
    if makers:
        effects.links = effects.links or LinkChanges(effects.paths)
        effects.links.add(script, makers)
    effects.commands.extend(script.commands)
    for command in script.walk():
        effects.unseen = effects.unseen or command.unseen
        effects.add(command)
        _add_words(effects, command)
        rewritten = bool(command.handed) and any(map(orders_to_write, command.command.words))
        for each in command.handed:
            folders = command.command.folders
            folders = folders_below(folders, each.folder) if each.folder else folders
            paths = effects.folder(folders, command.command)
            given, paths = _placed(each.word, paths, effects, command)
            word = _possible(given, paths, command=command, handed=True)
            effects.handed.append(replace(word, rewritten=rewritten and not each.only_reads))


def _splits(text: str, script: ScriptAnalysis) -> bool:
    """Return whether a script splits a list of paths into words."""
    if _SPLITS in text:
        return True
    return "$(" in text and any(
        word.printed for command in script.walk() for word in command.command.words
    )


def _add_words(effects: CallEffects, command: Invocation) -> None:
    """Record words that may be undeclared resources."""
    simple = command.command
    values = [
        each.value for each in simple.assignments if not _is_own(each, command, effects.profiles)
    ]
    words = () if command.profiled or simple.is_function else simple.words
    if words or command.passes_on:
        effects.unprofiled.append(command)
    if not values and not words:
        return
    paths = effects.folder(simple.folders, simple)
    given = (_placed(word, paths, effects, command) for word in (*words, *values))
    effects.words += (_possible(word, place, command=command) for word, place in given)
    inside = (one for word in words[1:] for one in _words_inside(word, effects.profiles))
    effects.words += (_possible(word, paths, command=command) for word in inside)


def _words_inside(word: Word, profiles: Profiles) -> Iterator[Word]:
    """Yield what the shell makes of a word that may be a command line: its globs and variables."""
    if not word.known or not any(char.isspace() for char in word.text):
        return
    script = analyse_script(word.text, profiles)
    if not isinstance(script, Unreadable):
        for each in script.walk():
            targets = (one.target for one in each.command.redirections)
            yield from (one for one in (*each.command.words, *targets) if not one.known)


def _placed(
    word: Word, paths: PathContext, effects: CallEffects, command: Invocation
) -> tuple[Word, PathContext]:
    """Return a word below the folder of the call as a path there; any other word as it is."""
    start = effects.paths.cwd or effects.paths.workspace or ""
    if word.below_start is None or (word.many and not is_one_word(start)):
        return word, paths
    return Word(word.below_start), effects.folder((), command.command)


def _possible(
    word: Word, paths: PathContext, *, command: Invocation, handed: bool = False
) -> PossibleWord:
    possible = PossibleWord(
        text=word.text,
        paths=paths,
        handed=handed,
        # A name that `-*` finds is an option, and any part of it a value.
        whole=word.shape != "opaque" and not (word.shape == "glob" and word.text[:1] == "-"),
        tail=word.tail,
        command=command.command.text,
    )
    if word.shape == "glob":
        folder, names = searched_folder(word)
        if glob_of(word)[0] == folder:
            meant = glob_meaning(word, tree=True, follows=True, listed=False)
            possible = replace(possible, steps=meant.steps)
        possible = replace(possible, folder=folder, names=names)
    return possible


def _is_own(assignment: Assignment, command: Invocation, profiles: Profiles) -> bool:
    """Return whether a variable is the script's own, or known to have no effect."""
    role = profiles.variable_set(assignment, unseen=command.only_unseen)
    if role is None:
        return not command.command.words or (assignment.kept and command.profiled)
    if role == "folders":
        # What it reads is among the effects of the command.
        return listed_folders(assignment.value) is not None
    return role == "harmless"
