"""Every diagnostic code with its severity and title: the one table.

A code is kebab-case and names what is wrong, so that it reads well after "allow" (allow
unnamed-rule). It is never reused. Each has a page, `docs/checks/<code>.md`, and a case that
shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity
from policy.model import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A diagnostic code: its default severity and its title."""

    severity: Severity
    title: str


def _error(title: str) -> Code:
    return Code(severity=Severity.ERROR, title=title)


def _warning(title: str) -> Code:
    return Code(severity=Severity.WARNING, title=title)


CODES: dict[str, Code] = {
    # files and bytes
    "not-utf8": _error("the file is not UTF-8 text"),
    "stray-file": _warning("a file that is not read because of its name"),
    "byte-order-mark": _warning("the file begins with a byte order mark"),
    "control-character": _error("a control character, NUL among them, in a policy"),
    "file-too-large": _error("a file larger than the limit"),
    "unreadable-file": _error("a file that cannot be read"),
    "empty-policy": _error("no policy file where one is needed"),
    "outside-folder": _error("a link that leads out of the policy folder"),
    "link-cycle": _error("a link to a folder that contains it"),
    # configuration
    "bad-settings": _error("a value in `placet.toml` that cannot be used"),
    "unknown-setting": _error("an unknown key in `placet.toml`"),
    "bad-catalogue": _error("a list of tools that cannot be used"),
    "bad-lock": _error("pins of tools that cannot be used"),
    "bad-profile": _error("a profile of a program that is not valid"),
    "profile-example-failed": _error("an example of a profile with another result than it states"),
    "internal-error": _error("an internal error of Placet"),
    # tests in rule files
    "failed-test": _error("a test whose call gets another verdict"),
    "returning-alone": _error("a `returning` in a test without its counterpart"),
    "test-of-no-call": _warning("a test whose call is refused before any rule"),
    "unknown-fact": _error("a fact that does not exist, or that a test cannot set"),
    # syntax
    "syntax-error": _error("text that is not a statement of the language"),
    "unknown-escape": _error("an unknown escape in a string"),
    "hyphen-in-name": _error("a hyphen between two names, parsed as a minus"),
    "second-unless": _error("more than one `unless` in a rule"),
    "mixed-and-or": _error("`and` and `or` combined without parentheses"),
    "too-deep": _error("brackets or operators nested too deeply"),
    "missing-header": _error("a file that does not declare which agents it applies to"),
    "header-not-first": _error("a header that is not the first statement"),
    "duplicate-header": _error("a second header in one file"),
    "table-value": _error("an entry of a permissions table that is not a verdict"),
    "case-without-past": _error("a case of a test below the earlier calls of another case"),
    # names
    "unknown-tool": _error("a tool that the catalogue does not have"),
    "unknown-name": _error("a name without a definition"),
    "unknown-field": _error("an input field that none of the tools has"),
    # names and packs
    "name-redefined": _error("a name that already has a meaning"),
    "fact-redefined": _error("a definition with the name of a fact"),
    "reserved-name": _error("a keyword used as a name"),
    "name-cycle": _error("a definition that refers to itself"),
    "folder-may-not-bind": _error("a file for agents to which files of its folder may not apply"),
    "use-outside": _error("a pack outside the policy folder"),
    "unknown-pack": _error("a pack that does not exist"),
    "not-a-pack": _error("a `use` of a file that is not a pack"),
    "use-cycle": _error("packs that use each other in a cycle"),
    "unknown-param": _error("a value for a parameter that a pack does not have"),
    "missing-param": _error("a pack's parameter without a value"),
    "empty-param": _warning("a set that a pack needs, with nothing in it"),
    "param-outside-pack": _error("a parameter outside a pack"),
    "bad-interpolation": _error("a `${name}` that cannot be replaced"),
    "unknown-data": _error("a data file, or a key in it, that does not exist"),
    "bad-data": _error("data of another type than the policy needs"),
    # types and conditions
    "wrong-kind": _error("a value of the wrong type"),
    "list-against-value": _error("a list where a single value is compared"),
    "set-as-value": _error("a set where a single value is needed"),
    "condition-as-value": _error("a condition where a value is needed"),
    "not-a-condition": _error("a value where a condition is needed"),
    "unknown-function": _error("a function that does not exist"),
    "wrong-arguments": _error("a function with too many or too few arguments"),
    "unknown-dialect": _error("an unsupported SQL dialect"),
    "missing-extra": _error("a condition that needs an extra of the package"),
    "field-of-some": _warning("an input field that some of the rule's tools do not have"),
    "inexact-number": _error("a number with more digits than a number in a call can have"),
    "bad-time": _error("a time, date, window or zone that does not exist"),
    "unknown-label": _error("a label that no statement declares"),
    "bad-label": _error("a `label` that is about more than one call and its result"),
    "bad-pattern": _error("a regular expression that cannot be used"),
    "bad-set-item": _error("an item of a set that cannot be parsed as its type"),
    "bad-tool-pattern": _error("a tool pattern that can never match"),
    "condition-too-large": _error("a condition that is too large with its names expanded"),
    # positions and resources
    "plain-verb-permits": _error("a plain resource test where it would permit too much"),
    "outside-permits": _error("an `outside` test where it would permit too much"),
    "only-restricts": _error("an `only` test where it would restrict too little"),
    "grounding-restricts": _error("what grounds a value, where it would restrict"),
    "suspicion-permits": _error("a `from LABEL` where it would permit"),
    "chosen-by-agent": _warning("a permission by what the agent itself chose in earlier calls"),
    "copies-alone": _warning("a rule about copied values that rephrasing evades"),
    "bad-operand": _error("an operand of a resource test that is not a set"),
    "resource-test-in-selection": _error("a resource test inside a selection"),
    "bad-declaration": _error("a `tool` statement that names no resource"),
    "unwritten-store": _warning("a store that tools read from and none writes to"),
    "allowed-by-text": _error("an `allow` by the text of a path, command, URL or recipient"),
    "undeclared-resources": _warning("a tool whose resources are not declared"),
    "unsaid-folder": _warning("a declared path that is probably a folder, and does not say so"),
    "addresses-as-strings": _warning("e-mail addresses in a set of strings"),
    # rules
    "duplicate-rule": _error("two rules of one name"),
    "reserved-rule-name": _error("a rule with a name that reasons use"),
    "unknown-rule": _error("a test that names a rule that does not exist"),
    "second-clause": _error("a repeated clause in a rule"),
    "approval-without-allow": _error("`with approval` on a rule other than `allow`"),
    "terms-without-ask": _error(
        "`by`, `two people` or `remember` on a rule that requires no approval"
    ),
    "bad-group": _error("a group of approvers that nobody can be in, or that is repeated"),
    "unknown-group": _warning("a group of approvers that the configuration does not have"),
    "bad-remember": _error("a `remember` without effect, or for too long"),
    "remember-without-count": _error("a `remember` for an unlimited number of executions"),
    "not-an-input-field": _error("a path that does not lead into the input"),
    "bad-change": _error("a change of a rewrite that is not possible"),
    "unnamed-rule": _warning("a rule without a name"),
    "name-style": _warning("a name in an unusual style"),
    "unused-name": _warning("a definition that is never used"),
    "unprofiled-program": _warning("a command pattern whose program has no profile"),
    "allowed-interpreter": _warning("an `allow` of a program that runs any code"),
    "script-by-one-program": _warning("a `deny` or `ask` of one way to run a script"),
    "narrow-wildcard": _warning("an `allow` whose wildcard matches no tool"),
    "not-granted": _warning("a pack's grants that have no effect"),
    "unlimited-allow": _warning("an `allow` to run or connect to anything, without saying so"),
    "shallow-pattern": _warning("a pattern that matches less than it seems to"),
    "redundant-allow": _warning("an `allow` without effect beside another rule"),
    "invariant-broken": _error("a `prove` or `assume` that a call breaks"),
    "invariant-undecided": _error("a `prove` that is neither proved nor refuted"),
    "loosening-refused": _error("an edit that lets calls do more, and waits for people"),
    "invariant-about-nothing": _warning("a `prove` or `assume` whose conditions no call meets"),
    "assumption-undecided": _warning("an `assume` that is neither proved nor refuted"),
    # statements that do nothing
    "effect-not-covered": _error("an `allow` that never covers the effects of its tools"),
    "never-holds": _error("a rule whose condition can never hold"),
    "missing-default": _error("no default in the layer of every agent"),
    "second-default": _error("a second plain default in one layer"),
    "default-without-effect": _error("a `default allow` that grants nothing"),
    "delegate-outside-global": _error("a delegation outside the layer of every agent"),
    "delegate-beside-default": _error("a delegation of a tool that has a default"),
    "delegate-to-nobody": _warning("a delegation to a layer that does not exist"),
    "allow-without-effect": _error("an `allow` of another layer that grants nothing"),
    "overruled-rule": _error("a rule that another one of its layer always overrules"),
    "bad-limit": _error("a limit whose number, amount or period makes no sense"),
    "window-beyond-retention": _error("a time that reaches beyond the calls that are kept"),
    "unreached-limit": _error("a `limit` on tools that nothing allows"),
    "unreached-redaction": _error("a redaction of the results of tools that nothing allows"),
    "unreached-ask": _error("an `ask` for tools that nothing allows"),
    "ask-outside-allows": _warning("an `ask` about calls that no `allow` covers"),
    "unstable-redaction": _error("a redaction that would redact its own replacement"),
    "rewrites-conflict": _error("two rewrites that conflict on every call"),
}


def page(code: str) -> str:
    """Return the path of a code's page in the repository."""
    return f"docs/checks/{code}.md"


def explaining(code: str) -> str:
    """Return the command that shows a code's page."""
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
    """Return a diagnostic with a code, and by default the severity, of the table."""
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
