"""How `bash_exec` starts its shell: with the script as it was parsed, and a fixed environment.

Bash might parse the original script in another way than Placet does, so it gets a script printed
from the parsed one. Nothing in the environment changes how it is parsed, and no program of the
workspace takes precedence over the system's unless the operator configures that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from policy.model import Execution
from policy.shell import NotPrintable, printed, read_script
from policy.values import Unreadable

# Variables whose contents bash runs, or that change how it parses. (By the last two it finds the
# translation of `$"…"`, which it expands.)
_STEERING = frozenset(
    "BASH_ENV ENV SHELLOPTS BASHOPTS CDPATH GLOBIGNORE PS4 BASH_XTRACEFD TEXTDOMAIN "
    "TEXTDOMAINDIR".split()
)
_FUNCTION = "BASH_FUNC_"
# git runs commands from a repository's configuration, and takes a folder that looks like a bare
# repository for one: files that any tool may write. It must use only repositories named as such.
_BARE = "safe.bareRepository"
_SYSTEM = "/usr/local/bin:/usr/bin:/bin"


def script_to_run(tool: str, command: str) -> str:
    """Return the script that bash runs for an allowed one.

    A script that cannot be fully parsed has no printed form. No rule with conditions on resources
    allows it, so it runs as it was received.
    """
    form = printed(command)
    if not isinstance(form, NotPrintable):
        return form
    script = read_script(command)
    if isinstance(script, Unreadable) or script.gaps:
        return command
    raise Execution(tool, f"the script was not run, since it has no printed form: {form.reason}")


def shell_arguments(script: str) -> tuple[str, ...]:
    """Return the arguments that start a shell for a script. `-p`: import no functions."""
    return ("bash", "--noprofile", "--norc", "-p", "-c", script)


def missing_program(name: str) -> str:
    """Return what callers are told of a program that is in no folder of its `PATH`."""
    return f"`{name}` is not installed on this machine, in a folder of `PATH` outside the workspace"


def shell_environment(
    env: Mapping[str, str], *, workspace: str, inside: Iterable[str] = ()
) -> dict[str, str]:
    """Return the environment of a shell; folders `inside` the workspace come first in PATH."""
    kept = {
        name: value
        for name, value in env.items()
        if name not in _STEERING and not name.startswith(_FUNCTION)
    }
    folders = [os.path.join(workspace, each) for each in inside]
    folders += _outside(env.get("PATH", _SYSTEM).split(os.pathsep), workspace)
    return {**kept, **_git_settings(kept), "PATH": os.pathsep.join(folders) or _SYSTEM}


def _git_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that give git this setting, unless the operator has one."""
    configured = env.get("GIT_CONFIG_COUNT", "")
    count = int(configured) if configured.isdecimal() else 0
    names = {env.get(f"GIT_CONFIG_KEY_{place}", "").lower() for place in range(count)}
    if _BARE.lower() in names:
        return {}
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": _BARE,
        f"GIT_CONFIG_VALUE_{count}": "explicit",
    }


def _outside(folders: Iterable[str], workspace: str) -> list[str]:
    """Return the folders that tools cannot write by writing to the workspace."""
    root = os.path.realpath(workspace)
    kept = []
    for folder in folders:
        real = os.path.realpath(folder)
        if os.path.isabs(folder) and os.path.commonpath((root, real)) != root:
            kept.append(folder)
    return kept
