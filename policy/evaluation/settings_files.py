"""Whether a call writes the settings of an agent in its project, by name or among other files.

The files stand in the middle of a project, so that much of what writes there may write them. A
command that names one, or its folder, is certain. Of one that writes somewhere in the project it
follows from its kind: what changes existing files writes a file that is there, what unpacks may
write it, and for git the repository is looked into.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import CallEffects, KnownResource
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.floor import ProtectedFile
from policy.evaluation.git_moves import git_move
from policy.evaluation.possible_resources import handed_paths, may_be_handed, rewritten_folders
from policy.values import Path, quote, tree_reaches, without_invisible

_MAY = {
    "any": "the files of an archive or a patch may have any name",
    "patched": "the files of a patch may have any name",
    "copied": "which files are copied is not known",
    "given": "what code does with the files that it is given is not known",
    "own": "the program writes somewhere below this folder",
}
_KIND = "it is a file of the kind that the program rewrites"


def settings_file(
    settings: tuple[str, ...], call: Evaluation, declared: DeclaredResources
) -> ProtectedFile | None:
    """Return a settings file that a call writes, or else one that it may write; None if neither."""
    effects = call.effects(declared)
    maybe: ProtectedFile | None = None
    for item in effects.of("writes"):
        thing = item.thing
        if not isinstance(thing, Path) and item.access is not None:
            thing = effects.as_spelled(item.access)
        if not isinstance(thing, Path):
            continue
        for path in settings:
            found = _found(item, thing, path, call, effects)
            if found is not None and not found.why:
                return found
            maybe = maybe or found
    return _handed(settings, call, effects) or maybe


def _handed(
    settings: tuple[str, ...], call: Evaluation, effects: CallEffects
) -> ProtectedFile | None:
    """Return the settings file that a word names, or may name, which unseen code is given."""
    for thing in handed_paths(effects):
        for path in settings:
            if thing.tree:
                if tree_reaches(thing, path) and not _is_absent(path, call):
                    return ProtectedFile(path, _MAY["given"], of_agent=True)
            elif any(each in (path, posixpath.dirname(path)) for each in _readings(thing)):
                return ProtectedFile(path, of_agent=True)
    for thing in rewritten_folders(effects):
        for path in settings:
            if tree_reaches(thing, path) and not _is_absent(path, call):
                return ProtectedFile(path, _MAY["own"], of_agent=True)
    for path in settings:
        if may_be_handed(effects.handed, path):
            return ProtectedFile(path, _MAY["given"], of_agent=True)
    return None


def _found(
    item: KnownResource, thing: Path, path: str, call: Evaluation, effects: CallEffects
) -> ProtectedFile | None:
    if thing.tree and thing.new_names == "stored":
        return _restored(item, thing, path, call, effects)
    folder = posixpath.dirname(path)
    if thing.reach is None and any(each in (path, folder) for each in _readings(thing)):
        # The file itself, or the folder that it is in: `mv evil .claude`.
        return ProtectedFile(path, of_agent=True)
    if not thing.tree or not any(tree_reaches(thing, name) for name in (path, folder)):
        return None
    why = _why(item, thing, path, call)
    return None if why is None else ProtectedFile(path, why, of_agent=True)


def _readings(thing: Path) -> Iterator[str]:
    for reading in (thing.lexical, thing.resolved or thing.lexical):
        yield reading
        yield without_invisible(reading)
        if thing.folds:
            # Names of settings are spelled in lower case.
            head, tail = posixpath.split(without_invisible(reading))
            yield posixpath.join(head, tail.casefold())
            yield without_invisible(reading).casefold()


def _why(item: KnownResource, thing: Path, path: str, call: Evaluation) -> str | None:
    """Return why a tree may hold a settings file; empty if it surely does, None if it does not."""
    if thing.new_names != "own":
        return _MAY[thing.new_names]
    if thing.contents is None:
        # What unseen code writes is in no tree: `make`, which names none, could write the file too,
        # and a question would protect nothing. Hooks compare the settings after the call.
        return None if item.is_of_unseen_code else _MAY["own"]
    if _is_absent(path, call):
        return None  # only what is there is changed
    return _KIND if thing.contents.are_files else ""


def _is_absent(path: str, call: Evaluation) -> bool:
    """Return whether the disk shows that there is neither a file nor a link at a path."""
    identify, resolve = call.identifies(), call.paths.resolve
    if identify is None or resolve is None:
        return False
    return resolve(path) == path and identify(path) is None


def _restored(
    item: KnownResource, thing: Path, path: str, call: Evaluation, effects: CallEffects
) -> ProtectedFile | None:
    """Return the settings file that git may write, by what its store holds."""
    look = call.facts.resolvers.restores
    if look is None:
        changes = None if tree_reaches(thing, path) else False
    else:
        changes = look(git_move(item.access, thing, effects), path)
    if changes is False:
        return None
    why = "git stores another version of it" if changes else "which files git brings is not known"
    variable = call.facts.resolvers.git_variable
    if variable:
        why = f"{why}, as {quote(variable)} in the environment may lead git to another repository"
    return ProtectedFile(path, why, of_agent=True)
