"""Where a hook call imports modules from: not where its environment says."""

from __future__ import annotations

import os
import site
import sys


def leave_out_what_the_environment_names() -> None:
    """Take what `PYTHONPATH` names out of the import path.

    An agent can set it, and a `json.py` there would come before the standard library's.
    """
    named = os.environ.get("PYTHONPATH")
    if not named or sys.flags.ignore_environment:
        return
    entries = set(named.split(os.pathsep))
    try:
        entries |= {os.path.abspath(entry) for entry in entries}
    except FileNotFoundError:  # the working directory is gone, and so is what is relative to it
        sys.path[:] = [entry for entry in sys.path if os.path.isabs(entry)]
    own = set(site.getsitepackages())
    sys.path[:] = [entry for entry in sys.path if entry not in entries or entry in own]
