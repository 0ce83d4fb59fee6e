"""Mistakes at the start of a statement."""

from __future__ import annotations

from policy.syntax.broken_statements import STATEMENT_WORDS
from policy.syntax.mistakes.mistake import Mistake, one_of

_START = r"\A"
_CLAUSE = "when|unless|because|audit|after|by|two|with|remember|remove|except|and|or|matching|given"
_EFFECT = "allow|ask|deny"
_EFFECTS = ("allow", "ask", "deny", "rewrite", "redact", "limit", "prove", "assume", "shadow")
_TYPES = "types are `paths`, `hosts`, `commands`, `strings`, `numbers`, `addresses` and `tools`"

AT_START: tuple[Mistake, ...] = (
    Mistake(
        example="deny «/etc/shadow» r",
        before=r"\A(?:[\w-]+:\s*)?(?:allow|ask|deny)\s+",
        found=r"(?:/(?![/*])|~)\S*",
        message="a rule names tools, and its condition the files",
        help='write `deny * when reads "{}"`',
    ),
    Mistake(
        example="«%admin ALL=(ALL)» ALL",
        before=_START,
        found=r"[%+]?[\w.-]+\s+\w+\s*=\s*\([^)\n]*\)",
        message="this is a line of sudoers",
        help='a rule says what a tool may do: `allow bash_exec when runs only "apt *"`',
    ),
    Mistake(
        example="«/srv/project/** rw,»",
        before=_START,
        found=r"[/@~]\S+[ \t]+[rwaxlkmipuPUC]+,?(?=\s*(?:\n|\Z))",
        message="this is a line of an AppArmor profile",
        help='a rule names tools, and its condition the files: `allow file_read when reads only …`',
    ),
    Mistake(
        example="«[permissions.tools]»",
        before=_START,
        found=r"\[[^\]\n]*\]?",
        message="a policy file has no sections",
        help="tables such as this one belong in `placet.toml`",
    ),
    Mistake(
        example="«<<<<<<<» HEAD",
        before=_START,
        found=r"<{7}|={7}|>{7}",
        message="a merge conflict is not resolved",
        help="keep one of the two sides, and remove the lines of `<`, `=` and `>`",
    ),
    Mistake(
        example="«--» what agents may read",
        before=_START,
        found=r"--+|<!--|\"\"\"|'''|REM\b",
        message="a comment begins with `#`",
        help="write `# …`",
    ),
    Mistake(
        example="«-» allow file_read",
        before=_START,
        found=r"[-*•](?=[ \t]+\S)",
        message="statements are not marked with `{}`",
        help="remove it",
    ),
    Mistake(
        example='«set project» = "/srv/**"',
        before=_START,
        found=r"(?:set|list|array|group|collection)[ \t]+(?!input\b)[A-Za-z_]\w*(?=[ \t]*[=:])",
        message="a set begins with its type",
        help=f'write `paths NAME = "…"`; {_TYPES}',
    ),
    Mistake(
        example="«when» input.a == 1",
        before=_START,
        found=rf"(?:set|{_CLAUSE})(?![A-Za-z0-9_-])",
        message="`{}` continues a rule, so its line must be indented",
        help="put two spaces before it",
    ),
    Mistake(
        example='«"/srv/a/**",»',
        before=_START,
        found=r'"[^"\n]*"[ \t]*,?(?=[ \t]*(?:\Z|\n))',
        message="an item of a list is at the margin, where a statement begins",
        help="put two spaces before it",
    ),
    Mistake(
        example="allow«:» file_read",
        before=rf"\A(?:shadow[ \t]+)?(?:{_EFFECT}|rewrite|limit)[ \t]*(?P<at>:)\s*",
        found=r"(?!(?:allow|ask|deny|rewrite|limit|redact)\b)",
        message="an effect is not followed by a colon",
        help="remove the colon; the name of a rule comes first: `read: allow file_read`",
    ),
    Mistake(
        example="«bash_exec»: deny",
        before=_START,
        found=rf"[A-Za-z0-9_*.-]+(?=[ \t]*:[ \t]*(?:{_EFFECT})\s*\Z)",
        message="a rule begins with its effect, then it names the tools",
        help="write `allow {}`, `ask {}` or `deny {}`",
    ),
    Mistake(
        example="«bash»: deny",
        before=rf"\A(?P<at>[a-z0-9-]+)[ \t]*:[ \t]*(?:{_EFFECT})",
        found=r"\s*\Z",
        expected=one_of("TOOL_PATTERN"),
        message="a rule begins with its effect, then it names the tools",
        help="write `allow {}`, `ask {}` or `deny {}`",
    ),
    Mistake(
        example="«rule» read: allow file_read",
        before=_START,
        found=r"rule\b(?=[ \t]+[\"\w])",
        message="a rule begins with its name and a colon, or with its effect",
        help="remove `{}`: `read: allow file_read`",
    ),
    Mistake(
        example='«"read"»: allow file_read',
        before=_START,
        found=r'"[^"\n]*"(?=[ \t]*:)',
        message="the name of a rule is written without quotes",
        help="write `{name}:`",
    ),
    Mistake(
        example="«My_Rule»: allow file_read",
        before=_START,
        found=r"[A-Za-z0-9_.-]+(?:[ \t]+[A-Za-z0-9_.-]+)*(?=[ \t]*:(?![:=]))",
        message="`{}` is not a valid rule name",
        help="a rule name consists of lower-case letters, digits and single hyphens: `{name}`",
    ),
    Mistake(
        example="«read» allow file_read",
        before=_START,
        found=r"[a-z][a-z0-9-]*(?=[ \t]+(?:allow|ask|deny|rewrite|shadow)[ \t]+[\w*\"])",
        message="the name of a rule is followed by a colon",
        help="write `{}: …`",
    ),
    Mistake(
        example="delete: «require» approval file_delete",
        before=r"\A[^:\n]*:\s*",
        found=r"(?:requires?|needs?|confirm|approve|prompt)\b(?=[ \t]+\w)",
        expected=one_of("VERDICT"),
        message="`{}` is not an effect of a rule",
        help="write `allow … with approval` for calls that a person must approve",
    ),
    Mistake(
        example="no-name: «bash_exec» when input.a == 1",
        before=r"\A[^:\n]*:\s*(?:shadow\s+)?",
        found=r"[A-Za-z_*?\"][^\s]*",
        expected=one_of("VERDICT"),
        message="`{}` is not an effect of a rule",
        help="after its name a rule has `allow`, `ask`, `deny`, `rewrite`, `redact` or `limit`",
        near_to=_EFFECTS,
    ),
    Mistake(
        example='«project» = "/srv/**"',
        before=_START,
        found=r"[A-Za-z_]\w*(?=[ \t]*=[ \t]*(?!\"(?:allow|ask|deny)\")[\"\[/~*])",
        message="a definition begins with its type",
        help=f'write `paths {{}} = "…"` for a set of paths; {_TYPES}',
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
        found=r"(?:if|else|elif|elsif|for|while|switch|case)(?![A-Za-z0-9_-])",
        message="the language has no `{}`",
        help="the effect comes first: `deny bash_exec when …`; an exception is `unless …`",
    ),
    Mistake(
        example="«permit» file_read",
        before=_START,
        found=r"[A-Za-z_]+",
        message="`{}` does not begin a statement",
        help="rules begin with `allow`, `ask` or `deny`, perhaps after a name and a colon; sets "
        "with `paths`, `hosts`, `commands`, `tools` or `strings`; others with `default`, `use`, "
        "`let` or `test`",
        near_to=STATEMENT_WORDS,
    ),
)  # fmt: skip
