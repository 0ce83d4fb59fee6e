"""Lint: a set or a `let` that nothing refers to, so that it protects and grants nothing.

The texts of all files are scanned once, word by word, until every name was found: a name is used
where it occurs outside strings and comments, or as `${name}` inside them. Any equal word counts as
a use, so there are no false reports.
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


def find(context: LintContext) -> None:
    """Report every name of a layer that no file uses."""
    if context.check.report.errors:
        return  # a use may be in text that did not parse
    defined = list(_defined(context))
    unused = {statement.name for statement in defined}
    places = {(s.span.file, _place(s, context.sources[s.span.file])) for s in defined}
    for source in context.sources.values():
        if not unused:
            return
        _strike(unused, source, places)
    for statement in defined:
        if statement.name in unused:
            context.check.report.add(
                "unused-name",
                f"`{statement.name}` is never used",
                span=statement.span,
                help=(
                    "a set or `let` has an effect only where it is used; use it in a rule, or "
                    "remove it"
                ),
            )


def _defined(context: LintContext) -> Iterator[_Named]:
    """Yield the definitions of layers; the names of a pack are for its users."""
    for layer in context.layers:
        for unit in layer.units:
            if not unit.pack:
                for statement in unit.statements:
                    if isinstance(statement, _NAMED) and statement.span.file in context.sources:
                        yield statement


def _place(statement: _Named, source: Source) -> int:
    """Return the offset at which a statement gives its name."""
    found = source.text.find(f" {statement.name}", statement.span.start)
    return found + 1


def _strike(unused: set[str], source: Source, places: set[tuple[str, int]]) -> None:
    """Remove the names that a text uses from `unused`."""
    for found in _WORD.finditer(source.text):
        word, string = found["word"], found["string"]
        if word in unused and (source.name, found.start()) not in places:
            unused.discard(word)
        elif string is not None and "${" in string:
            unused.difference_update(name.split(".")[0] for name in _FILLED_IN.findall(string))
        if not unused:
            return
