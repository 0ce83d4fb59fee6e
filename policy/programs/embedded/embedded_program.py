"""The effects of a program inside an argument, beyond working on its input."""

from __future__ import annotations

from dataclasses import dataclass

from policy.programs.invocation import Verb


@dataclass(frozen=True, slots=True)
class AccessedResource:
    """A file or host that a program accesses; `name` is None where it is not known."""

    verb: Verb
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramEffects:
    """The effects of a program. `gap` says why it may run commands, empty if it cannot.

    `harmful`: no `*` covers it, although it accesses nothing and runs nothing.
    """

    accesses: tuple[AccessedResource, ...] = ()
    gap: str = ""
    harmful: bool = False

    @property
    def guarded(self) -> bool:
        """Whether it does more than read."""
        return self.harmful or bool(self.gap) or any(one.verb != "reads" for one in self.accesses)


NOTHING = ProgramEffects()


def unknown_effects(what: str) -> ProgramEffects:
    """Return the effects of a program that may do anything."""
    return ProgramEffects(
        accesses=(AccessedResource("reads", None), AccessedResource("writes", None)),
        gap=what,
    )
