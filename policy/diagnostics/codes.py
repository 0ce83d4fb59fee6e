"""Every diagnostic code, its severity and what it is about: the one table.

A code is kebab-case, reads after "allow", and is never reused. Each has a page,
`docs/checks/<code>.md`, and a case that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity
from policy.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One kind of mistake: how severe it is unless said otherwise, and its title."""

    severity: Severity
    title: str


def _error(title: str) -> Code:
    return Code(severity=Severity.ERROR, title=title)


def _warning(title: str) -> Code:
    return Code(severity=Severity.WARNING, title=title)


CODES: dict[str, Code] = {
    # files and bytes
    "not-utf8": _error("the file is not UTF-8 text"),
    "byte-order-mark": _warning("the file begins with a byte order mark"),
    "control-character": _error("a control character, NUL among them, in a policy"),
    "file-too-large": _error("a file larger than the limit"),
    "unreadable-file": _error("a file that could not be read"),
    "empty-policy": _error("no policy file where one is needed"),
    "outside-folder": _error("a link that leads out of the policy folder"),
    "link-cycle": _error("a link to a folder that it stands in"),
    # configuration
    "bad-settings": _error("a value in `placet.toml` that cannot be used"),
    "unknown-setting": _error("a key in `placet.toml` that nothing reads"),
    "bad-catalogue": _error("a list of tools that cannot be used"),
    "internal-error": _error("a flaw of Placet itself"),
    # tests in rule files
    "failed-test": _error("a test whose call got another verdict"),
    "unknown-fact": _error("a fact that a test cannot give"),
    # syntax
    "syntax-error": _error("text that is no statement of the language"),
    "unterminated-text": _error("a text or regular expression that does not end on its line"),
    "unknown-escape": _error("a backslash in a string that stands for nothing"),
    "hyphen-in-name": _error("a hyphen between two names, read as a minus"),
    "second-unless": _error("more than one `unless` in a rule"),
    "mixed-and-or": _error("`and` and `or` side by side without parentheses"),
    "too-deep": _error("brackets or operators nested beyond the bound"),
    "missing-header": _error("a file that does not say whom it binds"),
    "header-not-first": _error("a header that is not the first statement"),
    "duplicate-header": _error("a second header in one file"),
    "table-value": _error("an entry of a permissions table that is no verdict"),
    "not-supported-yet": _error("part of the language that this version does not run"),
    # names
    "unknown-tool": _error("a tool that the catalogue does not have"),
    "unknown-name": _error("a name that nothing declares"),
    "unknown-field": _error("an input field that no such tool has"),
}


def page(code: str) -> str:
    """Return where a code is explained, relative to the repository."""
    return f"docs/checks/{code}.md"


def diagnose(
    code: str,
    message: str,
    *,
    span: Span | None = None,
    file: str | None = None,
    label: str = "",
    help: str = "",
    labels: tuple[Label, ...] = (),
    fix: Fix | None = None,
    severity: Severity | None = None,
) -> Diagnostic:
    """Return a diagnostic of a code in the table, with the table's severity unless given."""
    return Diagnostic(
        code=code,
        message=message,
        severity=severity or CODES[code].severity,
        span=span,
        file=file,
        label=label,
        help=help,
        labels=labels,
        fix=fix,
    )
