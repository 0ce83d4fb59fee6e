"""How Placet starts its own interpreter, so that no agent chooses which modules it imports."""

from __future__ import annotations

import os
import site
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def isolated() -> list[str]:
    """Return the options of Python that keep an agent from choosing which modules are imported.

    Neither `PYTHONPATH` and its like nor the working directory count. `-I` leaves out the user's
    own packages as well, so an installation among them does without it.
    """
    own = site.getusersitepackages()
    try:
        is_among_them = os.path.commonpath((own, _PACKAGE)) == own
    except ValueError:  # on another drive of Windows
        is_among_them = False
    return ["-E", "-P"] if is_among_them else ["-I"]


def interpreter_of(file: str) -> tuple[str, ...]:
    """Return how an interpreter starts that calls `run` of one file of Placet's, with what follows.

    It imports that file and the standard library. As a script, the file would be compiled anew by
    each start.
    """
    folder, name = os.path.split(file)
    module = name.removesuffix(".py")
    code = f"import sys; sys.path.append({folder!r}); import {module}; {module}.run(sys.argv[1:])"
    return (sys.executable, "-I", "-S", "-c", code)
