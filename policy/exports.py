"""What a package exports, by the module that holds it, in; what imports each when asked for, out.

Who asks a package for one thing should not pay for all the others. A package whose modules cost
something to import says what it exports three times, and a test holds the three alike: as imports
for the type checker, in `__all__`, and by module:

    if TYPE_CHECKING:
        from policy.values.number import add, exact
    else:
        __getattr__ = exported(__name__, {"number": "add exact"})

    __all__ = ["add", "exact"]

A function marked by `()`, as in `"links": "links_in()"`, is imported as late as when it is called.

What is called like a module of the package is imported at once: that module would stand in its
place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

# Not `from policy import …`: that waits for a package which may be waiting for this module, in
# another thread.
from policy.later import function

__all__ = ["exported"]

# Ends the name of a function that is imported when it is called.
_CALLED = "()"


def exported(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: it imports a name, and keeps it in the package.

    The package gets a `__dir__` as well, so that `help` and whoever completes names find them all.

    `modules` holds the names that each module has, with spaces between them; `theirs=ours` is one
    that the module calls otherwise.
    """
    places = {
        ours or theirs.removesuffix(_CALLED): (module, theirs)
        for module, names in modules.items()
        for theirs, _, ours in (name.partition("=") for name in names.split())
    }

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, theirs = places[name]
        path = f"{package}.{module}"
        if theirs.endswith(_CALLED):
            value = function(path, theirs.removesuffix(_CALLED))
        else:
            value = getattr(import_module(path), theirs)
        setattr(here, name, value)
        return value

    here = sys.modules[package]
    vars(here)["__dir__"] = lambda: sorted({*vars(here), *places})
    return get
