"""Mistakes in conditions."""

from __future__ import annotations

from collections.abc import Iterable

from policy.syntax import tree
from policy.syntax.inline_printer import with_article
from policy.syntax.mistakes.mistake import Mistake, one_of

_WINDOW = "write `now within 09:00..17:00`"


def _any_of(words: Iterable[str]) -> str:
    *first, last = (f"`{word}`" for word in words)
    return f"{', '.join(first)} or {last}"


OPERATORS: tuple[Mistake, ...] = (
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
        found=r"!(?=\s*[\w(\"])",
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
        example="deny bash_exec when input.a «===» 1",
        before=r"(?P<at>[!=]=)",
        found=r"=",
        message="there is no `{}`",
        help="write `==` or `!=`",
    ),
    Mistake(
        example="deny bash_exec when input.a «=~» /x/",
        found=r"=~|~=|~",
        expected=one_of("COMPARISON"),
        message="a string is matched with `matches` or `contains`",
        help="write `matches /…/` for the whole string, `contains /…/` to search in it",
    ),
    Mistake(
        example="deny bash_exec when input.a «=<» 1",
        found=r"=<",
        expected=one_of("COMPARISON"),
        message="there is no `{}`",
        help="write `<=`",
    ),
    Mistake(
        example="deny bash_exec when input.a «=>» 1",
        found=r"=>",
        expected=one_of("COMPARISON"),
        message="there is no `{}`",
        help="write `>=`",
    ),
    Mistake(
        example="deny bash_exec when input.a «=» 1",
        found=r"=",
        expected=one_of("COMPARISON"),
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
        example="deny bash_exec when input.a «equals» 1",
        found=r"(?:equals?|eq|equal\s+to|same\s+as)(?![A-Za-z0-9_-])",
        expected=one_of("COMPARISON"),
        message="values are compared with `==`",
        help="write `==`",
    ),
    Mistake(
        example="deny bash_exec when input.a == 1 and input.b == 2 «or» input.c == 3",
        found=r"(?:and|or)(?![A-Za-z0-9_-])",
        expected=one_of("_AND", "_OR"),
        message="`and` and `or` are combined without parentheses",
        help="use parentheses to group them: `(a and b) or c`, `a and (b or c)`",
        code="mixed-and-or",
    ),
    Mistake(
        example="deny bash_exec when input.a == «and» input.b == 2",
        before=r"(?:with|contains|like|[=!<>]=|<|>|\bin)\s+(?P<at>and|or|unless|because)\s+",
        found=r"(?=\S)",
        message="a value is missing before `{}`",
        help="write it there",
    ),
    Mistake(
        example="deny bash_exec when «.url» == 1",
        before=r"(?:\b(?:when|unless|and|or|not|set|remove|redact|for|reads|writes|runs|to)|\()\s*",
        found=r"\.[A-Za-z_][\w.]*",
        message="a field of a call begins with `input`",
        help="write `input{}`",
    ),
    Mistake(
        example="deny bash_exec when input.a == 1 «and»",
        before=r"\b(?P<at>and|or|not|when|unless)",
        found=r"\s*\Z",
        message="a condition is missing after `{}`",
        help="write it there, or on an indented line below",
    ),
    Mistake(
        example="deny bash_exec when 1 < input.a «<» 5",
        found=r"==|!=|<=|>=|<|>",
        expected=one_of("_AND"),
        message="a comparison has exactly two operands",
        help="write two comparisons, joined with `and`",
    ),
)  # fmt: skip

TESTS: tuple[Mistake, ...] = (
    Mistake(
        example='deny bash_exec when input.a is «not "x"»',
        before=r"\bis\s+",
        found=r"not\s+(?!(?:present|absent|an?)\b)\S+",
        message="there is no `is not`",
        help="write `!=` to compare two values, `is absent`, or `not (a is …)`",
    ),
    Mistake(
        example="deny bash_exec when input.a is «not» present",
        before=r"\bis\s+",
        found=r"not(?![A-Za-z0-9_-])",
        message="there is no `is not`",
        help="write `is absent`, or `not (a is …)`",
    ),
    Mistake(
        example='deny bash_exec when input.a is «"x"»',
        before=r"\bis\s+",
        found=r'"[^"\n]*"?|[0-9][\w.]*|(?:true|false|equal(?:\s+to)?|==)(?!\w)',
        message="values are compared with `==`",
        help="write `==`; `is` is followed by a type, `present` or `absent`",
    ),
    Mistake(
        example="deny bash_exec when input.a is «string»",
        before=r"\bis\s+",
        found=rf"(?:{'|'.join(tree.TYPE_NAMES)})(?![A-Za-z0-9_-])",
        expected=one_of("_A"),
        message="`{}` needs an article here",
        help="write `is a string`, `is an object`",
    ),
    Mistake(
        example="deny bash_exec when input.a is «null»",
        before=r"\bis\s+(?:an?\s+)?",
        found=r"(?:null|None|nil|undefined|missing|empty|unset)\b",
        message="`{}` is not a type or state of a value",
        help="write `is absent`",
    ),
    Mistake(
        example="deny bash_exec when input.a is «whatever»",
        before=r"\bis\s+(?:an?\s+)?",
        found=r"[A-Za-z_]+",
        message="`{}` is not a type or state of a value",
        help=f"use {_any_of(map(with_article, (*tree.STATES, *tree.TYPE_NAMES)))}",
        near_to=(*tree.STATES, *tree.TYPE_NAMES),
    ),
    Mistake(
        example='deny bash_exec when input.a «startswith» "x"',
        found=r"(?i:(?:starts?|begins?|ends?)[_-]?with)\b",
        expected=one_of("TEXT_OPERATOR"),
        message="`starts with` and `ends with` are two words",
        help='write `starts with "…"` or `ends with "…"`',
    ),
    Mistake(
        example='deny bash_exec when input.a «includes» "x"',
        found=r"(?:includes?|contain|has|holds?)(?![A-Za-z0-9_-])",
        expected=one_of("TEXT_OPERATOR"),
        message="a string is searched with `contains`",
        help='write `contains "…"`',
    ),
    Mistake(
        example='deny bash_exec when input.a.«startswith»("x")',
        before=r"\.(?P<at>\w+)\s*",
        found=r"(?=\()",
        message="`{}` is not a function: values have no methods",
        help="write `a starts with b`, `a ends with b`, `a contains b` or `length(a)`",
    ),
    Mistake(
        example='deny bash_exec when input.a matches «"x.*"»',
        found=r'"[^"\n]*"?',
        before=r"\b(?:matches|matching)\s+",
        message="a regular expression is written between slashes",
        help='write `matches /…/`; for a pattern with `*` write `like "…"`',
    ),
    Mistake(
        example="deny bash_exec when input.a like «/x/»",
        before=r"\blike\s+",
        found=r"/[^/\n]*/?",
        message="`like` is followed by a pattern in double quotes",
        help='write `like "*…*"`, or `contains /…/` for a regular expression',
    ),
    Mistake(
        example='deny bash_exec when input.a in ("x"«,» "y")',
        before=r"\bin\s*\([^()\n]*",
        found=r",",
        message="a list is written in brackets",
        help='write `in ["a", "b"]`',
    ),
    Mistake(
        example="deny bash_exec when now > 18«:00»",
        before=r"[0-9]{1,2}",
        found=r":[0-9]{2}",
        message="a time of day is compared with `within`",
        help=_WINDOW,
    ),
    Mistake(
        example="deny bash_exec when now within 08:00..18:00 on «monday»",
        before=r"\bon\s+",
        found=r"\w+",
        expected=one_of("DAYS"),
        message="`{}` is not a day",
        help="write `weekdays`, `weekends`, `mon`, `tue`, `wed`, `thu`, `fri`, `sat` or `sun`",
    ),
    Mistake(
        example="deny bash_exec when now within 08:00..18:00 «weekdays»",
        found=r"(?:weekdays?|weekends?|mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*day)?\b",
        expected=one_of("_ON"),
        message="`on` is missing before the days",
        help="write `on weekdays`",
    ),
    Mistake(
        example="deny bash_exec when now within 08:00..18:00 «Europe/Paris»",
        before=r"\.\.\s*[0-9]{2}:[0-9]{2}\s+",
        found=r"[A-Z][A-Za-z_]*(?:/[A-Za-z_/+-]+)?",
        message="a time zone is written in double quotes",
        help='write `"{}"`',
    ),
    Mistake(
        example="deny bash_exec when input.a «between» 0 and 100",
        found=r"between(?=\s+-?[0-9_.]+\s*(?:and\b|,|\.\.|-))",
        message="a range of numbers is two comparisons",
        help="write `input.f >= 0 and input.f <= 100`",
    ),
    Mistake(
        example="deny bash_exec when now «between» 09:00 and 17:00",
        found=r"(?:between|from|during|in)(?=\s+[0-9])",
        message="a window of time is written with `within`",
        help=_WINDOW,
    ),
    Mistake(
        example="deny bash_exec when now within «8:00»..18:00",
        found=r"[0-9]+:?[0-9]*\s*(?:am|pm)?\b",
        expected=one_of("TIME_OF_DAY"),
        message="`{}` is not a time of day",
        help=f"use four digits from `00:00` to `23:59`: {_WINDOW}",
    ),
    Mistake(
        example="deny bash_exec when now within 09:00«-»17:00",
        before=r"[0-9]{2}:[0-9]{2}\s*",
        found=r"-|–|(?:to|and|until|till)\b|,|\.+",
        expected=one_of("__ANON_0"),
        message="the two times are separated by `..`",
        help=_WINDOW,
    ),
)  # fmt: skip

QUANTIFIERS: tuple[Mistake, ...] = (
    Mistake(
        example="deny bash_exec when input.a == 1 and «any» x in input.b: x == 1",
        before=r"\b(?:and|or|not)\s+(?P<at>any|all)\s+",
        found=r"(?=\w)",
        message="`{}` inside a condition needs parentheses",
        help="write `({} x in …: …)`",
    ),
    Mistake(
        example="deny bash_exec when «any»(x in input.b: x == 1)",
        before=r"\b(?P<at>any|all)\s*",
        found=r"(?=\()",
        message="`{}` is followed by its variable, without a parenthesis",
        help="write `{} x in LIST: CONDITION`",
    ),
    Mistake(
        example="deny bash_exec when any x «for» x in input.b",
        before=r"\b(?:any|all)\s+\w+\s+",
        found=r"\S+",
        expected=one_of("_IN"),
        message="the variable is followed by `in` and a list",
        help="write `any x in LIST: CONDITION`",
    ),
    Mistake(
        example="deny bash_exec when any x in input.b «and» x == 1",
        before=r"\b(?:any|all)\s+\w+\s+in\s+[^:\n]*",
        found=r"\S+",
        expected=one_of("COLON"),
        message="a colon is missing after the list",
        help="write `any x in LIST: CONDITION`",
    ),
)  # fmt: skip
