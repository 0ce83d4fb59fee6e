"""The permission tables of `placet.toml`, as the service applies them."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path

import pytest

from policy import (
    Caller,
    Catalog,
    PermissionDenied,
    PolicyInvalid,
    PolicyStore,
    ToolCall,
    build_tool_service,
    load,
)
from policy.approvals import Approved, ScriptedApprover
from policy.catalog import Origin
from tests.service.configuration.office import SILENT, Office, tool

RANK = {"allow": 0, "ask": 1, "deny": 2}


async def test_each_word_of_a_table_means_what_it_says(tmp_path: Path) -> None:
    tools = [tool("read"), tool("code_exec"), tool("wipe")]
    office = Office(
        tmp_path,
        '[permissions.tools]\ndefault = "deny"\nread = "allow"\ncode_exec = "ask"\nwipe = "deny"\n',
        *tools,
    )
    assert [await office.outcome(t.spec.name) for t in tools] == ["allow", "ask", "deny"]
    assert [t.calls for t in tools] == [1, 1, 0]
    assert [request.tool for request in office.approver.requests] == ["code_exec"]


async def test_an_agent_has_a_table_of_its_own_and_the_stricter_one_wins(tmp_path: Path) -> None:
    for number, (everyone, own) in enumerate(product(RANK, RANK)):
        folder = tmp_path / str(number)
        folder.mkdir()
        office = Office(
            folder,
            f'[permissions.tools]\ndefault = "deny"\nt = "{everyone}"\n'
            f'[permissions.agents.coder.tools]\ndefault = "allow"\nt = "{own}"\n',
            tool("t"),
        )
        stricter = max(everyone, own, key=RANK.__getitem__)
        assert await office.outcome("t", agent="coder") == stricter
        assert await office.outcome("t", agent="other") == everyone


async def test_layers_are_joined_by_call_and_never_merged_by_key(tmp_path: Path) -> None:
    office = Office(
        tmp_path,
        '[permissions.tools]\ndefault = "deny"\n"a?" = "allow"\n'
        '[permissions.agents.x.tools]\ndefault = "allow"\n"a*" = "allow"\n',
        tool("abcdef"),
        tool("ab"),
    )
    assert await office.outcome("abcdef", agent="x") == "deny"
    assert await office.outcome("ab", agent="x") == "allow"


async def test_the_older_table_says_the_same(tmp_path: Path) -> None:
    office = Office(
        tmp_path,
        '[policies.tool_permissions]\ndefault = "ask"\n'
        '[policies.tool_permissions.overrides]\n"file_*" = "deny"\nlook = "allow"\n',
        tool("look"),
        tool("file_x"),
        tool("other"),
    )
    assert [await office.outcome(n) for n in ("look", "file_x", "other")] == [
        "allow",
        "deny",
        "ask",
    ]


async def test_three_lines_of_a_table_are_a_policy(tmp_path: Path) -> None:
    """The form that the documents have, with no rule file and no default beside it."""
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "placet.toml").write_text(
        '[permissions.tools]\ncode_exec = "ask"\nbash = "deny"\nfile_ops = "allow"\n'
    )
    approver = ScriptedApprover(otherwise=Approved(by="ann"))
    names = ("code_exec", "bash_exec", "save", "other")
    service = build_tool_service(
        store := PolicyStore(folder),
        tools=[tool(name, category="file" if name == "save" else None) for name in names],
        approver=approver,
        workspace=tmp_path,
    )
    assert store.current is not None and store.status.diagnostics == ()
    outcomes = []
    for name in names:
        try:
            await service.execute(name, {})
            outcomes.append("ran")
        except PermissionDenied as refused:
            outcomes.append(refused.code)
    assert outcomes == ["ran", "denied-by-policy", "ran", "not-allowed"]
    assert [request.tool for request in approver.requests] == ["code_exec"]
    assert [definition.name for definition in service.list()] == ["code_exec", "save"]


@pytest.mark.parametrize(
    ("files", "loads"),
    [
        ({"placet.toml": '[permissions.filter]\nallowed = ["t"]\n'}, True),
        ({"placet.toml": '[policies.tool_permissions.overrides]\nt = "allow"\n'}, True),
        ({"placet.toml": '[permissions.tools]\nt = "allow"\n', "a.policy": 'pack "a"\n'}, True),
        ({"placet.toml": '[permissions.tools]\nt = "allow"\n', "a.policy": SILENT}, False),
        ({"placet.toml": '[permissions.agents.x.tools]\nt = "allow"\n'}, False),
        ({"placet.toml": "[permissions.tools]\n"}, False),
        ({"placet.toml": "[service]\n"}, False),
    ],
)
def test_only_tables_alone_may_leave_the_default_out(
    files: dict[str, str], loads: bool, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    catalog = Catalog(specs=(tool("t").spec,))
    if loads:
        generation = load(tmp_path, catalog=catalog)
        for name, verdict in (("t", "allow"), ("u", "deny")):
            assert generation.decide(ToolCall(tool=name), Caller()).verdict.value == verdict
    else:
        with pytest.raises(PolicyInvalid):
            load(tmp_path, catalog=catalog)


async def test_a_category_and_an_alias_stand_for_their_tools(tmp_path: Path) -> None:
    office = Office(
        tmp_path,
        '[permissions.tools]\ndefault = "deny"\nfile_ops = "allow"\nweb = "ask"\nbash = "deny"\n',
        tool("save", category="file"),
        tool("load", category="file"),
        tool("fetch", category="web"),
        tool("bash_exec", exec_class=True),
    )
    assert [await office.outcome(n) for n in ("save", "load", "fetch", "bash_exec", "bash")] == [
        "allow",
        "allow",
        "ask",
        "deny",
        "deny",
    ]
    assert office.rules == ["default", "table:bash"]


async def test_a_tool_of_the_name_goes_before_a_category(tmp_path: Path) -> None:
    office = Office(
        tmp_path,
        '[permissions.tools]\ndefault = "deny"\nfile = "allow"\n',
        tool("file"),
        tool("save", category="file"),
    )
    assert await office.outcome("file") == "allow"
    assert await office.outcome("save") == "deny"


async def test_a_denial_anywhere_in_the_table_goes_before_every_question(tmp_path: Path) -> None:
    lines = ['"send_*" = "ask"', '"*_mail" = "deny"', 'send_mail = "allow"']
    for number, order in enumerate(permutations(lines)):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = "\n".join(['[permissions.tools]\ndefault = "deny"', *order, ""])
        office = Office(folder, text, mail := tool("send_mail"))
        assert await office.outcome("send_mail") == "deny"
        assert not office.approver.requests and not mail.calls
        # Whatever the order of the lines: by key.
        assert [reason.rule for reason in office.last.reasons] == [
            "table:*_mail",
            "table:send_*",
            "table:send_*",
            "table:send_mail",
        ]


async def test_a_wildcard_that_asks_also_asks_for_the_tools_of_servers(tmp_path: Path) -> None:
    office = Office(
        tmp_path,
        '[permissions.tools]\ndefault = "allow"\n"*_delete" = "ask"\n',
        tool("file_delete"),
    )
    remote = tool("hub__repo_delete")
    remote._spec = remote.spec.__class__(
        name="hub__repo_delete",
        origin=Origin(kind="mcp", server="hub", tool="repo_delete"),
        schema={"type": "object"},
        pinned=True,
    )
    office.service.register(remote)
    assert await office.outcome("file_delete") == "ask"
    assert await office.outcome("hub__repo_delete") == "ask"
    assert office.rules == ["table:*_delete"]


async def test_a_server_cannot_put_its_tools_into_an_allowed_category(tmp_path: Path) -> None:
    office = Office(tmp_path, '[permissions.tools]\ndefault = "deny"\nfile_ops = "allow"\n')
    remote = tool("hub__save")
    remote._spec = remote.spec.__class__(
        name="hub__save",
        origin=Origin(kind="mcp", server="hub", tool="save"),
        schema={"type": "object"},
        category="file",
    )
    office.service.register(remote)
    assert await office.outcome("hub__save") == "deny"


async def test_a_table_is_enforced_before_the_tool_is_reached(tmp_path: Path) -> None:
    office = Office(tmp_path, '[permissions.tools]\ndefault = "deny"\n', hidden := tool("wipe"))
    assert office.service.list() == []
    with pytest.raises(PermissionDenied):
        await office.service.execute("wipe", {})
    assert hidden.calls == 0
