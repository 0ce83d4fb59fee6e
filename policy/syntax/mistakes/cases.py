"""Mistakes in tests: their titles, their cases and what is given."""

from __future__ import annotations

from policy.syntax.mistakes.mistake import Mistake, one_of

_EFFECT = "allow|ask|deny"
_TOOL = r"\n[ \t]+(?:\S+[ \t]+)?[\w./*-]+[ \t]*"
_INPUT = 'write it in braces: `file_read {path: "a.txt"} -> allow`'

TITLES: tuple[Mistake, ...] = (
    Mistake(
        example="test\n  «file_read» {} -> deny",
        before=r"\Atest\s*\n\s*",
        found=r"\S+",
        expected=one_of("STRING"),
        message="the test has no title",
        help='write `test "…"` above its cases',
    ),
    Mistake(
        example='test «file_read {path: "a"}» -> deny',
        before=r"\Atest[ \t]+",
        found=r"[\w*./-]+[ \t]*\{[^}\n]*\}?",
        expected=one_of("STRING"),
        message="a test has a title, and its cases are on the lines below",
        help='write `test "…"`, and on an indented line `{}` with its verdict',
    ),
    Mistake(
        example="test «two files»\n  file_read {} -> deny",
        before=r"\Atest[ \t]+",
        found=r"[^\s\"'“„«‘’`:][^\n\":]*",
        expected=one_of("STRING"),
        message="the title of a test needs double quotes",
        help='write `test "{}"`',
    ),
    Mistake(
        example='test «"t"»',
        before=r"\Atest\s+(?P<at>\"[^\"\n]*\")",
        found=r"\s*\Z",
        message="the test has no cases",
        help='write calls on indented lines below it, such as `file_read {path: "a"} -> allow`',
    ),
    Mistake(
        example='test "t"\n  «given» workspace "/srv"\n  file_read {} -> deny',
        before=r"(?P<at>given)\s+[\w.]+\s+",
        found=r"(?=[\"\[{0-9a-z:])",
        expected=one_of("_EQUALS"),
        message="`=` is missing between the fact and its value",
        help='write `given NAME = "…"`',
    ),
)  # fmt: skip

CALLS: tuple[Mistake, ...] = (
    Mistake(
        example='test "t"\n  file_read {} -> deny\n  «no-web»: deny web_fetch',
        before=r"\n[ \t]+(?P<at>[a-z][a-z0-9-]*)",
        found=r"(?=[ \t]*:[ \t]+(?:allow|ask|deny|shadow|rewrite)\b)",
        expected=one_of("OPEN_BRACE"),
        message="`{}:` begins a rule, so its line must not be indented",
        help="remove the space before it",
    ),
    Mistake(
        example='test "t"\n  file_read {} -> deny\n  «deny» web_fetch',
        before=r"\n[ \t]+(?P<at>allow|ask|deny|default|rewrite|paths|hosts|commands)[ \t]+",
        found=r"(?=[\w*])",
        expected=one_of("OPEN_BRACE"),
        message="`{}` begins a statement, so its line must not be indented",
        help="remove the space before it; a case is `TOOL {…} -> VERDICT`",
    ),
    Mistake(
        example='test "t"\n  «as» agent "coder"\n  file_read {} -> deny',
        before=r"\n[ \t]+(?P<at>as|for|with|if|by|where|let|set)[ \t]+",
        found=r"(?=[\w\"])",
        expected=one_of("OPEN_BRACE"),
        message="the facts of a test are set with `given`",
        help='write `given agent.name = "…"`',
    ),
    Mistake(
        example='test "t"\n  given «"coder"»\n  file_read {} -> deny',
        before=r"\bgiven\s+",
        found=r'"[^"\n]*"?',
        message="`given` names a fact before its value",
        help="write `given agent.name = {}`",
    ),
    Mistake(
        example='test "t"\n  «-» file_read {} -> deny',
        before=r"\n[ \t]+",
        found=r"[-*•](?=[ \t])",
        message="cases are not marked with `{}`",
        help="remove it",
    ),
    Mistake(
        example='test "t"\n  «assert» file_read {} -> deny',
        before=r"\n[ \t]+(?P<at>assert|expect|check|call|should|it|verify|when|case|tool)[ \t]+",
        found=r"(?=[\w\"])",
        message="a case begins with its tool",
        help="remove `{}`: `TOOL {…} -> VERDICT`",
    ),
    Mistake(
        example='test "t"\n  file_read «->» deny',
        found=r"->",
        before=_TOOL,
        expected=one_of("OPEN_BRACE"),
        message="the call has no input",
        help='write it in braces: `file_read {path: "/a"} -> deny`; without any, `{ }`',
    ),
    Mistake(
        example='test "t"\n  file_read«(»path: "a") -> deny',
        before=_TOOL,
        found=r"[(\[\"]|\w+",
        expected=one_of("OPEN_BRACE"),
        message="the input of a call is missing",
        help=_INPUT,
    ),
    Mistake(
        example='test "t"\n  file_read {path «=» "a"} -> deny',
        found=r"=>|==?",
        expected=one_of("COLON"),
        message="a field and its value are separated by `:`",
        help='write `{path: "a.txt"}`',
    ),
)  # fmt: skip

OUTCOMES: tuple[Mistake, ...] = (
    Mistake(
        example='test "t"\n  file_read {} «allow»',
        found=rf"(?:{_EFFECT})(?![A-Za-z0-9_-])",
        expected=one_of("_ARROW"),
        message="`->` is missing between the call and its verdict",
        help="write `-> {}`",
    ),
    Mistake(
        example='test "t"\n  file_read {} «=>» allow',
        found=r"=>|:|==?|~>|→|-+",
        expected=one_of("_ARROW"),
        message="a call and its verdict are separated by `->`",
        help="write `->`",
    ),
    Mistake(
        example='test "t"\n  file_read {} «is» allow',
        found=r"\S+",
        expected=one_of("_ARROW"),
        message="`->` is missing after the call",
        help="write `-> allow`, `-> ask` or `-> deny`",
    ),
    Mistake(
        example='test "t"\n  file_read {path: "/a"} -> «"deny"»',
        before=r"->\s*",
        found=rf'"(?:{_EFFECT})"',
        message="a verdict is written without quotes",
        help="write `allow`, `ask` or `deny` after `->`",
    ),
    Mistake(
        example='test "t"\n  file_read {path: "/a"} -> «whatever»',
        before=r"->\s*",
        found=r"[^\s]+",
        expected=one_of("VERDICT"),
        message="`{}` is not a verdict",
        help="write `allow`, `ask` or `deny` after `->`",
        near_to=("allow", "ask", "deny"),
    ),
    Mistake(
        example='test "t"\n  file_read {} -> deny «(no-keys)»',
        before=rf"->\s*(?:{_EFFECT})[ \t]+",
        found=r"\([^)\n]*\)?|\"[^\"\n]*\"?",
        message="the rule of a verdict is named after `by`",
        help="write `by {name}`",
    ),
    Mistake(
        example='test "t"\n  file_read {} -> deny «or» ask',
        before=rf"->\s*(?:{_EFFECT})[ \t]+(?P<at>or|and)[ \t]+",
        found=r"(?=\w)",
        message="a case has one verdict",
        help="keep one, or write two cases",
    ),
    Mistake(
        example='test "t"\n  file_read {} -> deny «no-keys»',
        before=rf"->\s*(?:{_EFFECT})[ \t]+(?P<at>(?!by\b)[\w.-]+)",
        found=r"\s*(?:\Z|(?=\n))",
        expected=one_of("OPEN_BRACE"),
        message="`by` is missing before the name of the rule",
        help="write `by {}`",
    ),
    Mistake(
        example='test "t"\n  file_read {} -> deny «no-keys»\n  file_list {} -> deny',
        before=rf"->\s*(?:{_EFFECT})[ \t]+(?P<at>(?!by\b)[\w.-]+)[ \t]*\n\s*",
        found=r"(?=\S)",
        expected=one_of("OPEN_BRACE"),
        message="`by` is missing before the name of the rule",
        help="write `by {}`",
    ),
)  # fmt: skip

OUTSIDE: tuple[Mistake, ...] = (
    Mistake(
        example="deny bash_exec «->» deny",
        found=r"->|=>",
        message="`{}` belongs in the cases of a `test`, between a call and its verdict",
        help='write `test "…"`, and the cases on indented lines below it',
    ),
)
