"""The service lists the rules that apply to a caller, by the policy in force."""

from __future__ import annotations

from pathlib import Path

from policy import PolicyStore, build_tool_service
from policy.model import Caller, GuestScope

RULES = """\
policy for every agent

default deny
read: allow file_read, file_list when reads only workspace
delete: allow file_delete with approval by "finance" because "deleting cannot be undone"
web: allow web_fetch
out: deny web_fetch when connects outside ["example.com", "docs.example.com"]
try: shadow deny file_list
elsewhere: allow no_such_tool
"""
ANN = """\
policy for agent "ann"

no-web: deny web_fetch because "ann stays inside"
"""


def store(folder: Path, **files: str) -> PolicyStore:
    (folder / "global.policy").write_text(RULES, encoding="utf-8")
    for name, text in files.items():
        (folder / "agents").mkdir(exist_ok=True)
        (folder / "agents" / f"{name}.policy").write_text(text, encoding="utf-8")
    return PolicyStore(folder)


def test_a_caller_is_told_the_rules_that_bind_it(tmp_path: Path) -> None:
    service = build_tool_service(store(tmp_path, ann=ANN), workspace=tmp_path)
    expected = (
        "Each of `file_list` and `file_read` is allowed when it reads only files in the workspace.",
        "`file_delete` needs an approval by finance: deleting cannot be undone.",
        "`web_fetch` is allowed.",
        "`web_fetch` is denied when it connects to hosts outside `example.com` and "
        "`docs.example.com`.",
        "Every call that writes the policy's own files is denied.",
        "Everything else is denied.",
    )
    assert service.rule_lines() == expected
    told = service.bound_to(Caller(agent="ann")).rule_lines()
    assert [line for line in told if line not in expected] == [
        "`web_fetch` is denied: ann stays inside."
    ]


def test_a_sub_agent_is_told_what_binds_its_parent(tmp_path: Path) -> None:
    service = build_tool_service(store(tmp_path, ann=ANN), workspace=tmp_path)
    sub = Caller(agent="sub", parent=Caller(agent="ann"))
    assert "`web_fetch` is denied: ann stays inside." in service.bound_to(sub).rule_lines()


def test_a_guest_is_told_its_scope(tmp_path: Path) -> None:
    service = build_tool_service(store(tmp_path), workspace=tmp_path)
    guest = Caller(role="guest", scope=GuestScope(allowed_tools=("file_??*e",)))
    first, *_ = service.bound_to(guest).rule_lines()
    said, why = (
        "Every tool but `file_write` and `file_delete` is denied",
        "outside the guest's scope",
    )
    assert first == f"{said}: the tool is {why}."
    nobody = service.bound_to(Caller(role="anonymous")).rule_lines()
    assert nobody == ("Every call is denied: the caller is anonymous.",)


def test_a_reload_changes_the_lines(tmp_path: Path) -> None:
    kept = store(tmp_path)
    service = build_tool_service(kept, workspace=tmp_path)
    (tmp_path / "global.policy").write_text(
        "policy for every agent\n\ndefault ask\n", encoding="utf-8"
    )
    kept.reload()
    assert service.rule_lines()[-1] == "Everything else needs an approval."


def test_without_a_policy_nothing_is_told() -> None:
    assert build_tool_service().rule_lines() == ()
