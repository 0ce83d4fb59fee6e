"""Whole policies drawn for one call, as text, so that they go through the checker.

Rules that the checker may refuse, such as one without effect, are drawn all the same; the laws
leave out the rules that it reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.model import ToolCall
from tests.laws.calls import SPELLED, once_in, pick
from tests.laws.conditions import draw_condition

PREAMBLE = """\
strings letters = "p", "q"
numbers amounts = 1, 5
paths tree_p = "/srv/p/**"
hosts corp = "corp.example", "*.corp.example"
hosts most_corp = corp, private except "a.corp.example", "10.0.0.0/16"
commands safe = "git status", "git diff *", "ls *"
commands most_git = "git *", safe except "git push *", "ls -a *"
label outside on results of mcp lab/*, f*, shell
label partly on results of note at a, box.c
label some on results of note, bank__pay when input.a == "p" unless result.n == 5
let is_clerk = session.role == "clerk"
let has_box = input.box is present
"""


_WIDE = ("* except risky", "*", "no*", "?o*", "bank__*", "mcp bank/*", "note, nota")


def _pattern(draw: DrawFn, call: ToolCall) -> str:
    """Draw TOOLS that fit the call more often than not."""
    own = SPELLED.get(call.tool, call.tool)
    return pick(draw, (own, own, own, own, call.tool, *_WIDE))


def _clauses(draw: DrawFn, call: ToolCall, *, permits: bool) -> str:
    text = ""
    if once_in(draw, 8):
        text += pick(draw, (" after note", " after look, outside within 9m", " after * except n*"))
    if not once_in(draw, 4):
        text += " when " + draw_condition(draw, call, permits=permits)
    if once_in(draw, 4):
        text += " unless " + draw_condition(draw, call, permits=not permits)
    return text


def _rule(draw: DrawFn, call: ToolCall, *, verdicts: tuple[str, ...]) -> str:
    verdict = pick(draw, verdicts)
    tools = _pattern(draw, call)
    clauses = _clauses(draw, call, permits=verdict == "allow")
    if verdict == "allow" and once_in(draw, 5):
        clauses += " with approval"
    if verdict == "ask" or clauses.endswith(" with approval"):
        clauses += pick(draw, _TERMS)
    return f"{verdict} {tools}{clauses}"


# What a rule wants of an approval, in any order.
_TERMS = (
    "",
    ' by "ops"',
    " two people",
    " remember 1h up to 2 times",
    ' remember session for input.a up to 1_000 times by "ops", "secops"',
    ' two people by "ops", "secops", "legal"',
    ' by "ops" remember 90s for input.box.c, input.tags[0], input.n up to 1 times two people',
)


@st.composite
def rules(draw: DrawFn, call: ToolCall, *, verdicts: tuple[str, ...]) -> str:
    """Draw one rule without its name."""
    return _rule(draw, call, verdicts=verdicts)


_CHANGES = (
    "set input.n = at most 3",
    "set input.n = at least 2",
    "set input.n = at most 4",
    "set input.n = 4",
    'set input.b = "p"',
    'set input.b = "q" if absent',
    'set input.box.c = "p"',
    "set input.b = input.a",
    "remove input.tags",
    "remove input.box",
    'redact input.b matching /p/ with "r"',
    'redact input.a matching /q/ with "r"',
)


def _rewrite(draw: DrawFn, call: ToolCall) -> str:
    change = pick(draw, _CHANGES)
    clauses = _clauses(draw, call, permits=False) if once_in(draw, 2) else ""
    return f"rewrite {_pattern(draw, call)}{clauses} {change}"


_REDACTIONS = ("matching /p/", 'matching /q/ with "r"', 'matching /pq/ with ""')


def _redaction(draw: DrawFn, call: ToolCall) -> str:
    clauses = _clauses(draw, call, permits=False) if once_in(draw, 2) else ""
    shadow = "shadow " if once_in(draw, 6) else ""
    matching = pick(draw, _REDACTIONS)
    return f"{shadow}redact results of {_pattern(draw, call)} {matching}{clauses}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyText:
    """One generated policy: the statements of each file, the first of them its header."""

    files: tuple[tuple[str, tuple[str, ...]], ...]

    def texts(self) -> dict[str, str]:
        """Return each file's text."""
        return {name: "\n".join(statements) + "\n" for name, statements in self.files}

    def adding(self, file: str, statement: str) -> PolicyText:
        """Return the policy with one more statement at the end of a file."""
        return PolicyText(
            files=tuple(
                (name, (*statements, statement) if name == file else statements)
                for name, statements in self.files
            )
        )

    def without(self, file: str) -> PolicyText:
        """Return the policy without one of its files."""
        return PolicyText(files=tuple(one for one in self.files if one[0] != file))

    def only(self, keep: Callable[[str, str], bool]) -> PolicyText:
        """Return the policy with the statements that `keep` wants, headers always."""
        return PolicyText(
            files=tuple(
                (name, (statements[0], *(s for s in statements[1:] if keep(name, s))))
                for name, statements in self.files
            )
        )


GLOBAL = "global.policy"
_HEADERS = {
    "agents/ann.policy": 'policy for agent "ann"',
    "agents/bob.policy": 'policy for agent "bob"',
    "agents/all.policy": 'policy for agents "a*", "c*"',
    "roles/clerk.policy": 'policy for role "clerk"',
    "roles/guest.policy": 'policy for role "guest"',
}


@st.composite
def policies(draw: DrawFn, call: ToolCall, *, rewriting: bool = True) -> PolicyText:
    """Draw a policy about this call: a global layer and up to two others."""
    own = SPELLED.get(call.tool, call.tool)
    default = pick(draw, ("allow", "allow", "ask", "deny", "deny", "deny"))
    statements = [f"default {default}"]
    delegated = None
    others = sorted({pick(draw, sorted(_HEADERS)) for _ in range(pick(draw, range(3)))})
    choice = pick(draw, range(6))
    if choice == 5:
        statements.append(f"default {pick(draw, ('allow', 'ask', 'deny'))} for {own}")
    elif choice > 2 and others:
        delegated = pick(draw, others)
        statements.append(f"delegate {own} to {_HEADERS[delegated].removeprefix('policy for ')}")
    verdicts = ("allow", "allow", "allow", "ask", "deny")[default != "deny" :]
    statements += [_rule(draw, call, verdicts=verdicts) for _ in range(pick(draw, range(1, 5)))]
    if rewriting:
        statements += [_rewrite(draw, call) for _ in range(pick(draw, range(3)))]
        statements += [_redaction(draw, call)] * once_in(draw, 3)
    files = [(GLOBAL, "policy for every agent", statements)]
    for name in others:
        grants = ("allow", "allow", "ask", "deny") if name == delegated else ("ask", "deny")
        body = [_rule(draw, call, verdicts=grants) for _ in range(pick(draw, range(1, 4)))]
        body += pick(draw, ([], [], ["default ask"], ["default deny"], [f"default ask for {own}"]))
        if rewriting:
            body += [_rewrite(draw, call) for _ in range(pick(draw, range(2)))]
            body += [_redaction(draw, call)] * once_in(draw, 3)
        files.append((name, _HEADERS[name], body))
    shared = _declarations(statements, known=[])
    return PolicyText(
        files=tuple(
            (
                name,
                (
                    header,
                    *(shared if place == 0 else _declarations(body, known=shared)),
                    *(_named(text, f"r{place}-{number}") for number, text in enumerate(body)),
                ),
            )
            for place, (name, header, body) in enumerate(files)
        )
    )


def _declarations(body: list[str], *, known: list[str]) -> list[str]:
    """Return the declarations of the names that some statement uses and nobody made `known`."""
    used = set(re.findall(r"[a-z_]+", "\n".join(body)))
    lines = [line for line in PREAMBLE.splitlines() if line.split()[1] in used]
    return [line for line in lines if line not in known]


def _named(statement: str, name: str) -> str:
    if statement.startswith(("default", "delegate")):
        return statement
    return f"{name}: {statement}"
