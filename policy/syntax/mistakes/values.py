"""Mistakes in strings, numbers and other values, and characters of other languages."""

from __future__ import annotations

from policy.syntax.mistakes.mistake import Mistake, one_of

STRINGS: tuple[Mistake, ...] = (
    Mistake(
        example="deny bash_exec when input.command == «'ls'»",
        found=r"'[^'\n]*'?|`[^`\n]*`?",
        message="a string is written in double quotes",
        help='write `"…"`',
    ),
    Mistake(
        example="deny bash_exec because «“no”»",
        found="[“”„«»‘’][^“”„«»‘’\\n]*[“”„«»‘’]?",
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
        example='deny bash_exec because "say "«no»""',
        before=r'"[^"\n]*"',
        found=r"[A-Za-z0-9]+",
        message="`{}` directly follows a string",
        help='a quote inside a string is written `\\"`',
    ),
    Mistake(
        example="policy for role «guest»",
        before=r"(?:\b(?:agents?|role|pack|use|by|from|like|test|store|with)|,)\s+",
        found=r"[A-Za-z0-9_*.~][A-Za-z0-9_*.:/~-]*",
        expected=one_of("STRING"),
        message="`{}` needs double quotes here",
        help='write `"{}"`',
    ),
)  # fmt: skip

REGEXES: tuple[Mistake, ...] = (
    Mistake(
        example="deny bash_exec when input.command matches «/rm -rf»",
        found=r"/(?:[^/\\\n]|\\.)*\\?(?=\n|\Z)",
        expected=one_of("REGEX"),
        message="the regular expression does not end on its line",
        help="close it with `/`; a slash inside is `\\/`",
    ),
    Mistake(
        example="deny bash_exec when input.command matches «//»",
        found=r"//",
        expected=one_of("REGEX"),
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
)  # fmt: skip

_ALONE = (
    "compare the number alone: `input.amount <= 500`; a currency is a field of its own, such as "
    '`input.currency == "EUR"`'
)

NUMBERS: tuple[Mistake, ...] = (
    Mistake(
        example="allow refund when input.a <= 500 «EUR»",
        before=r"[0-9]\s*",
        found=r"(?:[A-Z]{3}|(?i:eur|usd|gbp|euros?|dollars?|pounds?|cents?))\b|[€£¥$]",
        message="a number has no currency",
        help=_ALONE,
    ),
    Mistake(
        example="allow refund when input.a <= «$500»",
        found=r"[$€£¥]\s*[0-9][0-9_.,]*",
        message="a number has no currency",
        help=_ALONE,
    ),
    Mistake(
        example="allow refund when input.a <= «EUR» 500",
        before=r"(?P<at>\b[A-Z]{3})\s+",
        found=r"(?=[0-9])",
        message="a number has no currency",
        help=_ALONE,
    ),
    Mistake(
        example="deny bash_exec when input.a < 10«%»",
        before=r"[0-9]\s*",
        found=r"%|percent\b",
        message="a number has no percent sign",
        help="write the number that the field has: `0.1` or `10`",
    ),
    Mistake(
        example="deny bash_exec when input.a in 0.«.100»",
        before=r"[0-9]\.",
        found=r"\.+[0-9]+",
        message="a range of numbers is two comparisons",
        help="write `input.f >= 0 and input.f <= 100`",
    ),
    Mistake(
        example="deny bash_exec when input.a > «.5»",
        found=r"\.[0-9]+",
        message="a number begins with a digit",
        help="write `0.5`",
    ),
    Mistake(
        example="deny bash_exec when input.a > 1«,000»",
        before=r"[0-9]",
        found=r",[0-9]{3}(?:,[0-9]{3})*\b",
        message="a number is written without commas",
        help="write `1000` or `1_000`",
    ),
    Mistake(
        example="deny bash_exec when input.a > 10 «minutes»",
        before=r"[0-9]\s*",
        found=r"(?:ms|millis\w*|s|secs?|seconds?|m|mins?|minutes?|hrs?|hours?|days?|weeks?|months?|years?)\b",
        message="`{}` is not a unit here",
        help="durations are `500ms`, `30s`, `10m`, `2h`, `7d` or `1w`, without a space",
    ),
    Mistake(
        example="deny bash_exec when input.a > 1«e5»",
        before=r"[0-9]",
        found=r"[A-Za-z_][A-Za-z0-9_]*",
        message="`{}` directly after a number has no meaning",
        help="write numbers out (`100_000`); durations end in `ms`, `s`, `m`, `h`, `d` or `w`",
    ),
)  # fmt: skip

NAMES: tuple[Mistake, ...] = (
    Mistake(
        example="deny * when reads «$project»",
        found=r"\$\{?\w+\}?|%\w+%",
        message="a name is written without further characters",
        help="write it as it is defined: `NAME`",
    ),
    Mistake(
        example="deny * when reads «{project}»",
        before=r"(?:reads|writes|runs|to|only|any|outside|in|[=!<>]=|<|>)\s+(?P<at>\{)\s*\w+\s*",
        found=r"\}",
        message="a name is written without braces",
        help="remove them",
    ),
    Mistake(
        example="deny * when reads only «…»",
        found=r"…|\.\.\.",
        message="`{}` stands for a part that you have to write",
        help="write a value or a condition in its place",
    ),
    Mistake(
        example="deny bash_exec when any «my-x» in input.a: input.b",
        before=r"(?P<at>\b[A-Za-z_]\w*)",
        found=r"(?:-[A-Za-z_]\w*)+",
        message="`{}` is not a valid name",
        help='a name consists of letters, digits and `_`; a string needs quotes: `"{}"`',
    ),
)  # fmt: skip

ENDS: tuple[Mistake, ...] = (
    Mistake(
        example="deny bash_exec\n  «default» deny",
        before=r"\n[ \t]+",
        found=r"(?:policy|pack|use|param|tools|paths|hosts|commands|strings|numbers|addresses|let|"
        r"default|delegate|allow|ask|deny|shadow|rewrite|test)(?=[ \t]+[\w\"*])",
        expected=one_of("$END"),
        message="`{}` begins a statement, so its line must not be indented",
        help="remove the space before it",
    ),
    Mistake(
        example="deny bash_exec\n  «no-web:» deny web_fetch",
        before=r"\n[ \t]+",
        found=r"[a-z][a-z0-9-]*[ \t]*:(?=[ \t]+(?:allow|ask|deny|shadow|rewrite|limit|redact)\b)",
        expected=one_of("$END"),
        message="`{}` begins a statement, so its line must not be indented",
        help="remove the space before it",
    ),
    Mistake(
        example="deny bash_exec«;»",
        found=r";(?=\s*\Z)",
        message="a statement ends with its line",
        help="remove the `;`",
    ),
    Mistake(
        example="deny bash_exec«;» deny web_fetch",
        found=r";",
        message="a statement ends with its line",
        help="remove the `;`, and begin the next statement on a new line",
    ),
    Mistake(
        example='use "a.policy" with«:» home = "/root"',
        before=r"\b(?:with|given|when|unless|because|by|use|test|except|for|to|set|remember)\s*",
        found=r":(?=[ \t]*\S)",
        message="a keyword is not followed by a colon",
        help="remove the `:`",
    ),
    Mistake(
        example="deny bash_exec when input.a == 1«,» because \"no\"",
        found=r",(?=\s*(?:when|unless|because|audit|with|by|two|remember)\b)",
        message="clauses are not separated by commas",
        help="remove the `,`",
    ),
    Mistake(
        example="deny bash_exec when reads workspace«.»",
        before=r"(?P<at>\.)",
        found=r"\s*\Z",
        message="a statement does not end with a period",
        help="remove it",
    ),
    Mistake(
        example="deny bash_exec«:»",
        found=r":(?=[ \t]*(?:\n|\Z))",
        message="a line does not end with a colon",
        help="remove the `:`; the lines that continue a statement are indented",
    ),
)  # fmt: skip
