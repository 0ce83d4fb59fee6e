"""Mistakes at the start of a statement, in headers, defaults and definitions."""

from __future__ import annotations

from policy.syntax.broken_statements import STATEMENT_WORDS
from policy.syntax.mistakes.mistake import Mistake, one_of

_START = r"\A"
_CLAUSE = "when|unless|because|audit|after|by|two|with|remember|remove|except|and|or|matching|given"
_EFFECT = "allow|ask|deny"
_EFFECTS = ("allow", "ask", "deny", "rewrite", "redact", "limit", "prove", "assume", "shadow")
_SETS = "paths|hosts|commands|strings|numbers|addresses|tools"
_TYPES = "types are `paths`, `hosts`, `commands`, `strings`, `numbers`, `addresses` and `tools`"

AT_START: tuple[Mistake, ...] = (
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

HEADERS: tuple[Mistake, ...] = (
    Mistake(
        example="policy for «all» agents",
        before=r"\Apolicy\s+for\s+",
        found=r"(?:all|any|each|everyone|everybody|everything|\*|the)(?!\w)",
        message="the header for all agents is `policy for every agent`",
        help="write `every agent`",
    ),
    Mistake(
        example="policy for every «agents»",
        before=r"\Apolicy\s+for\s+every\s+",
        found=r"\S+",
        message="the header for all agents is `policy for every agent`",
        help="write `every agent`",
    ),
    Mistake(
        example='policy «"main"» for every agent',
        before=r"\Apolicy\s+",
        found=r'"[^"\n]*"?',
        message="a policy has no name",
        help='write `policy for every agent`; only a pack has a name: `pack "…"`',
    ),
    Mistake(
        example="policy «every» agent",
        before=r"\Apolicy\s+",
        found=r"\S+",
        message="`policy` is followed by `for`",
        help='write `policy for every agent`, `policy for agent "…"` or `policy for role "…"`',
    ),
)  # fmt: skip

DEFAULTS: tuple[Mistake, ...] = (
    Mistake(
        example="default «=» deny",
        before=r"\Adefault\s+",
        found=r":?=|:",
        message="`default` is followed by a verdict",
        help="write `default deny`",
    ),
    Mistake(
        example="default«:» deny",
        before=rf"\Adefault[ \t]*(?P<at>:)[ \t]*(?:{_EFFECT})",
        found=r"\s*\Z",
        message="`default` is followed by a verdict, without a colon",
        help="write `default deny`",
    ),
    Mistake(
        example="default allow «:=» false",
        before=rf"\Adefault\s+(?:{_EFFECT})\s+",
        found=r":?=",
        message="`default` is followed by one verdict",
        help="write `default allow` or `default deny`",
    ),
    Mistake(
        example='default «"deny"»',
        before=r"\Adefault\s+",
        found=rf'"(?:{_EFFECT})"',
        message="a verdict is written without quotes",
        help="write `default deny`",
    ),
    Mistake(
        example="default «whatever»",
        before=r"\Adefault\s+",
        found=r"[A-Za-z_]\w*",
        message="`{}` is not a verdict",
        help="write `default deny`, `default ask` or `default allow`",
        near_to=("allow", "ask", "deny"),
    ),
    Mistake(
        example="default deny «bash_exec»",
        before=rf"\Adefault\s+(?:{_EFFECT})\s+",
        found=r"[A-Za-z_*?][^\s]*",
        expected=one_of("_FOR"),
        message="`for` is missing before the tools",
        help="write `default … for {}`",
    ),
)  # fmt: skip

DELEGATIONS: tuple[Mistake, ...] = (
    Mistake(
        example='delegate web_fetch «agent» "researcher"',
        before=r"\Adelegate\s[^\n]*\s",
        found=r"agents?\b|role\b|\"",
        expected=one_of("_TO"),
        message="`to` is missing after the tools",
        help='write `delegate TOOLS to agent "…"`',
    ),
    Mistake(
        example='delegate web_fetch to «"researcher"»',
        before=r"\Adelegate\s[^\n]*\bto\s+",
        found=r"\"[^\"\n]*\"?|\w+",
        expected=one_of("AGENT"),
        message="a delegation names a header: `agent`, `agents` or `role`",
        help='write `to agent "…"`, `to agents "…"` or `to role "…"`',
    ),
    Mistake(
        example='use "placet:secrets" as «"s"»',
        before=r"\Ause\s[^\n]*\bas\s+",
        found=r"\"[^\"\n]*\"?",
        message="the name of a pack is written without quotes here",
        help="remove the quotes",
    ),
    Mistake(
        example='use«(»"placet:secrets")',
        before=r"\A(?:use|test|pack)\s*",
        found=r"\(",
        message="a keyword is not followed by a parenthesis",
        help='write `use "…"`',
    ),
)  # fmt: skip

DEFINITIONS: tuple[Mistake, ...] = (
    Mistake(
        example='«let» paths work = "/srv/**"',
        before=rf"\A(?P<at>let)[ \t]+(?:{_SETS})[ \t]+",
        found=r"(?=\w)",
        message="a set is defined without `let`",
        help="remove it",
    ),
    Mistake(
        example="let «=» now within 08:00..18:00",
        before=r"\Alet[ \t]+",
        found=r"[=:]",
        message="the name is missing",
        help="write `let NAME = …`",
    ),
    Mistake(
        example="let office«:» now within 08:00..18:00",
        before=r"\Alet[ \t]+\w+[ \t]*",
        found=r":=|:|==",
        expected=one_of("_EQUALS"),
        message="the name and what it stands for are separated by `=`",
        help="write `let NAME = …`",
    ),
    Mistake(
        example="let office «now» within 08:00..18:00",
        before=r"\Alet[ \t]+\w+[ \t]*",
        found=r'"[^"\n]*"?|[^\s]+',
        expected=one_of("_EQUALS"),
        message="`=` is missing before `{}`",
        help="write `let NAME = …`",
    ),
    Mistake(
        example="param home: «str»",
        before=r"\Aparam[ \t]+\w+[ \t]*:[ \t]*",
        found=r"\w+",
        expected=one_of("KIND"),
        message="`{}` is not a type of parameters",
        help="types are `string`, `number`, `duration`, `path`, `host`, and those of sets: "
        "`paths`, `hosts`, `commands`, `strings`, `numbers`, `addresses`, `tools`",
        near_to=("string", "number", "duration", "path", "host", "paths", "hosts", "commands"),
    ),
    Mistake(
        example='paths «my-project» = "/srv/**"',
        before=rf"\A(?:{_SETS}|let|data|param)[ \t]+(?P<at>[A-Za-z_]\w*)",
        found=r"(?:-\w+)+",
        message="`{}` is not a valid name",
        help="a name consists of letters, digits and `_`",
    ),
    Mistake(
        example='paths «=» "/srv/**"',
        before=rf"\A(?:{_SETS})[ \t]+",
        found=r"[=:]",
        message="the name is missing",
        help='write `paths NAME = "…"`',
    ),
    Mistake(
        example='paths project«:» "/srv/**"',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*",
        found=r":=|:|==",
        expected=one_of("_EQUALS"),
        message="the name and what it stands for are separated by `=`",
        help='write `paths NAME = "…"`',
    ),
    Mistake(
        example='paths project «"/srv/**"»',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*",
        found=r'"[^"\n]*"?|[^\s]+',
        expected=one_of("_EQUALS"),
        message="`=` is missing before `{}`",
        help='write `paths NAME = "…"`',
    ),
    Mistake(
        example='paths project = «[»"/a", "/b"]',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*=[^\n]*",
        found=r"\[",
        message="the items of a set are listed without brackets",
        help='write `= "a", "b"`',
    ),
    Mistake(
        example="hosts corp = «corp.example»",
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*=(?:[^\n]*[,\s])?(?P<at>[\w*-]+)",
        found=r"[.*/@:-][^\s,\"]*",
        message="`{}` needs double quotes here",
        help='write `"{}"`',
    ),
    Mistake(
        example="commands look = «git» status",
        before=r"\Acommands[ \t]+\w+[ \t]*=\s*(?:[^\n]*,\s*)?(?P<at>\w+)[ \t]+",
        found=r"(?=[^\s,])",
        message="a command is written in double quotes",
        help='write `"git status"`',
    ),
    Mistake(
        example='paths project = "/a" «"/b"»',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*=[^\n]*[\w\"]\s+",
        found=r'"[^"\n]*"?|[\w*?]+',
        expected=one_of("COMMA"),
        message="a comma is missing before `{}`",
        help="put commas between the items",
    ),
    Mistake(
        example='paths project = "/a"«,»',
        before=r"(?P<at>,)",
        found=r"\s*\Z",
        message="the list ends with a comma",
        help="remove it, or continue the list on an indented line",
    ),
    Mistake(
        example="paths project «=»",
        before=rf"\A(?:{_SETS}|let)[ \t]+\w+[ \t]*(?P<at>=)",
        found=r"\s*\Z",
        message="nothing follows the `=`",
        help="write what the name stands for behind the `=`, or on indented lines below it",
    ),
    Mistake(
        example="param home «string»",
        before=r"\Aparam[ \t]+\w+[ \t]+",
        found=r"\w+",
        expected=one_of("COLON"),
        message="a colon is missing before the type",
        help="write `param NAME: {}`",
    ),
)  # fmt: skip
