"""How `python_exec` runs code and installs packages, as configured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSettings:
    """The interpreter, where its packages come from, and how many of them there may be.

    Without `enabled` there is no such tool. `interpreter` is a name that is looked up in PATH, or
    an absolute path. `index` is the URL of an index, and `hosts` are those that an installation may
    connect to; `wheels` is a folder of wheels. With neither, nothing is installed. `packages` are
    the only ones that may be installed, what they need included; None: all.

    A call has at most `requirements`. An installation has at most `size` bytes and takes at most
    `timeout` seconds. It is used for as long as `keep` says, and made anew after that. At most
    `installations` are kept.
    """

    enabled: bool = False
    interpreter: str = "python3"
    index: str | None = None
    hosts: tuple[str, ...] = ()
    wheels: str | None = None
    packages: tuple[str, ...] | None = None
    requirements: int = 20
    size: int = 1_000_000_000
    timeout: float = 120.0
    installations: int = 50
    keep: timedelta = timedelta(days=7)
