"""What programs may touch that Placet starts, as configured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from policy.model import ConfinedVerb

# What confines programs; `best`: the first of the others that works on the machine.
ConfiningDriver: TypeAlias = Literal["bubblewrap", "landlock", "best"]
# The same; `off`: nothing does.
SandboxDriverName: TypeAlias = Literal["off", "bubblewrap", "landlock", "best"]
# Whether a program reaches hosts: none, not even by name; those that are permitted, through a proxy
# that judges each connection; or all that the machine reaches.
Network: TypeAlias = Literal["none", "hosts", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Limits of each process; None: no limit. Sizes are in bytes, `cpu` in seconds.

    `memory` is address space. `processes` and `total_memory` (what they use, files in memory too)
    are those of a program and all that it starts. `scratch` is the size of each folder that is in
    memory, such as `/tmp`; it always has a limit.
    """

    cpu: int | None = None
    memory: int | None = None
    total_memory: int | None = None
    processes: int | None = None
    file_size: int | None = None
    open_files: int | None = None
    scratch: int = 500_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What programs may touch besides the system's own files, as configured.

    Paths are absolute, or begin with `~/`. What is in `writes` may be read, too. `connects` has
    patterns of hosts that are permitted with the network `hosts`. `driver` is what enforces it.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    connects: tuple[str, ...] = ()
    network: Network = "none"
    driver: ConfiningDriver = "bubblewrap"
    limits: ProcessLimits = field(default_factory=ProcessLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """How built-in tools that run code are confined, and what `reach` they have.

    `required`: without a sandbox that works they start nothing. `named`: the configuration names
    the driver; rules rely on no other one, so that nothing is allowed because of a default.
    `search` is how many files and folders are looked at for those that rules name by wildcards,
    which are hidden; 0: none is.
    """

    driver: SandboxDriverName = "best"
    named: bool = False
    required: bool = True
    search: int = 200_000
    reach: Reach = field(default_factory=lambda: Reach(driver="best"))

    @property
    def enforces(self) -> frozenset[ConfinedVerb]:
        """What rules may rely on that the sandbox bounds; nothing where programs may run without.

        Nothing as well where nobody has named a driver: a default confines, and is no ground to
        allow more than before. Connections are bounded where there are none at all, and where each
        of them is judged by the rules that allow the call.
        """
        if self.driver == "off" or not self.named or not self.required:
            return frozenset()
        if self.reach.network == "all":
            return frozenset({"reads", "writes"})
        return frozenset({"reads", "writes", "connects"})
