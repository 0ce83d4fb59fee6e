"""The files and folders that Placet's own processes run from."""

from __future__ import annotations

import os
import sys
import sysconfig

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def own_files() -> list[str]:
    """Return the files and folders that a hook call runs from; a folder stands for all in it.

    Python reads the folders of packages at every start, with what makes an installation editable.
    """
    scripts = os.path.dirname(sys.executable)
    started = [sys.executable, os.path.join(scripts, "placet")]
    started.append(os.path.join(sys.prefix, "pyvenv.cfg"))
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return [*started, _PACKAGE, *sorted({sysconfig.get_path(kind) for kind in kinds})]
