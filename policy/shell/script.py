"""The result of parsing a script: its simple commands, in the order of the text."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.shell.word import Assignment, Redirection, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """One simple command: `words[0]` is the program; no words where it only assigns or redirects.

    `folders` are the operands of the `cd`s that surely ran before it, in order, as `read_path`
    takes them; None where its folder is not known. `stdin` is the text of a here-document or
    here-string, `piped`: another command's output is its input; `fed_by` are the words of that one,
    if nothing else prints there, and `fed_before` those of the commands before it in the pipeline,
    the nearest first. `is_function`: the program is a function that the script has
    surely defined before.

    `number` counts the commands of the script from 1, `inside` lists the enclosing constructs
    (`$(…)`, `bash -c`), outermost first.
    """

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    folders: tuple[str, ...] | None = ()
    stdin: Word | None = None
    piped: bool = False
    fed_by: tuple[Word, ...] = ()
    fed_before: tuple[tuple[Word, ...], ...] = ()
    is_function: bool = False
    text: str = field(default="", compare=False)
    number: int = field(default=1, compare=False)
    inside: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All simple commands of a script, including those in substitutions and function bodies.

    `gaps` are reasons, for people, why further commands may run that could not be parsed; a script
    with a gap is indeterminate beyond its listed commands. `computed` are variables that arithmetic
    uses, `texts` those that may hold any text: nested scripts share them.

    `concurrent`: some commands run beside others (in pipes, with `&`, in substitutions). `repeats`:
    some may run repeatedly, or later than their position (in loops, functions and traps).
    """

    commands: tuple[SimpleCommand, ...]
    gaps: tuple[str, ...] = ()
    computed: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    concurrent: bool = False
    repeats: bool = False
