"""How Placet starts its own interpreter, so that no agent chooses which modules it imports."""

from __future__ import annotations

import os
import site

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
