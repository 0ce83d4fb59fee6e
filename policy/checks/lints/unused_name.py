"""Lint: a set or a `let` that nothing refers to, so that it protects and grants nothing.

The texts of all files are looked through once, word by word, until every name was met: a name is
used where its word stands outside of strings and comments, or as `${name}` inside. A word that
happens to be the same counts as a use, so what is said is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.checks.lints.context import LintContext
from policy.model import Source
from policy.syntax import tree

_NAMED = (tree.ToolSet, tree.NamedSet, tree.SetFromFile, tree.DataTable, tree.Let)
_Named = tree.ToolSet | tree.NamedSet | tree.SetFromFile | tree.DataTable | tree.Let

_WORD = re.compile(
    r"""
    (?P<string> "[^"\\\n]*(?:\\.[^"\\\n]*)*"? )
  | \#[^\n]*
  | \b(?:matches|matching|contains|with)[ \t]+/[^/\\\n]*(?:\\.[^/\\\n]*)*/
  | (?<![\w.-])(?P<word> [A-Za-z_]\w* )
    """,
    re.VERBOSE,
)
_FILLED_IN = re.compile(r"\$\{([^{}\s]*)\}")


def find(scene: LintContext) -> None:
    """Say so of every name of a layer that no file has a use for."""
    if scene.world.report.errors:
        return  # a use may be in what could not be read
    defined = list(_defined(scene))
    unused = {statement.name for statement in defined}
    places = {(s.span.file, _place(s, scene.sources[s.span.file])) for s in defined}
    for source in scene.sources.values():
        if not unused:
            return
        _strike(unused, source, places)
    for statement in defined:
        if statement.name in unused:
            scene.world.report.say(
                "unused-name",
                f"nobody names `{statement.name}`",
                span=statement.span,
                help="a set counts where a rule names it; name it there, or remove it",
            )


def _defined(scene: LintContext) -> Iterator[_Named]:
    """Yield what layers define; the names of a pack are for whoever uses it."""
    for layer in scene.layers:
        for unit in layer.units:
            if not unit.pack:
                for statement in unit.statements:
                    if isinstance(statement, _NAMED) and statement.span.file in scene.sources:
                        yield statement


def _place(statement: _Named, source: Source) -> int:
    """Return the offset at which a statement gives its name."""
    found = source.text.find(f" {statement.name}", statement.span.start)
    return found + 1


def _strike(unused: set[str], source: Source, places: set[tuple[str, int]]) -> None:
    """Take the names that a text has a use for out of `unused`."""
    for found in _WORD.finditer(source.text):
        word, string = found["word"], found["string"]
        if word in unused and (source.name, found.start()) not in places:
            unused.discard(word)
        elif string is not None and "${" in string:
            unused.difference_update(name.split(".")[0] for name in _FILLED_IN.findall(string))
        if not unused:
            return
