"""Mistakes in the tools and the clauses of rules."""

from __future__ import annotations

from policy.syntax.mistakes.mistake import Mistake, one_of

_CLAUSE = (
    "when|unless|because|audit|after|by|two|with|remember|set|remove|except|and|or|matching|given"
)
_CLAUSES = ("when", "unless", "because", "audit", "by", "remember", "except", "set", "remove")
_EFFECT = "allow|ask|deny"
_UNIT = r"(?:sec|min|hour|day|week|month|year)\w*"
_DURATION = "durations are `500ms`, `30s`, `10m`, `2h`, `7d` or `1w`"

REWRITES: tuple[Mistake, ...] = (
    Mistake(
        example="rewrite bash_exec «input.timeout» = 60",
        before=r"\brewrite\s[^\n]*",
        found=r"input[\w.\[\]\"]*(?=\s*:?=)",
        expected=one_of("SET"),
        message="`set` is missing before the field",
        help="write `set {} = …`",
    ),
    Mistake(
        example="rewrite bash_exec set input.timeout «to» 60",
        before=r"\bset\s+[\w.\[\]\"]+\s*",
        found=r"to\b|is\b|<=|>=|:=|:|<|>",
        expected=one_of("_EQUALS"),
        message="a field and its new value are separated by `=`",
        help="write `set input.FIELD = …`, or for a bound `set input.FIELD = at most …`",
    ),
    Mistake(
        example="rewrite bash_exec set input.timeout = «max» 60",
        before=r"=\s*(?P<at>max|min|maximum|minimum|atmost|atleast|most|least|upto)\s+",
        found=r"(?=[\w\"])",
        message="a bound is written `at most` or `at least`",
        help="write `set input.FIELD = at most …`",
    ),
    Mistake(
        example="«rewrite» bash_exec",
        before=r"\b(?P<at>rewrite)\s[^\n]*",
        found=r"\s*\Z",
        expected=one_of("SET"),
        message="the rewrite changes nothing",
        help="write `set input.FIELD = …`, `remove input.FIELD` or `redact input.FIELD …`",
    ),
)  # fmt: skip

TOOLS: tuple[Mistake, ...] = (
    Mistake(
        example="allow file_read «in» workspace",
        found=r"(?:in|inside|within|under)(?=\s+[\w\"/~.])",
        expected=one_of("WHEN"),
        message="files are limited by a condition",
        help="write `when reads only …` or `when writes only …`",
    ),
    Mistake(
        example="deny «shadow» web_fetch",
        before=r"\b(?:allow|ask|deny|rewrite)\s+(?P<at>shadow)\s+",
        found=r"(?=[\w*])",
        expected=one_of("WHEN"),
        message="`shadow` comes before the effect",
        help="write `shadow deny …`",
    ),
    Mistake(
        example="deny web_fetch «priority» 10",
        found=r"(?:priority|weight|precedence|order)\b",
        expected=one_of("WHEN"),
        message="rules have no `{}`",
        help="the strictest rule that matches wins, wherever it is written",
    ),
    Mistake(
        example="deny «when» input.a == 1",
        before=rf"\b(?:allow|ask|deny|rewrite|limit)\s+(?P<at>{_CLAUSE})\s+",
        message="a rule names its tools before `{}`",
        help="write `deny * when …` for every tool",
    ),
    Mistake(
        example="deny file_write except «when» input.a == 1",
        before=r"\bexcept\s+(?P<at>when|if|where|unless)\s+",
        message="`except` is followed by tools",
        help="write `unless …` for an exception with a condition",
    ),
    Mistake(
        example="allow «[»file_read, file_list]",
        found=r"[\[(]",
        expected=one_of("TOOL_PATTERN"),
        before=r"[^{]*",
        message="tools are listed without brackets",
        help="write `allow file_read, file_list`",
    ),
    Mistake(
        example='git: allow bash_exec«(»"git status")',
        before=r"[A-Za-z0-9_*?\"]\s*",
        found=r"\(",
        expected=one_of("_EXCEPT"),
        message="a tool is named without arguments",
        help='write them as a condition, such as `when runs only "git diff *"` or '
        '`when reads only "src/**"`',
    ),
    Mistake(
        example="allow file_read «and» file_list",
        found=r"(?:and|or|plus)\b|[&+|]+",
        expected=one_of("_EXCEPT"),
        message="tools are separated by commas",
        help="write `allow file_read, file_list`",
    ),
    Mistake(
        example="deny «-x»",
        found=r"[^\s,\"]+",
        expected=one_of("TOOL_PATTERN"),
        message="`{}` cannot be a tool name without quotes",
        help='a tool begins with a letter, `_`, `*` or `?`; quote any other name: `deny "-x"`',
    ),
)  # fmt: skip

CLAUSES: tuple[Mistake, ...] = (
    Mistake(
        example='allow file_write when writes only workspace «except» "**/.env"',
        found=r"(?:except|excluding|without|but\s+not)(?![A-Za-z0-9_-])",
        expected=one_of("UNLESS"),
        message="an exception to a rule begins with `unless`",
        help='write `unless writes "…"`; `except` is for sets: `paths mine = workspace except "…"`',
    ),
    Mistake(
        example='allow refund with approval by "finance" «or» "support"',
        before=r"\bby\s+\"[^\"\n]*\"(?:\s*,\s*\"[^\"\n]*\")*\s+",
        found=r"(?:or|and)\b",
        message="groups of approvers are separated by commas",
        help='write `by "a", "b"`: one member of either; add `two people` for one of each',
    ),
    Mistake(
        example="deny bash_exec «{»",
        found=r"[{}]",
        expected=one_of("WHEN"),
        message="clauses are written on indented lines, without braces",
        help="write `deny T`, and `  when …` on the next line",
    ),
    Mistake(
        example="deny bash_exec «if not» input.a == 1",
        found=r"if\s+not(?![A-Za-z0-9_-])",
        expected=one_of("WHEN"),
        message="a condition begins with `when`, an exception with `unless`",
        help="write `unless …`, or `when not …`",
    ),
    Mistake(
        example="deny bash_exec «if» input.a == 1",
        found=r"(?:if|where|while|provided)(?![A-Za-z0-9_-])",
        expected=one_of("WHEN"),
        message="a condition begins with `when`",
        help="write `when`",
    ),
    Mistake(
        example="allow file_read «reads» only workspace",
        found=r"(?:reads|writes|runs|connects|sends|not|any|all|now|(?:input|agent|session|user)(?=\.))"
        r"(?![A-Za-z0-9_-])",
        expected=one_of("_EXCEPT"),
        message="a condition begins with `when`",
        help="write `when {} …`",
    ),
    Mistake(
        example="deny bash_exec when input.a == 1 «else» allow",
        found=r"(?:else|otherwise|then)(?![A-Za-z0-9_-])",
        message="rules have no `{}`",
        help="write a second rule; the strictest rule that matches wins, in any order",
    ),
    Mistake(
        example="deny bash_exec when «when» input.a == 1",
        before=r"\b(?:when|unless)\s+(?P<at>when|unless|if)\s+",
        message="`{}` is one word too many",
        help="remove it",
    ),
    Mistake(
        example="deny bash_exec because «»",
        before=r"\b(?:because|audit)\s*",
        found=r"\Z",
        expected=one_of("STRING"),
        message="the reason is missing",
        help='write `because "…"`',
    ),
    Mistake(
        example="deny bash_exec because «it is not needed»",
        before=r"\b(?:because|audit)\s+",
        found=r"[^\s\"'“„«‘’`][^\n\"]*",
        expected=one_of("STRING"),
        message="the reason needs double quotes",
        help='write `because "{}"`',
    ),
    Mistake(
        example="allow bash_exec «needs approval»",
        found=r"(?:needs?|requires?|requiring|on|after|upon|by)\s+(?:an?\s+)?approvals?\b|approvals?\b",
        expected=one_of("WITH_APPROVAL"),
        message="an approval is required by `with approval`",
        help="write `with approval`",
    ),
    Mistake(
        example='allow bash_exec «approved by» "ops"',
        found=r"(?:approved|confirmed|approvable)\s+by\b",
        expected=one_of("WITH_APPROVAL"),
        message="an approval is required by `with approval`",
        help='write `with approval by "…"`',
    ),
    Mistake(
        example="allow bash_exec «with» permission",
        found=r"with(?![A-Za-z0-9_-])",
        expected=one_of("WITH_APPROVAL"),
        message="`{}` must be followed by `approval` here",
        help="write `with approval`; a replacement `with \"…\"` follows `matching /…/`",
    ),
    Mistake(
        example='allow bash_exec with approval «from» "ops"',
        before=r"\bapproval\s+",
        found=r"(?:from|of|via|through)(?![A-Za-z0-9_-])",
        message="approvers are named after `by`",
        help='write `with approval by "…"`',
    ),
    Mistake(
        example="ask bash_exec «two» persons",
        found=r"(?:two|2)\b(?=\s+[a-z])",
        expected=one_of("TWO_PEOPLE"),
        message="`{}` must be followed by `people` here",
        help="write `two people`",
    ),
    Mistake(
        example="allow bash_exec with approval remember «60»",
        before=r"\b(?:remember|within|per)\s+",
        found=rf"[0-9][0-9_]*(?![\w.]|\s+{_UNIT})",
        expected=one_of("SPAN"),
        message="`{}` is a number, and a duration is needed here",
        help="write the unit directly after it, for seconds `{}s`; " + _DURATION,
    ),
    Mistake(
        example='allow bash_exec with approval remember «"60s"»',
        before=r"\b(?:remember|within|per)\s+",
        found=r'"[0-9]+\s*(?:ms|s|m|h|d|w)?"',
        expected=one_of("SPAN"),
        message="a duration is not a string",
        help=f"write it without quotes; {_DURATION}",
    ),
    Mistake(
        example="allow bash_exec with approval remember «1 hour»",
        before=r"\b(?:remember|within|per)\s+",
        found=rf"[0-9][0-9_.]*(?:[A-Za-z]+|\s+{_UNIT})?",
        expected=one_of("SPAN"),
        message="`{}` is not a duration",
        help=f"write the unit directly after the number; {_DURATION}",
    ),
    Mistake(
        example="allow bash_exec with approval remember «for» 1h",
        before=r"\bremember\s+",
        found=r"\w+",
        expected=one_of("SPAN"),
        message="`remember` is followed by a duration or by `session`",
        help="write `remember 1h`",
    ),
    Mistake(
        example="allow bash_exec with approval remember 1h «3 times»",
        found=r"[0-9]+\s+times?\b",
        expected=one_of("_UP_TO"),
        message="`up to` is missing before the number",
        help="write `up to {}`",
    ),
    Mistake(
        example="limit bash_exec «5» per minute",
        found=r"[0-9]+",
        expected=one_of("_TO"),
        message="`to` is missing before the number",
        help="write `limit T to 5 per minute`",
    ),
    Mistake(
        example="allow bash_exec «bash»",
        before=r"[A-Za-z0-9_*?\"]\s+",
        found=r"[A-Za-z_*?][A-Za-z0-9_*?./-]*",
        expected=one_of("_EXCEPT"),
        message="`{}` follows a tool without a comma and does not begin a clause",
        help="put commas between tools; clauses are `when`, `unless`, `because`, …",
        near_to=_CLAUSES,
    ),
    Mistake(
        example="deny bash_exec when input.a == 1 «reason» \"no\"",
        before=r"\s",
        found=r"[A-Za-z]+(?=\s+\")",
        expected=one_of("BECAUSE"),
        message="`{}` does not begin a clause",
        help="clauses are `when`, `unless`, `because`, `with approval`, `by`, …",
        near_to=_CLAUSES,
    ),
)  # fmt: skip
