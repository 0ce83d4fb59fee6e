"""Which driver confines programs: the one that is configured, or the best that works here."""

from __future__ import annotations

from contextlib import AbstractContextManager

from policy.generation import ConfiningDriver
from policy.sandbox.bubblewrap import Bubblewrap
from policy.sandbox.driver import ConfinedStart, SandboxDriver
from policy.sandbox.landlock import Landlock
from policy.sandbox.plan import CannotConfine, SandboxPlan


def driver_named(name: ConfiningDriver) -> SandboxDriver:
    """Return the driver that a configuration names."""
    match name:
        case "bubblewrap":
            return Bubblewrap()
        case "landlock":
            return Landlock()
        case "best":
            return BestDriver(Bubblewrap(), Landlock())


def name_in_use(name: ConfiningDriver) -> str:
    """Return the name of the driver that confines programs here; tries those of `best`."""
    driver = driver_named(name)
    if name == "best":
        driver.problem()
    return driver.name


class BestDriver:
    """The first of several drivers that works on this machine; it stays the same from then on."""

    def __init__(self, *drivers: SandboxDriver) -> None:
        self._drivers = drivers
        self._chosen: SandboxDriver | None = None

    @property
    def name(self) -> str:
        """The name of the driver in use; `best` until one is."""
        return "best" if self._chosen is None else self._chosen.name

    def problem(self) -> str | None:
        """Choose a driver; return why none works here."""
        problems = []
        for driver in self._drivers if self._chosen is None else (self._chosen,):
            problem = driver.problem()
            if problem is None:
                self._chosen = driver
                return None
            problems.append(problem)
        return "; ".join(problems)

    def narrowed(self, plan: SandboxPlan) -> tuple[str, ...]:
        """Return folders in which nothing can be made in spite of the plan."""
        return self._in_use().narrowed(plan)

    def confined(
        self, plan: SandboxPlan, program: tuple[str, ...]
    ) -> AbstractContextManager[ConfinedStart]:
        """Return how the driver in use starts a program; raise CannotConfine."""
        return self._in_use().confined(plan, program)

    def _in_use(self) -> SandboxDriver:
        problem = None if self._chosen is not None else self.problem()
        if self._chosen is None:
            raise CannotConfine(problem or "there is no driver")
        return self._chosen
