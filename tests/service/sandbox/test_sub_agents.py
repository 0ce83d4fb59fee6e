"""The sandbox of a sub-agent's command: what its rules and those of all above it share."""

from __future__ import annotations

from pathlib import Path

from policy import PolicyStore
from policy.model import Caller
from policy.service import build_tool_service
from tests.unit.sandbox.confining import needs_bubblewrap

LEAD = """\
policy for agent "lead"

default deny

lead: allow code_exec when reads only ["b/**", "c/**"] and writes only "b/**"
no-keys: deny * when reads "**/*.key"
"""
CHILD = """\
policy for agent "child"

default deny

child: allow code_exec when reads only ["a/**", "b/**"] and writes only ["a/**", "b/**"]
"""
CODE = """
def tried(path, mode):
    try:
        return bool(open(path, mode))
    except OSError:
        return False
print(*(path for path in ("a/f", "b/f", "c/f", "b/x.key") if tried(path, "r")), "|")
print(*(each for each in "abc" if tried(each + "/new", "w")))
"""


@needs_bubblewrap
async def test_a_sub_agent_reaches_what_all_callers_of_its_chain_may(tmp_path: Path) -> None:
    for name in ("a/f", "b/f", "c/f", "b/x.key"):
        (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / name).write_text(f"{name} ")
    rules = tmp_path / "rules"
    (rules / "agents").mkdir(parents=True)
    (rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    (rules / "agents" / "lead.policy").write_text(LEAD)
    (rules / "agents" / "child.policy").write_text(CHILD)
    (rules / "placet.toml").write_text(
        '[sandbox]\ndriver = "bubblewrap"\n[service.code]\nlanguages = ["python"]\n'
    )
    service = build_tool_service(PolicyStore(rules), workspace=tmp_path / "work")
    lead = Caller(agent="lead", session="s")
    reached = {}
    for caller in (lead, Caller(agent="child", session="s", parent=lead), Caller(agent="child")):
        call = {"language": "python", "code": CODE}
        found = (await service.bound_to(caller).execute("code_exec", call)).value
        read, _, written = found["stdout"].partition("|")
        reached[caller.agent, caller.parent is not None] = (read.split(), written.split())
    assert reached == {
        ("lead", False): (["b/f", "c/f"], ["b"]),
        ("child", True): (["b/f"], ["b"]),
        ("child", False): (["a/f", "b/f", "b/x.key"], ["a", "b"]),
    }
