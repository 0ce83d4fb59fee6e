"""Every diagnostic code with its severity and title: the one table.

A code is kebab-case, reads after "allow", and is never reused. Each has a page,
`docs/checks/<code>.md`, and a case that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity
from policy.model import Span


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
    "bad-profile": _error("a profile of a program that cannot be read"),
    "profile-example-failed": _error("an example of a profile that is not as it says"),
    "internal-error": _error("a flaw of Placet itself"),
    # tests in rule files
    "failed-test": _error("a test whose call got another verdict"),
    "test-of-no-call": _warning("a test whose call never reaches the rules"),
    "unknown-fact": _error("a fact that does not exist, or that a test cannot give"),
    # syntax
    "syntax-error": _error("text that is no statement of the language"),
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
    # names and packs
    "name-redefined": _error("a name that already has a meaning"),
    "fact-redefined": _error("a fact that would get another meaning"),
    "reserved-name": _error("a word of the language used as a name"),
    "name-cycle": _error("a name that needs itself"),
    "folder-may-not-bind": _error("a file that binds agents its folder may not bind"),
    "use-outside": _error("a pack outside the policy folder"),
    "unknown-pack": _error("a pack that does not exist"),
    "not-a-pack": _error("a file used that is no pack"),
    "use-cycle": _error("packs that use each other in a circle"),
    "unknown-param": _error("a value for a parameter that a pack does not have"),
    "missing-param": _error("a pack's parameter without a value"),
    "param-outside-pack": _error("a parameter outside a pack"),
    "bad-interpolation": _error("a `${name}` that cannot be filled in"),
    "unknown-data": _error("a data file, or a place in it, that does not exist"),
    "bad-data": _error("data that is not what the policy needs"),
    # kinds and conditions
    "wrong-kind": _error("a value of a kind that cannot be right"),
    "list-against-value": _error("a list where a single value is compared"),
    "set-as-value": _error("a set where a single value is needed"),
    "condition-as-value": _error("a condition where a value is needed"),
    "not-a-condition": _error("a value where a condition is needed"),
    "unknown-function": _error("a function that does not exist"),
    "wrong-arguments": _error("a function with too many or too few arguments"),
    "unknown-dialect": _error("a dialect of SQL that is not read"),
    "missing-extra": _error("a condition that needs an extra of the package"),
    "field-of-some": _warning("an input field that some of the rule's tools do not have"),
    "inexact-number": _error("a number with more digits than a call's number can hold"),
    "bad-time": _error("a time, date, window or zone that does not exist"),
    "bad-pattern": _error("a regular expression that cannot be used"),
    "bad-set-item": _error("an item of a set that cannot be read as its kind"),
    "bad-tool-pattern": _error("a tool pattern that fits nothing by its form"),
    "condition-too-large": _error("a condition that is too large with its names written out"),
    # places and resources
    "plain-verb-permits": _error("a plain resource test where it would permit too much"),
    "outside-permits": _error("an `outside` test where it would permit too much"),
    "only-restricts": _error("an `only` test where it would restrict too little"),
    "bad-operand": _error("an operand of a resource test that is no set"),
    "resource-test-in-selection": _error("a resource test inside a selection"),
    "bad-declaration": _error("a `tool` statement that names no resource"),
    "undeclared-resources": _warning("a tool whose resources nobody declared"),
    # rules
    "duplicate-rule": _error("two rules of one name"),
    "reserved-rule-name": _error("a rule called by a word that reasons use"),
    "unknown-rule": _error("a test that names a rule that does not exist"),
    "second-clause": _error("a clause that stands twice in a rule"),
    "approval-without-allow": _error("`with approval` on what is no `allow`"),
    "terms-without-ask": _error("`by`, `two people` or `remember` on a rule that asks nothing"),
    "bad-group": _error("a group of approvers that nobody can be in, or that stands twice"),
    "bad-remember": _error("a `remember` that serves nothing, or far too long"),
    "remember-without-count": _error("a `remember` that serves any number of executions"),
    "not-an-input-field": _error("a path that does not lead into the input"),
    "bad-change": _error("a change that cannot be made"),
    "unnamed-rule": _warning("a rule without a name"),
    "name-style": _warning("a name in an unusual style"),
    "unused-name": _warning("a set that nobody names"),
    "unprofiled-program": _warning("a command pattern whose program nothing is known of"),
    "allowed-interpreter": _warning("an `allow` of a program that runs any code"),
    "narrow-wildcard": _warning("an `allow` whose wildcard reaches no tool"),
    "not-granted": _warning("a pack's grants that have no effect"),
    "redundant-allow": _warning("an `allow` that changes nothing"),
    "not-proved-yet": _warning("an invariant that nothing proves yet"),
    # statements that do nothing
    "effect-not-covered": _error("an `allow` that never covers what its tools do"),
    "never-holds": _error("a rule whose condition can never hold"),
    "missing-default": _error("no default in the layer of every agent"),
    "second-default": _error("a second plain default in one layer"),
    "default-without-effect": _error("a `default allow` that gives nothing"),
    "delegate-outside-global": _error("a delegation outside the layer of every agent"),
    "delegate-beside-default": _error("a delegation of a tool that has a default"),
    "delegate-to-nobody": _warning("a delegation to a layer that does not exist"),
    "allow-without-effect": _error("an `allow` of another layer that gives nothing"),
    "overruled-rule": _error("a rule that another one of its layer always overrules"),
    "unreached-ask": _error("an `ask` that no grant reaches"),
    "rewrites-conflict": _error("two rewrites that conflict on every call"),
}


def page(code: str) -> str:
    """Return where a code is explained, relative to the repository."""
    return f"docs/checks/{code}.md"


def explaining(code: str) -> str:
    """Return the command that shows a code's page, wherever the repository is."""
    return f"placet check --explain {code}"


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
