"""The garbage collector of a process that starts, does one thing and ends.

Importing modules and building a policy makes a few hundred thousand objects that all stay; looking
through them for garbage again and again takes a seventh of the time of one decision.
"""

from __future__ import annotations

import gc


def wait() -> None:
    """Let garbage lie until `settle`; for a process that is ours alone."""
    gc.disable()


def settle() -> None:
    """Collect from here on, but not what there is by now: it is needed until the process ends.

    Does nothing where nobody let garbage lie, as in a process that only calls our commands.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
