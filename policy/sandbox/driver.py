"""`SandboxDriver`: one way of an operating system to confine a program."""

from __future__ import annotations

from typing import Protocol

from policy.sandbox.plan import SandboxPlan


class SandboxDriver(Protocol):
    """Confines programs by starting them through another one."""

    @property
    def name(self) -> str:
        """The name for configuration, records and people."""
        ...

    def problem(self) -> str | None:
        """Return why it does not work on this machine, None if a confined program has run."""
        ...

    def arguments(self, plan: SandboxPlan, program: tuple[str, ...]) -> tuple[str, ...]:
        """Return the arguments that start `program` confined; raise CannotConfine."""
        ...
