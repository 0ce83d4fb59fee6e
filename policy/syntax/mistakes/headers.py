"""Mistakes in headers, defaults, delegations and `use`."""

from __future__ import annotations

from policy.syntax.mistakes.mistake import Mistake, one_of

_EFFECT = "allow|ask|deny"

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
        example="«default-deny»",
        before=r"\A",
        found=r"default[-_](?:allow|ask|deny)\b",
        message="`default` and its verdict are two words",
        help="write `default deny`",
    ),
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
