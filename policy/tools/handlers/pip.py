"""How pip is started to install wheels into a folder, and what its errors say.

pip runs nothing of what it installs, unless it builds a source distribution or starts a version
control system. It takes wheels alone from an index, but a wheel may itself require a URL. So its
process is kept from starting any other one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from policy.diagnostics import visible
from policy.generation import PythonSettings

_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
_LONGEST, _MOST_LINES = 300, 3
# What pip asks for about the machine (`lsb_release`) it can do without, if the error is an OSError.
_ALONE = """\
import runpy, sys
STARTS = {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty", "os.system"}
def refuse(event, arguments):
    if event in STARTS:
        raise PermissionError("only wheels are installed: nothing is built, nothing else started")
sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
_ERROR = re.compile(r"^(?:ERROR: |\w*Error: )(.*)$", re.MULTILINE)
_NO_PIP = re.compile(r"No module named '?pip'?$", re.MULTILINE)
# A package that requires another by the address of a repository, or by another one, as it looks.
_REPOSITORY = re.compile(r"No permission to execute '(git|hg|svn|bzr)'")
_ADDRESS = re.compile(
    r"due to an OSError: (?:HTTPS?ConnectionPool|\[Errno 2\])|"
    r"is not a valid wheel filename|' != '.*' for wheel"
)
_BY_NAME = "packages are installed by name, from the index or the folder of wheels"
# Nothing about what is installed, and no configuration of this machine or user.
ENVIRONMENT = {"PIP_CONFIG_FILE": os.devnull}


def pip_arguments(
    interpreter: str, requirements: Iterable[str], python: PythonSettings, *, target: str, temp: str
) -> tuple[str, ...]:
    """Return what installs requirements into the folder `target`, with `temp` for other files."""
    return (
        # In a sandbox with a folder of its own for temporary files, these would be in memory.
        *("env", f"TMPDIR={temp}", interpreter, "-I", "-c", _ALONE, "install", "--isolated"),
        *("--only-binary", ":all:", "--target", target, "--no-cache-dir", "--no-input", "--quiet"),
        *("--disable-pip-version-check", "--no-warn-script-location", "--progress-bar", "off"),
        *("--retries", "1", "--timeout", "15"),
        *_source(python),
        "--",
        *requirements,
    )


def _source(python: PythonSettings) -> tuple[str, ...]:
    found = () if python.wheels is None else ("--find-links", os.path.expanduser(python.wheels))
    if python.index is None:
        return ("--no-index", *found)
    found = ("--index-url", python.index, *found)
    parts = urlsplit(python.index)
    if parts.scheme == "http":
        return (*found, "--trusted-host", parts.netloc)
    return (*found, "--cert", _AUTHORITIES) if os.path.exists(_AUTHORITIES) else found


def pip_problem(errors: str, *, interpreter: str) -> str:
    """Return why pip has failed, from what it has printed to standard error."""
    if _NO_PIP.search(errors):
        return f"`{visible(interpreter, _LONGEST)}` has no pip: install it for this interpreter"
    repository = _REPOSITORY.search(errors)
    if repository is not None:
        return f"a package requires another from a repository of {repository[1]}: {_BY_NAME} alone"
    hint = ""
    if _ADDRESS.search(errors):
        hint = f"perhaps a package requires another by a URL or a path: {_BY_NAME} alone; "
    return f"{hint}pip says: {last_errors(errors)}"


def last_errors(errors: str) -> str:
    """Return the last errors that pip has printed, in one line."""
    lines = _ERROR.findall(errors) or errors.strip().splitlines()[-1:] or ["nothing"]
    said = "; ".join(dict.fromkeys(line.strip().rstrip(".") for line in lines[-_MOST_LINES:]))
    return visible(said, _LONGEST)
