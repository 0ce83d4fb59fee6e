"""Leaves out diagnostics that are only consequences of errors reported before.

A name that a broken statement probably defines is excused where it is looked up, in `checks`. This
is about what a file that could not be read at all may have contained, and about the parts of a name
with hyphens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from policy.diagnostics import Diagnostic, Severity
from policy.generation.walk import POLICY_SUFFIX, SETTINGS_FILE
from policy.model import Source, Span

# What a policy file that was not read may have defined.
_OF_A_POLICY = frozenset(
    "missing-default unknown-name unknown-rule unknown-pack unknown-tool unknown-param "
    "bad-interpolation delegate-to-nobody unreached-ask unreached-limit "
    "allow-without-effect".split()
)
# What a table of `placet.toml` defines, by the word that is in the file if the table is. With one
# error in the file, only its rules are read.
_OF_A_TABLE = {
    "permissions": frozenset({"missing-default", "unreached-ask", "unreached-limit"}),
    "context": frozenset({"unknown-fact"}),
    "catalogue": frozenset({"unknown-tool", "unknown-field"}),
}


def without_consequences(
    found: Iterable[Diagnostic],
    before: Sequence[Diagnostic],
    *,
    sources: Mapping[str, Source],
    unread: Collection[str],
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that are not consequences of earlier ones.

    `sources` are the texts of the files, `unread` the names of those that could not be read.
    """
    errors = [problem for problem in before if problem.severity is Severity.ERROR]
    if not errors:
        return tuple(found)
    missing: frozenset[str] = frozenset()
    if any(name.endswith(POLICY_SUFFIX) for name in unread):
        missing |= _OF_A_POLICY
    if any(problem.place[0] == SETTINGS_FILE for problem in errors):
        missing = missing.union(*_defined_by(sources.get(SETTINGS_FILE)))
    hyphens = [problem.span for problem in errors if problem.code == "hyphen-in-name"]
    return tuple(
        problem
        for problem in found
        if problem.code not in missing and not _is_part_of_name(problem, hyphens)
    )


def _defined_by(settings: Source | None) -> list[frozenset[str]]:
    """Return the codes of what may be defined in a configuration with an error."""
    text = None if settings is None else settings.text
    return [codes for word, codes in _OF_A_TABLE.items() if text is None or word in text]


def _is_part_of_name(problem: Diagnostic, hyphens: list[Span | None]) -> bool:
    """Return whether an unknown name or field is a part of a name with a hyphen."""
    span = problem.span
    return problem.code in ("unknown-name", "unknown-field") and any(
        span is not None
        and other is not None
        and span.file == other.file
        and span.start < other.end
        and other.start < span.end
        for other in hyphens
    )
