"""How `bash_exec` starts its shell: the script that was understood, and an environment of ours.

A script that came in may be read by bash in another way than by us. What bash gets is therefore
printed from what was read. Nothing of the environment changes how it reads, and no program of the
workspace comes before one of the system unless the operator says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from policy.model import Execution
from policy.shell import NotPrintable, printed, read_script
from policy.values import Unreadable

# Bash runs, or reads otherwise, what these hold.
_STEERING = frozenset(
    {"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "PS4", "BASH_XTRACEFD"}
)
_FUNCTION = "BASH_FUNC_"
# git runs commands that the configuration of a repository names, and takes a folder that looks like
# a bare one for a repository: files that any tool may write. It shall use those that are spelled.
_BARE = "safe.bareRepository"
_SYSTEM = "/usr/local/bin:/usr/bin:/bin"


def script_to_run(tool: str, command: str) -> str:
    """Return what bash is to run of a script that is allowed.

    What cannot be read, or not to its end, has no form of its own. No rule that speaks of
    resources allows it, so it runs as it came.
    """
    form = printed(command)
    if not isinstance(form, NotPrintable):
        return form
    script = read_script(command)
    if isinstance(script, Unreadable) or script.gaps:
        return command
    raise Execution(tool, f"the script was not run, since it has no printed form: {form.reason}")


def shell_arguments(script: str) -> tuple[str, ...]:
    """Return the words that start a shell for a script. `-p`: it takes no functions over."""
    return ("bash", "--noprofile", "--norc", "-p", "-c", script)


def shell_environment(
    env: Mapping[str, str], *, workspace: str, inside: Iterable[str] = ()
) -> dict[str, str]:
    """Return the environment of a shell; folders `inside` the workspace go before the others."""
    kept = {
        name: value
        for name, value in env.items()
        if name not in _STEERING and not name.startswith(_FUNCTION)
    }
    folders = [os.path.join(workspace, each) for each in inside]
    folders += _outside(env.get("PATH", _SYSTEM).split(os.pathsep), workspace)
    return {**kept, **_git_settings(kept), "PATH": os.pathsep.join(folders) or _SYSTEM}


def _git_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that tell git our setting, unless the operator has one."""
    told = env.get("GIT_CONFIG_COUNT", "")
    count = int(told) if told.isdecimal() else 0
    names = {env.get(f"GIT_CONFIG_KEY_{place}", "").lower() for place in range(count)}
    if _BARE.lower() in names:
        return {}
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": _BARE,
        f"GIT_CONFIG_VALUE_{count}": "explicit",
    }


def _outside(folders: Iterable[str], workspace: str) -> list[str]:
    """Return the folders where the tools cannot put a program by writing to the workspace."""
    root = os.path.realpath(workspace)
    kept = []
    for folder in folders:
        real = os.path.realpath(folder)
        if os.path.isabs(folder) and os.path.commonpath((root, real)) != root:
            kept.append(folder)
    return kept
