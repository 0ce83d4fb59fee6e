"""Describe syntax errors in the terms of the language, at the offending token.

Each entry of `MISTAKES` shows a common mistake by an example, with the token that the diagnostic
points at between `«` and `»`. The tests parse every example.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from lark import UnexpectedInput

from policy.diagnostics import Diagnostic, diagnose, did_you_mean, visible
from policy.model import Source
from policy.syntax import tree
from policy.syntax.broken_statements import STATEMENT_WORDS
from policy.syntax.inline_printer import with_article
from policy.syntax.statement_splitter import StatementText

_CLAUSE_WORDS = (
    "when|unless|because|audit|after|by|two|with|remember|set|remove|except|and|or|matching|given"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A common mistake with its message and help.

    `found` must match at the offending token and `before` at the end of the text before it, both as
    regular expressions; the parser must have expected one of the terminals in `expected`. Where
    `before` has a group named `at`, the diagnostic points there instead. `{}` in message and help
    is replaced by that token. With `or_near` the help suggests the nearest expected keyword.
    """

    example: str
    message: str
    help: str
    found: str = ""
    before: str = ""
    expected: frozenset[str] = frozenset()
    code: str = "syntax-error"
    or_near: bool = False


def _one_of(*terminals: str) -> frozenset[str]:
    return frozenset(terminals)


def _any_of(words: Iterable[str]) -> str:
    *first, last = (f"`{word}`" for word in words)
    return f"{', '.join(first)} or {last}"


_OPERATORS = _one_of("COMPARISON")
_START = r"\A"

MISTAKES: tuple[Mistake, ...] = (
    # ---- at the start of a statement
    Mistake(
        example="«[permissions.tools]»",
        before=_START,
        found=r"\[[^\]\n]*\]?",
        message="a policy file has no sections",
        help="tables such as this one belong in `placet.toml`",
    ),
    Mistake(
        example="«when» input.a == 1",
        before=_START,
        found=rf"(?:{_CLAUSE_WORDS})(?![A-Za-z0-9_-])",
        message="`{}` continues a rule, so its line must be indented",
        help="put two spaces before it",
    ),
    Mistake(
        example="«My_Rule»: allow file_read",
        before=_START,
        found=r"[A-Za-z0-9_.-]+(?=[ \t]*:)",
        message="`{}` is not a valid rule name",
        help="a rule name consists of lower-case letters, digits and single hyphens: `no-inside`",
    ),
    Mistake(
        example='«bash_exec» = "deny"',
        before=_START,
        found=r"[A-Za-z0-9_*.-]+(?=[ \t]*=)",
        message="a line of this form belongs in `placet.toml`",
        help='write a rule, such as `deny bash_exec`; a set is `paths NAME = "…"`',
    ),
    Mistake(
        example='«file_read» {path: "/a"} -> deny',
        before=_START,
        found=r"[A-Za-z_*?][A-Za-z0-9_.*?/-]*(?=[ \t]*\{)",
        message="a call belongs in a `test`",
        help='write `test "…"`, and the call on an indented line below it',
    ),
    Mistake(
        example="«if» input.a == 1",
        before=_START,
        found=r"(?:if|else)(?![A-Za-z0-9_-])",
        message="the language has no `{}`",
        help="the effect comes first: `deny bash_exec when …`; an exception is `unless …`",
    ),
    Mistake(
        example="no-name: «bash_exec» when input.a == 1",
        before=r":\s*",
        found=r"[A-Za-z_*?\"][^\s]*",
        expected=_one_of("VERDICT"),
        message="`{}` is not an effect of a rule",
        help="after its name a rule has `allow`, `ask`, `deny`, `rewrite`, `redact` or `limit`",
        or_near=True,
    ),
    # ---- characters of other languages
    Mistake(
        example="deny bash_exec when input.command == «'ls'»",
        found=r"'[^'\n]*'?",
        message="a string is written in double quotes",
        help='write `"…"`',
    ),
    Mistake(
        example="deny bash_exec because «“no”»",
        found="[“”„«»‘’][^\\s]*",
        message="a string is written in straight double quotes",
        help='write `"…"`',
    ),
    Mistake(
        example='deny bash_exec because «"no»',
        found=r'"(?:[^"\\\n]|\\.)*\\?(?=\n|\Z)',
        message="the string does not end on its line",
        help='close it with `"`; a line break inside is `\\n`',
    ),
    Mistake(
        example="deny bash_exec when input.command matches «/rm -rf»",
        found=r"/(?:[^/\\\n]|\\.)*\\?(?=\n|\Z)",
        expected=_one_of("REGEX"),
        message="the regular expression does not end on its line",
        help="close it with `/`; a slash inside is `\\/`",
    ),
    Mistake(
        example="deny bash_exec when input.command matches «//»",
        found=r"//",
        expected=_one_of("REGEX"),
        message="the regular expression is empty",
        help="write a pattern between the slashes",
    ),
    Mistake(
        example="deny bash_exec «//» a remark",
        before=r"(?:\A|\s)",
        found=r"//|/\*",
        message="a comment begins with `#`",
        help="write `# …`",
    ),
    Mistake(
        example="deny bash_exec when input.command == «/rm/»",
        found=r"/(?:[^/\\\n]|\\.)*/?",
        message="a regular expression is allowed only after `matches`, `contains` or `matching`",
        help="write `input.f matches /…/` for the whole string, `contains /…/` to search in it",
    ),
    Mistake(
        example="deny bash_exec when input.a == 1 «&&» input.b == 2",
        found=r"&&?",
        message="conditions are joined with `and`",
        help="write `and`",
    ),
    Mistake(
        example="deny bash_exec when input.a == 1 «||» input.b == 2",
        found=r"\|\|?",
        message="conditions are joined with `or`",
        help="write `or`",
    ),
    Mistake(
        example="deny bash_exec when «!»input.a",
        found=r"!(?!=)",
        message="a condition is negated with `not`",
        help="write `not …`, or `!=` between two values",
    ),
    Mistake(
        example="deny bash_exec when input.a «<>» 1",
        before=r"(?P<at><)",
        found=r">",
        message="values are compared for inequality with `!=`",
        help="write `a != b`",
    ),
    Mistake(
        example="deny bash_exec when input.a «=» 1",
        found=r"=",
        expected=_OPERATORS,
        message="`=` assigns a value; `==` compares",
        help="write `==`",
    ),
    Mistake(
        example="rewrite bash_exec set input.a «==» 1",
        before=r"(?:set|given|,)\s+[\w.\[\]\"]+\s*",
        found=r"==",
        message="`==` compares; `=` assigns a value",
        help="write `=`",
    ),
    Mistake(
        example="deny bash_exec«;»",
        found=r";",
        message="a statement ends with its line",
        help="remove the `;`",
    ),
    Mistake(
        example="deny bash_exec «{»",
        found=r"[{}]",
        expected=_one_of("WHEN"),
        message="clauses are written on indented lines, without braces",
        help="write `deny T`, and `  when …` on the next line",
    ),
    # ---- clauses
    Mistake(
        example="deny «when» input.a == 1",
        before=rf"\b(?:allow|ask|deny|rewrite|limit)\s+(?P<at>{_CLAUSE_WORDS})\s+",
        found=r"",
        message="a rule names its tools before `{}`",
        help="write `deny * when …` for every tool",
    ),
    Mistake(
        example="deny bash_exec «if» input.a == 1",
        found=r"if(?![A-Za-z0-9_-])",
        expected=_one_of("WHEN"),
        message="a condition begins with `when`",
        help="write `when`",
    ),
    Mistake(
        example="deny bash_exec «where» input.a == 1",
        found=r"(?:where|while|provided)(?![A-Za-z0-9_-])",
        expected=_one_of("WHEN"),
        message="a condition begins with `when`",
        help="write `when`",
    ),
    Mistake(
        example="deny bash_exec when input.a == 1 «else» allow",
        found=r"(?:else|otherwise|then)(?![A-Za-z0-9_-])",
        message="rules have no `{}`",
        help="write a second rule; the strictest rule that matches wins, in any order",
    ),
    Mistake(
        example="allow bash_exec «with» aproval",
        found=r"with(?![A-Za-z0-9_-])",
        expected=_one_of("WITH_APPROVAL"),
        message="`{}` must be followed by `approval` here",
        help="write `with approval`; a replacement `with \"…\"` follows `matching /…/`",
    ),
    Mistake(
        example="ask bash_exec «two» persons",
        found=r"two(?![A-Za-z0-9_-])",
        expected=_one_of("TWO_PEOPLE"),
        message="`{}` must be followed by `people` here",
        help="write `two people`",
    ),
    Mistake(
        example="allow bash_exec «bash»",
        before=r"[A-Za-z0-9_*?\"]\s+",
        found=r"[A-Za-z_*?][A-Za-z0-9_*?./-]*",
        expected=_one_of("_EXCEPT"),
        message="`{}` follows a tool without a comma and does not begin a clause",
        help="put commas between tools; clauses are `when`, `unless`, `because`, …",
        or_near=True,
    ),
    Mistake(
        example="limit bash_exec «5» per minute",
        found=r"[0-9]+",
        expected=_one_of("_TO"),
        message="`to` is missing before the number",
        help="write `limit T to 5 per minute`",
    ),
    Mistake(
        example='test "t"\n  file_read «->» deny',
        found=r"->",
        before=r"\n[ \t]+[\w./*-]+[ \t]*",
        expected=_one_of("OPEN_BRACE"),
        message="the call has no input",
        help='write it in braces: `file_read {path: "/a"} -> deny`, or `{}` for none',
    ),
    Mistake(
        example="deny bash_exec «->» deny",
        found=r"->|=>",
        message="`{}` belongs in the cases of a `test`, between a call and its verdict",
        help='write `test "…"`, and the cases on indented lines below it',
    ),
    Mistake(
        example='test "t"\n  file_read {path: "/a"} -> «denied»',
        before=r"->\s*",
        found=r"[^\s]+",
        message="`{}` is not a verdict",
        help="write `allow`, `ask` or `deny` after `->`",
    ),
    # ---- conditions
    Mistake(
        example="deny bash_exec when input.a == 1 and input.b == 2 «or» input.c == 3",
        found=r"(?:and|or)(?![A-Za-z0-9_-])",
        expected=_one_of("_AND", "_OR"),
        message="`and` and `or` are combined without parentheses",
        help="use parentheses to group them: `(a and b) or c`, `a and (b or c)`",
        code="mixed-and-or",
    ),
    Mistake(
        example="deny bash_exec when 1 < input.a «<» 5",
        found=r"==|!=|<=|>=|<|>",
        expected=_one_of("_AND"),
        message="a comparison has exactly two operands",
        help="write two comparisons, joined with `and`",
    ),
    Mistake(
        example="deny bash_exec when input.a is «not» present",
        before=r"\bis\s+",
        found=r"not(?![A-Za-z0-9_-])",
        message="there is no `is not`",
        help="write `is absent`, or `not (a is …)`",
    ),
    Mistake(
        example="deny bash_exec when input.a is «string»",
        before=r"\bis\s+",
        found=rf"(?:{'|'.join(tree.TYPE_NAMES)})(?![A-Za-z0-9_-])",
        expected=_one_of("_A"),
        message="`{}` needs an article here",
        help="write `is a string`, `is an object`",
    ),
    Mistake(
        example="deny bash_exec when input.a is «null»",
        before=r"\bis\s+(?:an?\s+)?",
        found=r"[A-Za-z_]+",
        message="`{}` is not a type or state of a value",
        help=f"use {_any_of(map(with_article, (*tree.STATES, *tree.TYPE_NAMES)))}",
        or_near=True,
    ),
    Mistake(
        example="deny bash_exec when now within «8:00»..18:00",
        found=r"[0-9]+:?[0-9]*",
        expected=_one_of("TIME_OF_DAY"),
        message="`{}` is not a time of day",
        help="write four digits from `00:00` to `23:59`",
    ),
    Mistake(
        example="deny web_fetch when connects «corp»",
        before=r"\b(?:connects|sends)(?:\s+(?:any|only))?\s+",
        found=r"[^\s]+",
        message="`to` is missing",
        help="write `connects to …`, `connects only to …`, `sends to …`; `outside` takes no `to`",
    ),
    # ---- values
    Mistake(
        example="policy for role «guest»",
        before=r"\b(?:agents?|role|pack|use|because|audit|by|from|like|test|store|with|,)\s+",
        found=r"[A-Za-z0-9_*./~-]+",
        expected=_one_of("STRING"),
        message="`{}` needs double quotes here",
        help='write `"…"`',
    ),
    Mistake(
        example="deny bash_exec when input.a > «.5»",
        found=r"\.[0-9]+",
        message="a number begins with a digit",
        help="write `0.5`",
    ),
    Mistake(
        example="deny bash_exec when input.a > 1«e5»",
        before=r"[0-9]",
        found=r"[A-Za-z_][A-Za-z0-9_]*",
        message="`{}` directly after a number has no meaning",
        help="write numbers out (`100_000`); durations end in `ms`, `s`, `m`, `h`, `d` or `w`",
    ),
    Mistake(
        example="deny «-x»",
        found=r"[^\s,\"]+",
        expected=_one_of("TOOL_PATTERN"),
        message="`{}` cannot be a tool name without quotes",
        help='a tool begins with a letter, `_`, `*` or `?`; quote any other name: `deny "-x"`',
    ),
)  # fmt: skip

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"?|[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*|->|[=!<>]=|\.\.|[^\s]'
)
_WORD = re.compile(r"[A-Za-z][A-Za-z_]*")
# How much of the text before a token is searched for a mistake.
_BEFORE = 200


@cache
def _compiled() -> tuple[tuple[Mistake, re.Pattern[str], re.Pattern[str] | None], ...]:
    """Return the mistakes with their compiled expressions; a valid policy never needs them."""
    return tuple(
        (
            mistake,
            re.compile(mistake.found),
            re.compile(rf"(?:{mistake.before})\Z") if mistake.before else None,
        )
        for mistake in MISTAKES
    )


def describe(
    source: Source, code: str, *, piece: StatementText, error: UnexpectedInput
) -> Diagnostic:
    """Return the diagnostic of a statement that did not parse."""
    text = code[piece.start : piece.end]
    token = getattr(error, "token", None)
    ended = getattr(token, "type", None) == "$END"
    found: int = error.pos_in_stream  # type: ignore[assignment]
    at = len(text) if ended else min(max(found, 0), len(text))
    expected: set[str] = set(
        getattr(error, "expected", None) or getattr(error, "allowed", ()) or ()
    )
    if at >= len(text):
        return _unfinished(source, piece, expected)
    before = text[max(0, at - _BEFORE) : at]
    for mistake, pattern, lead in _compiled():
        fits = pattern.match(text, at)
        led = lead.search(before) if lead else None
        if fits is None or (lead and led is None):
            continue
        if mistake.before == _START and at != 0:
            continue
        if mistake.expected and not mistake.expected & expected:
            continue
        start, end = at, max(fits.end(), at + 1)
        if led is not None and "at" in led.groupdict():
            start = at - len(before) + led.start("at")
            end = at - len(before) + led.end("at") if not mistake.found else end
        near = _nearest(text[start:end], expected) if mistake.or_near else ""
        return _told(source, piece, mistake, start=start, end=end, help=near or mistake.help)
    return _unexpected(source, piece, text, at=at, expected=expected)


def _told(
    source: Source, piece: StatementText, mistake: Mistake, *, start: int, end: int, help: str
) -> Diagnostic:
    span = source.span(piece.start + start, piece.start + end)
    word = _short(source.text[span.start : span.end])
    return diagnose(
        mistake.code,
        mistake.message.replace("{}", word),
        span=span,
        help=help,
    )


def _unexpected(
    source: Source, piece: StatementText, text: str, *, at: int, expected: set[str]
) -> Diagnostic:
    token = _TOKEN.match(text, at)
    end = token.end() if token else at + 1
    span = source.span(piece.start + at, piece.start + end)
    word = _short(text[at:end])
    if at == 0:
        return diagnose(
            "syntax-error",
            f"`{word}` does not begin a statement",
            span=span,
            help=_near_word(word, STATEMENT_WORDS)
            or "a statement begins with `allow`, `ask`, `deny`, `default`, `test` or one of their "
            "kin, a rule perhaps with its name and a colon",
        )
    return diagnose(
        "syntax-error",
        f"unexpected `{word}`",
        span=span,
        help=_nearest(word, expected) or _may_stand(expected),
    )


def _unfinished(source: Source, piece: StatementText, expected: set[str]) -> Diagnostic:
    return diagnose(
        "syntax-error",
        "the statement is incomplete",
        span=source.span(piece.end, piece.end),
        help=_may_stand(expected) + "; if it goes on, its next line is indented",
    )


def _nearest(word: str, expected: set[str]) -> str:
    """Return the help that suggests the nearest expected keyword."""
    words: list[str] = []
    for terminal in sorted(expected):
        said = _said(terminal)
        words += _CHOICES.get(terminal) or ([said[1:-1]] if _WORD.fullmatch(said[1:-1]) else [])
    return _near_word(word, tuple(words))


def _near_word(word: str, words: tuple[str, ...]) -> str:
    if not _WORD.fullmatch(word):
        return ""
    if word.lower() in words:
        return f"keywords are written in lower case: `{word.lower()}`"
    return did_you_mean(word, words)


_CHOICES: dict[str, list[str]] = {
    "VERDICT": ["allow", "ask", "deny"],
    "SET_KIND": ["paths", "hosts", "commands", "strings", "numbers", "addresses"],
    "KIND": "tools paths hosts commands strings numbers addresses string number duration path "
    "host".split(),
    "TYPE": [*tree.TYPE_NAMES],
    "_A": ["a", "an", *tree.TYPE_NAMES],
    "UNIT": ["second", "minute", "hour", "day", "week"],
    "SCOPE": ["session", "agent", "user"],
    "DAYS": ["weekdays", "weekends", "mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    "TEXT_OPERATOR": ["contains"],
    "BOOLEAN": ["true", "false"],
}
_SAID = {
    "NAME": "a name",
    "FIELD": "the name of a field",
    "STRING": "a string in double quotes",
    "REGEX": "a regular expression",
    "NUMBER": "a number",
    "SPAN": "a duration such as `10m`",
    "TIME_OF_DAY": "a time of day such as `08:00`",
    "TOOL_PATTERN": "a tool",
    "RULE_NAME": "the name of a rule and a colon",
    "RULE_REFERENCE": "the name of a rule",
    "COMPARISON": "a comparison such as `==`",
    "VERDICT": "`allow`, `ask` or `deny`",
    "SET_KIND": "the type of a set",
    "KIND": "a type such as `string` or `paths`",
    "TYPE": _any_of(tree.TYPE_NAMES),
    "UNIT": "a unit such as `minute`",
    "SCOPE": "`session`, `agent` or `user`",
    "DAYS": "days such as `weekdays`",
    "TEXT_OPERATOR": "`contains`, `starts with` or `ends with`",
    "BOOLEAN": "`true` or `false`",
    "HISTORY": "`results(…)` or `calls(…)`",
    "NOTHING_ELSE": "`and nothing else`",
    "EXTRA_FIELDS": "`extra fields allowed`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "_ARROW": "`->`",
    "OPEN_BRACKET": "`[`",
    "CLOSE_BRACKET": "`]`",
    "OPEN_BRACE": "`{`",
    "CLOSE_BRACE": "`}`",
    "CLOSE_PARENTHESIS": "`)`",
    "LPAR": "`(`",
    "LSQB": "`[`",
    "COMMA": "a comma",
    "COLON": "a colon",
    "DOT": "`.`",
    "_EQUALS": "`=`",
    "__ANON_0": "`..`",
}
_MOST = 9
# Listed last: possible, but seldom what the author meant.
_SELDOM = frozenset({"PLUS", "MINUS", "STAR", "DOT", "LSQB", "LPAR", "OPEN_BRACE", "HISTORY"})


def _said(terminal: str) -> str:
    if terminal in _SAID:
        return _SAID[terminal]
    return f"`{terminal.strip('_').lower().replace('_', ' ')}`"


def _may_stand(expected: set[str]) -> str:
    wanted = expected - {"COMMENT", "_WHITE_SPACE", "$END", "<END-OF-FILE>"}
    ordered = sorted(wanted, key=lambda name: (name in _SELDOM, _said(name)))
    said = list(dict.fromkeys(map(_said, ordered)))
    if not said:
        return "the statement is complete before it"
    shown = ", ".join(said[:_MOST])
    return f"here may stand {shown}{' and more' if len(said) > _MOST else ''}"


def _short(text: str) -> str:
    return visible(text.split("\n", 1)[0], 40)
