"""The tools of a program of the user, named `module:object` on the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from sysconfig import get_paths
from types import ModuleType
from typing import Any

from policy.catalog import builtin_catalog
from policy.cli.loading import exit_with
from policy.diagnostics import nearest, visible
from policy.tools import ToolHandler, handler_for, location_of

# What an object may be that holds several tools. A mapping would leave open whose name counts.
_SEVERAL = (list, tuple, set, frozenset)
_MOST_NAMED = 5
# Where Python and packages are installed, as `sysconfig` calls it.
_INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTools:
    """The tools of a program, and the files of its own modules that were imported for them."""

    handlers: tuple[ToolHandler, ...] = ()
    files: tuple[str, ...] = ()


def python_tools(targets: Iterable[str], *, beside_builtin: bool = False) -> ProgramTools:
    """Return the tools at each `module:object`, or end the command with one line.

    `object` is a tool in any form that a service takes, or a list of them. Modules are searched for
    as Python does, and last in the current folder, so that none there hides an installed one.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    before = set(sys.modules)
    found = [handler for target in targets for handler in _tools_at(target)]
    places = dict.fromkeys(builtin_catalog().names, "Placet itself") if beside_builtin else {}
    for handler in found:
        name, place = handler.spec.name, location_of(handler)
        if name in places:
            exit_with(f"two tools are called `{name}`: {places[name]} and {place}")
        places[name] = place
    modules = {location_of(handler).partition(":")[0] for handler in found}
    files = _files_of(modules | (set(sys.modules) - before))
    return ProgramTools(handlers=tuple(found), files=files)


def _files_of(modules: Iterable[str]) -> tuple[str, ...]:
    """Return the files of modules that are not installed with Python or a package."""
    installed = {os.path.realpath(get_paths()[kind]) for kind in _INSTALLED}
    found: set[str] = set()
    for name in modules:
        file = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(file, str):
            real = os.path.realpath(file)
            if not any(os.path.commonpath((real, folder)) == folder for folder in installed):
                found.add(real)
    return tuple(sorted(found))


def _tools_at(target: str) -> list[ToolHandler]:
    module_name, colon, path = target.partition(":")
    if not colon or not module_name or not path:
        exit_with(f"`{visible(target, 120)}` does not name tools: write MODULE:OBJECT")
    if module_name.endswith(".py") or "/" in module_name:
        exit_with(
            f"`{visible(target, 120)}` names a file: write the module as in an `import`, and set "
            "PYTHONPATH to its folder if that is not the current one"
        )
    module = _module(module_name, target)
    value: Any = module
    for name in path.split("."):
        if not hasattr(value, name):
            exit_with(_missing(module, path, name, value))
        value = getattr(value, name)
    several = list(value) if isinstance(value, _SEVERAL) else [value]
    if not several:
        exit_with(f"`{visible(target, 120)}` is empty: it has no tools")
    return [_handler(each, target) for each in several]


def _module(name: str, target: str) -> ModuleType:
    # Its output must not mix with what the command prints, which may be a protocol.
    with redirect_stdout(sys.stderr):
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            missing = visible(error.name or name, 120)
            is_own = name == error.name or name.startswith(f"{error.name}.")
            why = f"there is no module `{missing}`" if is_own else f"it needs `{missing}`"
            hint = " (modules are searched for in PYTHONPATH and the current folder)"
            exit_with(f"`{visible(target, 120)}` cannot be imported: {why}{hint if is_own else ''}")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the user's module may raise anything
            said = visible(f"{type(error).__name__}: {error}", 400)
            exit_with(f"`{visible(target, 120)}` cannot be imported: {said}{_line_of(error)}")


def _line_of(error: BaseException) -> str:
    """Return where in a file of the user an import failed."""
    if isinstance(error, SyntaxError):
        return ""  # its text has the place
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__ and not file.startswith("<"):
            place = f" ({visible(file, 200)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place


def _missing(module: ModuleType, path: str, name: str, value: object) -> str:
    place = visible(str(getattr(module, "__file__", None) or module.__name__), 200)
    near = nearest(name, [each for each in dir(value) if not each.startswith("_")])
    tools = [each for each, held in vars(module).items() if hasattr(held, "invoke")]
    hint = ""
    if near:
        hint = f"; did you mean `{visible(near, 60)}`?"
    elif tools:
        named = ", ".join(f"`{visible(each, 60)}`" for each in tools[:_MOST_NAMED])
        hint = f"; it has the tools {named}"
    return f"`{visible(module.__name__, 80)}` ({place}) has no `{visible(path, 80)}`{hint}"


def _handler(value: Any, target: str) -> ToolHandler:
    try:
        return handler_for(value)
    except (TypeError, ValueError) as error:
        exit_with(f"`{visible(target, 120)}` is no tool: {visible(str(error), 600)}")
