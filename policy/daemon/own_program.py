"""How Placet starts its own processes, and the files and folders that they run from."""

from __future__ import annotations

import os
import site
import sys
import sysconfig

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


def own_files() -> list[str]:
    """Return the files and folders that a hook call runs from; a folder stands for all in it.

    Python reads the folders of packages at every start, with what makes an installation editable.
    """
    scripts = os.path.dirname(sys.executable)
    started = [sys.executable, os.path.join(scripts, "placet")]
    started.append(os.path.join(sys.prefix, "pyvenv.cfg"))
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return [*started, _PACKAGE, *sorted({sysconfig.get_path(kind) for kind in kinds})]
