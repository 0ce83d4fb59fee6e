"""Leaves out diagnostics that are only consequences of errors reported before.

A name that a broken statement probably defines is excused where it is looked up, in `checks`. This
is about what a file that could not be read at all may have contained, and about the parts of a name
with hyphens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from policy.diagnostics import Diagnostic, Severity
from policy.generation.walk import POLICY_SUFFIX, SETTINGS_FILE
from policy.model import Span

# What a policy file that was not read may have defined.
_OF_A_POLICY = frozenset(
    "missing-default unknown-name unknown-rule unknown-pack unknown-tool unknown-param "
    "bad-interpolation delegate-to-nobody unreached-ask allow-without-effect".split()
)
# What `placet.toml` may have defined: a default, facts, tools.
_OF_THE_SETTINGS = frozenset({"missing-default", "unknown-fact", "unknown-tool", "unreached-ask"})


def without_consequences(
    found: Iterable[Diagnostic], before: Sequence[Diagnostic], *, unread: Collection[str]
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that are not consequences of earlier ones.

    `unread` are the names of the files whose contents are not known.
    """
    errors = [problem for problem in before if problem.severity is Severity.ERROR]
    if not errors:
        return tuple(found)
    missing: frozenset[str] = frozenset()
    if any(name.endswith(POLICY_SUFFIX) for name in unread):
        missing |= _OF_A_POLICY
    if any(problem.place[0] == SETTINGS_FILE for problem in errors):
        missing |= _OF_THE_SETTINGS
    hyphens = [problem.span for problem in errors if problem.code == "hyphen-in-name"]
    return tuple(
        problem
        for problem in found
        if problem.code not in missing and not _is_part_of_name(problem, hyphens)
    )


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
