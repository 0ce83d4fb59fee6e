"""What a shell script is made of: simple commands, with what is taken off their words."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.values.programs import (
    names_hosts,
    runs_code,
    runs_commands,
    runs_nothing,
)

_FREE = frozenset({"cd", "pwd", "true", "false", ":"})
_HARMLESS_NAMES = frozenset({"LANG", "LANGUAGE", "TZ", "NO_COLOR", "TERM", "COLUMNS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirection:
    """One redirection: `op` is the operator, `fd` the descriptor spelled before it, if any.

    For the copies `>&` and `<&` the target is a descriptor or `-`; `>&file` is read as `&>`.
    """

    op: str
    target: str
    fd: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """One simple command, as the program gets it: without quotes, `~/…` not yet replaced.

    `folders` are the operands of the `cd`s that surely ran before it, in order; None where the
    folder it runs in is not known. `hides` says that it may run commands which are not in sight,
    `unseen` that it runs code.
    """

    words: tuple[str, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    redirections: tuple[Redirection, ...] = ()
    folders: tuple[str, ...] | None = ()
    text: str = field(default="", compare=False)

    @property
    def hides(self) -> bool:
        """Whether commands may run that are not in sight."""
        return runs_commands(self.words)

    @property
    def unseen(self) -> bool:
        """Whether it runs code whose effects are not in sight."""
        return runs_code(self.words)

    @property
    def runs_nothing(self) -> bool:
        """Whether no word of it can be a command that it runs."""
        return runs_nothing(self.words)

    @property
    def names_hosts(self) -> bool:
        """Whether bare words of it may be names of hosts that it connects to."""
        return names_hosts(self.words)

    @property
    def free(self) -> bool:
        """Whether it needs no pattern: `pwd`, `true`, `false`, `:` or a plain `cd`."""
        if not self.words or self.words[0] not in _FREE:
            return False
        if not all(is_harmless_name(name) for name, _ in self.assignments):
            return False
        if not all(harmless_redirection(item) for item in self.redirections):
            return False
        return self.words[0] != "cd" or cd_operand(self) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All simple commands of a script, in order, however they are joined."""

    commands: tuple[SimpleCommand, ...]


def is_harmless_name(name: str) -> bool:
    """Tell whether setting a variable changes no more than language, time zone or looks."""
    return name in _HARMLESS_NAMES or name.startswith("LC_")


def harmless_redirection(redirection: Redirection) -> bool:
    """Tell whether a redirection only copies a descriptor or has to do with /dev/null."""
    return redirection.op in (">&", "<&") or redirection.target == "/dev/null"


def cd_operand(command: SimpleCommand) -> str | None:
    """Return where a plain `cd` goes (`~` without operand); None for any other."""
    if command.words[:1] != ("cd",) or len(command.words) > 2:
        return None
    target = command.words[1] if len(command.words) == 2 else "~"
    return None if not target or target.startswith(("-", "+")) else target
