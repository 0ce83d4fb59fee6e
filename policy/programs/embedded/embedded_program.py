"""What a program inside an argument does, beyond working on its input."""

from __future__ import annotations

from dataclasses import dataclass

from policy.programs.invocation import Verb


@dataclass(frozen=True, slots=True)
class TouchedResource:
    """A file or host that a program names; `name` is None where it is not known which."""

    verb: Verb
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramEffects:
    """What a program does. `gap` says why it may run commands, empty if it cannot.

    `harms`: it does what no `*` covers, although it touches nothing and runs nothing.
    """

    touched: tuple[TouchedResource, ...] = ()
    gap: str = ""
    harms: bool = False

    @property
    def guarded(self) -> bool:
        """Whether it does more than read."""
        return self.harms or bool(self.gap) or any(one.verb != "reads" for one in self.touched)


NOTHING = ProgramEffects()


def unknown_effects(what: str) -> ProgramEffects:
    """Return that a program may do everything."""
    return ProgramEffects(
        touched=(TouchedResource("reads", None), TouchedResource("writes", None)),
        gap=what,
    )
