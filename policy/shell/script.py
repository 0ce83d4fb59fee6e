"""`Script` and `SimpleCommand`: simple commands in the order of their spelling."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.shell.word import Assignment, Redirection, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """One simple command: `words[0]` is the program; none where it only assigns or redirects.

    `folders` are the operands of the `cd`s that surely ran before it, in order, as `read_path`
    takes them; None where the folder it runs in is not known. `stdin` is a here-document's or
    here-string's text, `piped` says that another command's output is its input; `fed_by` are the
    words of that one, where it is all that prints there. `local` says that the program is a
    function which the script surely has defined before.

    `number` counts the commands of the script from 1, `inside` names what the command stands in
    (`$(…)`, `bash -c`), outermost first.
    """

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    folders: tuple[str, ...] | None = ()
    stdin: Word | None = None
    piped: bool = False
    fed_by: tuple[Word, ...] = ()
    local: bool = False
    text: str = field(default="", compare=False)
    number: int = field(default=1, compare=False)
    inside: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All simple commands of a script, those in substitutions and function bodies included.

    `gaps` say, as reasons for people, what else may run that could not be read; a script with a
    gap is undecidable beyond the commands that are in sight. `computed` are variables that are
    computed with, `texts` those that may hold any text: scripts within scripts share them.
    """

    commands: tuple[SimpleCommand, ...]
    gaps: tuple[str, ...] = ()
    computed: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
