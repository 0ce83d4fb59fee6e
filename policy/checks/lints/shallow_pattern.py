"""Lint: a pattern of a rule that restricts, and that covers less than it seems to.

What a grant misses is denied; what a restriction misses goes through. So only patterns where a
match restricts are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policy.checks.checked import CheckedRule, ResourceTest, ValueSet
from policy.checks.context import CheckContext
from policy.checks.lints.context import LintContext
from policy.checks.satisfiability.outcomes import resource_tests
from policy.programs import (
    CommandPattern,
    Profiles,
    matches_bare,
    named_script,
    wildcard_options,
)
from policy.programs import read_command_pattern as read_command
from policy.syntax import tree
from policy.values import has_wildcard, quote

_PATH_VERBS: tuple[tree.Verb, ...] = ("reads", "writes")
# Names without an extension that are those of files; other names may be those of folders.
_FILES = frozenset(
    ".env .envrc .netrc _netrc .pgpass .profile .gitconfig .git-credentials .htpasswd .htaccess "
    ".gitignore .gitattributes .gitmodules .dockerignore .editorconfig .bash_profile .bash_logout "
    ".bash_aliases .zprofile .zshenv .zlogin passwd shadow group gshadow hosts fstab sudoers "
    "crontab environment credentials authorized_keys known_hosts kubeconfig makefile license "
    "readme changelog codeowners notice gemfile rakefile procfile pipfile go.mod environ".split()
)
_MOST_NAMES = 3
_FILE_STARTS = ("id_", "ssh_host_")
_FILE_ENDS = ("rc", "file", "history", "_config", "_key", "_token")


def find(context: LintContext) -> None:
    """Report the patterns of restricting positions that cover less than they seem to."""
    for rule in context.check.fresh:
        if not rule.of_pack and rule.speaks_of_resources:
            _look_at(rule, context.check)


def _look_at(rule: CheckedRule, check: CheckContext) -> None:
    tests = [
        test
        for part in (rule.when, rule.unless)
        for test in resource_tests(part)
        if test.form == "some" and not test.permits
    ]
    for text in (paths := _texts(tests, *_PATH_VERBS)):
        _look_at_path(text, paths, rule, check)
    for text in (commands := _texts(tests, "runs")):
        _look_at_command(text, commands, rule, check)
    for text in _texts(tests, "connects"):
        if "/" in text and text.endswith("/*"):
            check.report.add(
                "shallow-pattern",
                f"{quote(text)} matches one name below this address, not what is below that",
                span=rule.span,
                help=f"write {quote(f'{text}*')} for everything below it",
            )


def _texts(tests: list[ResourceTest], *verbs: tree.Verb) -> dict[str, None]:
    """Return the items written for these verbs, each once, in order."""
    return dict.fromkeys(
        text
        for test in tests
        if test.verb in verbs and test.operand is not None
        for text in _items(test.operand)
    )


def _items(values: ValueSet) -> Iterator[str]:
    for part in values.included:
        if isinstance(part, ValueSet):
            yield from _items(part)
        elif isinstance(part, str):
            yield part


# ------------------------------------------------------------------ paths


def _look_at_path(
    text: str, beside: dict[str, None], rule: CheckedRule, check: CheckContext
) -> None:
    name = text.rpartition("/")[2]
    # `workspace` in quotes is reported where it is written.
    if has_wildcard(text) or name in ("", ".", "..", "~") or text == "workspace":
        return
    if not _names_file(name):
        if not any(_has_contents(other, text, name) for other in beside):
            check.report.add(
                "shallow-pattern",
                f"{quote(text)} matches this path itself, not what is below it",
                span=rule.span,
                help=f"if it is a folder, write {quote(f'{text}/**')} as well",
            )
    elif name == text and not any(_has_every(other, name) for other in beside):
        check.report.add(
            "shallow-pattern",
            f"{quote(text)} matches only the file directly in the workspace, not in folders "
            "below it",
            span=rule.span,
            help=f"write {quote(f'**/{text}')} for every folder, {quote(f'./{text}')} for the "
            "workspace itself",
        )


def _names_file(name: str) -> bool:
    """Return whether a name is probably that of a file: it has an extension, or is known."""
    lower = name.lower()
    if "." in name[1:] and not lower.endswith(".d"):
        return True
    return lower in _FILES or lower.startswith(_FILE_STARTS) or lower.endswith(_FILE_ENDS)


def _has_contents(other: str, text: str, name: str) -> bool:
    """Return whether another item is about what is below the path."""
    folder = other.removesuffix("/**")
    return folder != other and (folder.rpartition("/")[2] == name or text.startswith(f"{folder}/"))


def _has_every(other: str, name: str) -> bool:
    return other.startswith("**/") and other.endswith(name)


# --------------------------------------------------------------- commands


def _look_at_command(
    text: str, beside: dict[str, None], rule: CheckedRule, check: CheckContext
) -> None:
    pattern = read_command(text, check.profiles)
    # A script by its path is the subject of `script-by-one-program`.
    if not isinstance(pattern, CommandPattern) or named_script(pattern) is not None:
        return
    if _look_at_options(pattern, beside, rule, check) or not matches_bare(pattern):
        return
    if any(_has_operands(other, pattern, check.profiles) for other in beside if other != text):
        return
    check.report.add(
        "shallow-pattern",
        f"{quote(text)} matches only the command without operands or further options",
        span=rule.span,
        help=f"write {quote(f'{text} *')} for the command with any",
    )


def _has_operands(text: str, bare: CommandPattern, profiles: Profiles) -> bool:
    """Return whether another pattern is about the same command with operands."""
    other = read_command(text, profiles)
    if not isinstance(other, CommandPattern) or not other.rest or bare.program is None:
        return False
    return other.program is None or bare.program[: len(other.program)] == other.program


def _look_at_options(
    pattern: CommandPattern, beside: dict[str, None], rule: CheckedRule, check: CheckContext
) -> bool:
    """Report a wildcard in the name of an option that has other spellings: `git push --force*`.

    Return whether there was one.
    """
    found = False
    covered = {name for other in beside for name in _covered_options(other, pattern, check)}
    for option in wildcard_options(pattern):
        missed = [text for name, text in option.missed if name not in covered]
        if not missed:
            continue
        found = True
        names = [name for name in option.names if name not in covered]
        written = [pattern.text.replace(option.spelled, name, 1) for name in names]
        spelled = [text if text.endswith(" *") else f"{text} *" for text in written]
        check.report.add(
            "shallow-pattern",
            f"{quote(pattern.text)} compares how the option is spelled, and misses "
            f"{_listed(missed)}",
            span=rule.span,
            help=f"name each option, which covers all its spellings: {_listed(spelled)}",
        )
    return found


def _covered_options(text: str, pattern: CommandPattern, check: CheckContext) -> Iterator[str]:
    """Yield the options that another pattern about the same command names, with any operands."""
    other = read_command(text, check.profiles)
    if isinstance(other, CommandPattern) and other.program == pattern.program and other.rest:
        known = [option.name for option in other.options if not option.unknown]
        if len(known) == len(other.options) == 1:
            yield known[0]


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_NAMES
    return ", ".join(map(quote, texts[:_MOST_NAMES])) + (f" and {more} more" if more > 0 else "")
