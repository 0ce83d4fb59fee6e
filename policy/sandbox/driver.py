"""`SandboxDriver`: one way of an operating system to confine a program."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from policy.sandbox.plan import SandboxPlan

# How many seconds of CPU time a program has between the signal of its limit (SIGXCPU), by which it
# is known why it has ended, and its end. With one limit for both, it is killed without the signal.
CPU_GRACE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfinedStart:
    """How a program starts confined: by these arguments, with these descriptors of this process.

    `temporary` are folders that were made for it, and are removed when it has ended. `guarded` are
    names that are not protected any more once they lead to something else: it has to end then. The
    program starts once `released` is closed, a descriptor of this process: after a look at them.
    """

    arguments: tuple[str, ...]
    descriptors: tuple[int, ...] = ()
    temporary: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    released: int | None = None


class SandboxDriver(Protocol):
    """Confines programs by starting them through another one."""

    @property
    def name(self) -> str:
        """The name for configuration, records and people."""
        ...

    def problem(self) -> str | None:
        """Return why it does not work on this machine, None if a confined program has run."""
        ...

    def narrowed(self, plan: SandboxPlan) -> tuple[str, ...]:
        """Return folders in which nothing can be made in spite of the plan."""
        ...

    def confined(
        self, plan: SandboxPlan, program: tuple[str, ...]
    ) -> AbstractContextManager[ConfinedStart]:
        """Return how `program` starts confined; the program has to be started in the block.

        Raises CannotConfine on entering it.
        """
        ...
