"""Where the interpreter of `python_exec` is, and which folders a sandbox has to show for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from policy.sandbox import SYSTEM, is_within


@dataclass(frozen=True, slots=True, kw_only=True)
class InterpreterPath:
    """An interpreter; `path` is absolute, `libraries` are its folders that are not the system's."""

    path: str
    libraries: tuple[str, ...] = ()


def find_interpreter(
    name: str, env: Mapping[str, str], *, workspace: str | None, home: str
) -> InterpreterPath | str:
    """Return an interpreter, or why there is none that can be used.

    A name is looked up among the folders of the system alone, since whoever configures it does not
    say that anything else may be read. For an absolute path its folder above `bin` is shown. None
    is taken from the workspace: it installs packages for other calls, too.
    """
    if not os.path.isabs(name):
        folders = env["PATH"].split(os.pathsep)
        found = (shutil.which(name, path=folder) for folder in folders if os.path.isabs(folder))
        usable = (
            each
            for each in found
            if each
            and _is_of_the_system(each)
            and not _is_in_workspace((each, os.path.realpath(each)), workspace)
        )
        path = next(usable, None)
        if path is None:
            return f"`{name}` is not installed in a folder of the system: name it by its path"
        return InterpreterPath(path=path)
    if shutil.which(name) is None:
        return f"`{name}` is not installed on this machine"
    path, real = os.path.normpath(name), os.path.realpath(name)
    shown = [_above_bin(real)]
    if os.path.exists(os.path.join(_above_bin(path), "pyvenv.cfg")):
        shown.insert(0, _above_bin(path))
    else:
        path = real  # what is beside a link from elsewhere, as in `~/bin`, need not be shown
    libraries = tuple(dict.fromkeys(each for each in shown if not _is_of_the_system(each)))
    used = (path, real, *libraries)
    if any(is_within(os.path.realpath(home), (os.path.realpath(each),)) for each in libraries):
        return f"`{name}` cannot be shown without all of {home}: use another one"
    if _is_in_workspace(used, workspace):
        return f"`{name}` is in the workspace"
    return InterpreterPath(path=path, libraries=libraries)


def _above_bin(path: str) -> str:
    return os.path.dirname(os.path.dirname(path))


def _is_of_the_system(path: str) -> bool:
    places = (path, os.path.realpath(path))
    return all(is_within(place, SYSTEM) for place in places)


def _is_in_workspace(paths: Iterable[str], workspace: str | None) -> bool:
    """Return whether a path is in the workspace, which may be in a folder of the system, too."""
    if workspace is None:
        return False
    root = os.path.realpath(workspace)
    return any(_overlap(path, root) for path in paths)


def _overlap(one: str, other: str) -> bool:
    return is_within(one, (other,)) or is_within(other, (one,))
