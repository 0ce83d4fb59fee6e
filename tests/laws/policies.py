"""Whole policies drawn from one call, as text, so that they take the way through the checker.

What the checker may refuse (a rule that does nothing) is drawn all the same: the laws leave out
what it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.call import ToolCall
from tests.laws.calls import SPELLED
from tests.laws.conditions import conditions

_PREAMBLE = """\
strings letters = "p", "q"
numbers amounts = 1, 5
paths tree_p = "/srv/p/**"
hosts corp = "corp.example", "*.corp.example"
commands safe = "git status", "git diff *", "ls *"
let is_clerk = session.role == "clerk"
let has_box = input.box is present
"""


@st.composite
def patterns(draw: DrawFn, call: ToolCall) -> str:
    """Draw TOOLS that fit the call more often than not."""
    own = SPELLED.get(call.tool, call.tool)
    wide = ["*", "no*", "?o*", "bank__*", "mcp bank/*", "note, nota"]
    return draw(st.sampled_from([own, own, own, own, call.tool, "* except risky", *wide]))


@st.composite
def _clauses(draw: DrawFn, call: ToolCall, *, permits: bool) -> str:
    text = ""
    if draw(st.integers(0, 3)):
        text += " when " + draw(conditions(call, permits=permits))
    if draw(st.integers(0, 3)) == 0:
        text += " unless " + draw(conditions(call, permits=not permits))
    return text


@st.composite
def rules(draw: DrawFn, call: ToolCall, *, verdicts: tuple[str, ...]) -> str:
    """Draw one rule without its name."""
    verdict = draw(st.sampled_from(verdicts))
    tools = draw(patterns(call))
    clauses = draw(_clauses(call, permits=verdict == "allow"))
    if verdict == "allow" and draw(st.integers(0, 4)) == 0:
        clauses += " with approval"
    return f"{verdict} {tools}{clauses}"


@st.composite
def rewrites(draw: DrawFn, call: ToolCall) -> str:
    change = draw(
        st.sampled_from(
            [
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
                "redact input.a matching /q/",
            ]
        )
    )
    clauses = draw(_clauses(call, permits=False)) if draw(st.booleans()) else ""
    return f"rewrite {draw(patterns(call))}{clauses} {change}"


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
    default = draw(st.sampled_from(["allow", "allow", "ask", "deny", "deny", "deny"]))
    statements = [f"default {default}"]
    delegated = None
    others = draw(st.lists(st.sampled_from(sorted(_HEADERS)), unique=True, max_size=2))
    choice = draw(st.integers(0, 5))
    if choice == 0:
        statements.append(f"default {draw(st.sampled_from(['allow', 'ask', 'deny']))} for {own}")
    elif choice < 3 and others:
        delegated = draw(st.sampled_from(others))
        statements.append(f"delegate {own} to {_HEADERS[delegated].removeprefix('policy for ')}")
    verdicts = (
        ("allow", "allow", "allow", "ask", "deny")
        if default == "deny"
        else ("allow", "allow", "ask", "deny")
    )
    statements += draw(st.lists(rules(call, verdicts=verdicts), min_size=1, max_size=4))
    if rewriting:
        statements += draw(st.lists(rewrites(call), max_size=2))
    files = [(GLOBAL, "policy for every agent", statements)]
    for name in others:
        grants = ("allow", "allow", "ask", "deny") if name == delegated else ("ask", "deny")
        body = draw(st.lists(rules(call, verdicts=grants), min_size=1, max_size=3))
        body += draw(
            st.sampled_from([[], [], ["default ask"], ["default deny"], [f"default ask for {own}"]])
        )
        if rewriting:
            body += draw(st.lists(rewrites(call), max_size=1))
        files.append((name, _HEADERS[name], body))
    return PolicyText(
        files=tuple(
            (
                name,
                (
                    header,
                    *_declarations(body),
                    *(_named(text, f"r{place}-{number}") for number, text in enumerate(body)),
                ),
            )
            for place, (name, header, body) in enumerate(files)
        )
    )


def _declarations(body: list[str]) -> list[str]:
    """Return the declarations of the names that some statement uses."""
    used = set(re.findall(r"[a-z_]+", "\n".join(body)))
    return [line for line in _PREAMBLE.splitlines() if line.split()[1] in used]


def _named(statement: str, name: str) -> str:
    if statement.startswith(("default", "delegate")):
        return statement
    return f"{name}: {statement}"
