"""Mistakes that people make in a policy: `placet prove` or `placet diff` shows what each one does.

What is asserted are the lines that name the mistake: a call, its verdict, and the rule behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.cli.running import run

GLOBAL, RESEARCH, PAY = "global.policy", "agents/research.policy", "packs/pay.policy"
SETTINGS, TOOLS = "placet.toml", "data/tools.json"
POLICY = {
    GLOBAL: """\
policy for every agent

use "packs/pay.policy" with most = 100

default deny
delegate web_fetch to agents "research-*"

paths payroll = "/srv/payroll/**" except "/srv/payroll/public/**"

read: allow file_read when reads only "/srv/**"
write: allow file_write when writes only "/srv/code/**"
look: allow bash_exec when runs only "cat *" and reads only [workspace, "/srv/**"]
delete: allow file_delete when writes only "/srv/code/**" with approval
private: deny * when reads payroll
guests: deny bash_exec, file_write when session.role == "guest"
config: ask file_write when writes "/srv/code/config/**" two people
short: rewrite bash_exec set input.timeout = at most 60
""",
    PAY: """\
pack "pay"

param most: number
paths keys = "**/*.pem", "**/.env"
keys: deny * when reads keys
large: deny pay when input.amount > most
""",
    RESEARCH: """\
policy for agents "research-*"

fetch: allow web_fetch when connects only to "docs.example" and input.method is absent
no-writing: deny file_write, file_delete, bash_exec
""",
    SETTINGS: '[catalogue]\nfiles = ["data/tools.json"]\n',
    TOOLS: """\
[{"name": "pay", "inputSchema": {"type": "object", "properties": {
  "to": {"type": "string"}, "amount": {"type": "integer"}}, "required": ["to", "amount"]}}]
""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """An edit, what was thought, and the lines that show what it does.

    With a claim, the policy before the edit keeps it and that after the edit does not; without one,
    the two are compared.
    """

    thought: str
    edits: tuple[tuple[str, str, str], ...]
    lines: tuple[str, ...]
    claim: str = ""


GUEST = 'given session.role = "guest", session.scope = {"allowed_tools": ["*"]}'
MISTAKES = (
    Mistake(
        thought="the file of the agents that guests use is the place for a rule about guests",
        edits=(
            (GLOBAL, 'guests: deny bash_exec, file_write when session.role == "guest"\n', ""),
            (RESEARCH, "no-writing", 'guests: deny * when session.role == "guest"\nno-writing'),
        ),
        claim='never allow file_write when session.role == "guest"',
        lines=("a call gets `allow` by write (global.policy:11):", GUEST),
    ),
    Mistake(
        thought="`cat` only reads, and reading is harmless",
        edits=((GLOBAL, 'reads only [workspace, "/srv/**"]', "reads anything"),),
        lines=(
            "looser    bash_exec, every agent",
            'bash_exec {"command": "cat /"}',
            "was deny by default (global.policy:5)",
            "now allow by look (global.policy:12)",
        ),
    ),
    Mistake(
        thought="the researcher needs the other tools of the web, too",
        edits=(
            (GLOBAL, "delegate web_fetch to", "delegate web_fetch, file_* to"),
            (RESEARCH, "fetch:", "default allow for file_*\nfetch:"),
        ),
        lines=(
            'looser    file_chmod, agents "research-*"',
            'file_chmod {"path": "a", "mode": "000"}',
            'given agent.name = "research-"',
        ),
    ),
    Mistake(
        thought="asking a guest is as good as denying",
        edits=((GLOBAL, "guests: deny", "guests: ask"),),
        lines=(GUEST, "was deny by guests (global.policy:15)", "now ask by guests"),
    ),
    Mistake(
        thought="what lies in /srv is ours anyway",
        edits=((GLOBAL, "reads payroll\n", 'reads payroll unless reads only "/srv/**"\n'),),
        claim='always deny file_read when reads "/srv/payroll/2026.csv"',
        lines=(
            "a call gets `allow` by read (global.policy:10):",
            'file_read {"path": "/srv/payroll/2026.csv"} -> deny',
        ),
    ),
    Mistake(
        thought="a role is quickly written",
        edits=((GLOBAL, 'session.role == "guest"', 'session.role == "gest"'),),
        claim='never allow file_write when session.role == "guest"',
        lines=("a call gets `allow` by write (global.policy:11):", GUEST),
    ),
    Mistake(
        thought="the folder is called pay-roll in the wiki",
        edits=((GLOBAL, '"/srv/payroll/**" except', '"/srv/pay-roll/**" except'),),
        lines=(
            'file_read {"path": "/srv/payroll"}',
            "was deny by private (global.policy:14)",
            "now allow by read (global.policy:10)",
        ),
    ),
    Mistake(
        thought="sixty seconds are too short",
        edits=((GLOBAL, "at most 60", "at most 600"),),
        lines=(
            "looser    rewrite, every agent",
            "removed: rewrite bash_exec set input.timeout = at most 60",
            "added: rewrite bash_exec set input.timeout = at most 600",
        ),
    ),
    Mistake(
        thought="approving each deletion is tedious",
        edits=((GLOBAL, " with approval", ""),),
        lines=("was ask by delete (global.policy:13)", "now allow by delete (global.policy:13)"),
    ),
    Mistake(
        thought="one person at the weekend has to do",
        edits=((GLOBAL, " two people", ""),),
        lines=(
            "was ask by config (global.policy:16): an approval by two people",
            "now ask by config (global.policy:16)",
        ),
    ),
    Mistake(
        thought="folders of the payroll with a name of their own are public",
        edits=((GLOBAL, 'except "/srv/payroll/public/**"', 'except "/srv/payroll/*/**"'),),
        lines=(
            'file_read {"path": "/srv/payroll/a"}',
            "was deny by private (global.policy:14)",
            "now allow by read (global.policy:10)",
        ),
    ),
    Mistake(
        thought="certificates are public",
        edits=((PAY, '"**/*.pem", ', ""),),
        lines=(
            'file_read {"path": "/srv/.pem"}',
            "was deny by pay.keys (packs/pay.policy:5)",
            "now allow by read (global.policy:10)",
        ),
    ),
    Mistake(
        thought="people will see what is asked",
        edits=((GLOBAL, "default deny", "default ask"),),
        lines=(
            'pay {"to": "a", "amount": 1}',
            "was deny by default (global.policy:5)",
            "now ask by default (global.policy:5)",
        ),
    ),
    Mistake(
        thought="let us see first what it would deny",
        edits=((GLOBAL, "private: deny", "private: shadow deny"),),
        lines=("was deny by private (global.policy:14)", "now allow by read (global.policy:10)"),
    ),
    Mistake(
        thought="only for the tests on this machine",
        edits=((RESEARCH, '"docs.example"', '["localhost:8080", "docs.example"]'),),
        lines=(
            'web_fetch {"url": "https://localhost:8080/"}',
            'given agent.name = "research-"',
            "now allow by fetch (agents/research.policy:3)",
        ),
    ),
    Mistake(
        thought="an amount may be written with its currency",
        edits=(
            (TOOLS, '"amount": {"type": "integer"}', '"amount": {"type": ["integer", "string"]}'),
        ),
        lines=("schema", "changed: the fields of `pay`"),
    ),
)


def _write(folder: Path, edits: tuple[tuple[str, str, str], ...] = ()) -> Path:
    files = dict(POLICY)
    for name, old, new in edits:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.thought.replace(" ", "-"))
def test_a_mistake_is_shown_by_what_it_does(tmp_path: Path, mistake: Mistake) -> None:
    before = _write(tmp_path / "before")
    after = _write(tmp_path / "after", mistake.edits)
    if mistake.claim:
        assert run("prove", before, "--claim", mistake.claim).code == 0
        ran = run("prove", after, "--claim", mistake.claim)
    else:
        ran = run("diff", before, after)
    assert ran.code == 1
    for line in mistake.lines:
        assert line in ran.out
