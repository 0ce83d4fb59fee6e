"""What a program does with its standard input."""

from __future__ import annotations

from policy.programs.arguments.chosen_roles import goes_with_input
from policy.programs.effects import CommandEffects
from policy.programs.profiles.roles import verbs_of_role
from policy.programs.words.roles import note_input, note_word
from policy.programs.words.typed_input import has_input, may_be_typed
from policy.shell import Word


def note_standard_input(effects: CommandEffects, stdin: str, *, roles: set[str]) -> bool:
    """Record the effects of the input; return whether it is a file whose contents run.

    `stdin` is what the profile says about it, `roles` are those that operands surely have.
    """
    if stdin == "typed":
        if may_be_typed(effects.command):
            effects.gap(f"`{effects.name}` may run what is typed on its input")
    elif stdin == "keys":
        if has_input(effects.command):
            effects.gap(f"`{effects.name}` types its input into a terminal, as a person would")
    elif stdin == "given-code":
        if has_input(effects.command) and not roles - {"host", "connect"}:
            effects.gap(f"what `{effects.name}` runs from its input is not known")
    elif stdin != "text" and not _leaves_input(stdin, roles):
        return _note_role(effects, stdin)
    return False


def _leaves_input(stdin: str, roles: set[str]) -> bool:
    """Return whether some operands replace standard input."""
    if stdin in ("command", "code"):
        return any(verbs_of_role(role) and not goes_with_input(role) for role in roles)
    return stdin in roles


def _note_role(effects: CommandEffects, role: str) -> bool:
    command = effects.command
    files = [
        one.target for one in command.redirections if one.op in ("<", "<>") and one.fd in (None, 0)
    ]
    if command.stdin is not None and not files:
        note_input(effects, role, command.stdin)
    elif role == "sql" and files and _is_file(files[-1]):
        effects.unseen = True
        return True
    elif role not in ("command", "code"):
        note_word(effects, role, Word("", "opaque"))
    elif files and files[-1].known and not files[-1].text.startswith(("/dev/", "/proc/")):
        effects.unseen = True
    else:
        effects.gap(f"what `{effects.name}` runs from its input is not known")
    return False


def _is_file(target: Word) -> bool:
    """Return whether a redirection names a file, and no device."""
    return target.shape != "opaque" and not target.text.startswith(("/dev/", "/proc/"))
