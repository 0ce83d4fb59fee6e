"""A proposal for a call that asks allows that call, and none of its near misses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.catalog import Catalog, Origin, Resource, ToolSpec, builtin_catalog, read_listing
from policy.environment import Disk
from policy.generation import Generation, Snapshot, build, read_folder
from policy.model import Caller, Facts, Source, ToolCall, Verdict
from policy.store import propose_rule
from policy.syntax import format_source, parse
from policy.values import without_invisible
from policy.verify import Edit, NoProposal, Proposal
from tests.examples import examples

NOW = datetime(2026, 11, 22, tzinfo=UTC)
ADA = Caller(agent="coder", user="ada")

# A tool with fields of every kind, none of them a resource.
LISTING = [
    {
        "name": "note",
        "description": "Keeps a note.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "number"},
                "loud": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "odd name": {"type": "string"},
                "more": {
                    "type": "object",
                    "properties": {"by": {"type": "string"}, "to": {"type": "string"}},
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
    }
]
CATALOG = builtin_catalog().with_tools(read_listing(LISTING, reviewed=True).specs)


class Folder:
    """A policy folder that proposals are made for, and tried in."""

    def __init__(self, path: Path, files: dict[str, str], catalog: Catalog = CATALOG) -> None:
        self.path = path
        self.catalog = catalog
        path.mkdir(exist_ok=True)
        for name, text in files.items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_text(text, encoding="utf-8")

    def generation(self) -> tuple[Snapshot, Generation]:
        snapshot = read_folder(self.path)
        built = build(snapshot, catalog=self.catalog, number=1, now=NOW)
        assert built.generation is not None, built.diagnostics
        return snapshot, built.generation

    def facts(self) -> Facts:
        workspace = self.path.parent / "work"
        workspace.mkdir(exist_ok=True)
        return Facts(workspace=str(workspace), now=NOW, resolvers=Disk().resolvers())

    def propose(self, tool: str, caller: Caller = ADA, **input: Any) -> Proposal | NoProposal:
        snapshot, generation = self.generation()
        call = ToolCall(tool=tool, input=input)
        return propose_rule(
            snapshot,
            generation,
            (call, caller, self.facts()),
            catalog=self.catalog,
            name="always-1",
            now=NOW,
        )

    def apply(self, proposal: Proposal | NoProposal) -> Edit:
        assert isinstance(proposal, Proposal), proposal
        (edit,) = proposal.edits
        (self.path / edit.file).write_text(edit.after, encoding="utf-8")
        return edit

    def verdict(self, tool: str, caller: Caller = ADA, **input: Any) -> Verdict:
        _, generation = self.generation()
        call = ToolCall(tool=tool, input=input)
        return generation.decide(call, caller, facts=self.facts()).verdict


def folder(tmp_path: Path, text: str, **others: str) -> Folder:
    files = {"global.policy": f"policy for every agent\n\n{text}"}
    return Folder(tmp_path / "rules", {**files, **others})


def why(proposal: Proposal | NoProposal) -> str:
    assert isinstance(proposal, NoProposal), proposal
    return "; ".join(proposal.why)


def test_for_a_default_it_is_a_rule_for_exactly_this_call(tmp_path: Path) -> None:
    f = folder(
        tmp_path,
        'default ask\n\nlook: allow file_list\n\ntest "t"\n  file_list {path: "."} -> allow\n',
    )
    edit = f.apply(f.propose("file_write", path="a.txt", content="x"))
    assert "always-1:" in edit.after
    assert edit.after.index("always-1:") < edit.after.index('test "t"')
    assert f.verdict("file_write", path="a.txt", content="x") is Verdict.ALLOW
    assert f.verdict("file_write", path="a.txt", content="y") is Verdict.ASK
    assert f.verdict("file_write", path="b.txt", content="x") is Verdict.ASK
    assert f.verdict("file_write", Caller(agent="coder"), path="a.txt", content="x") is Verdict.ASK
    assert f.verdict("file_delete", path="a.txt") is Verdict.ASK


def test_for_an_ask_rule_it_is_an_exception_in_it(tmp_path: Path) -> None:
    f = folder(
        tmp_path,
        "default allow\n\n"
        "second-look: ask file_write  # everything is looked at\n"
        '  unless input.path == "b.txt" because "look twice"\n',
    )
    edit = f.apply(f.propose("file_write", path="a.txt", content="x"))
    assert "# everything is looked at" in edit.after
    assert 'unless input.path == "b.txt"' in edit.after
    assert f.verdict("file_write", path="a.txt", content="x") is Verdict.ALLOW
    assert f.verdict("file_write", path="b.txt", content="z") is Verdict.ALLOW
    assert f.verdict("file_write", path="a.txt", content="y") is Verdict.ASK


def test_a_rule_is_proposed_although_nobody_knows_what_is_used_of_a_limit(tmp_path: Path) -> None:
    f = folder(tmp_path, "default ask\n\nfew: limit file_write to 2 per day per session\n")
    edit = f.apply(f.propose("file_write", path="a.txt", content="x"))
    assert "always-1:" in edit.after
    none = f.propose("file_write", path="a.txt", content="x")
    assert "is now allow" in why(none)


def test_a_rule_with_approval_is_cut_in_two(tmp_path: Path) -> None:
    f = folder(
        tmp_path,
        "default deny\n\n"
        'delete: allow file_delete when writes only workspace with approval because "gone"\n',
    )
    edit = f.apply(f.propose("file_delete", path="a.txt"))
    assert edit.diff(root="rules/").startswith("--- a/rules/global.policy\n+++ b/rules/global")
    assert f.verdict("file_delete", path="a.txt") is Verdict.ALLOW
    assert f.verdict("file_delete", path="b.txt") is Verdict.ASK
    assert f.verdict("file_delete", path="/etc/passwd") is Verdict.DENY


@pytest.mark.parametrize(
    "rule",
    [
        "default allow\n\nx: ask *\n",
        "default allow\n\nx: ask file_delete, file_mkdir\n",
        "default deny\n\nx: allow file_* with approval\n",
    ],
)
def test_a_rule_for_several_tools_goes_on_asking_about_the_others(
    tmp_path: Path, rule: str
) -> None:
    f = folder(tmp_path, rule)
    f.apply(f.propose("file_mkdir", path="a"))
    assert f.verdict("file_mkdir", path="a") is Verdict.ALLOW
    assert f.verdict("file_mkdir", path="b") is Verdict.ASK
    assert f.verdict("file_delete", path="a") is Verdict.ASK


def test_what_would_serve_another_version_too_is_not_proposed(tmp_path: Path) -> None:
    first = ToolSpec(name="t", origin=Origin(kind="host", tool="t"), version=1, complete=True)
    catalog = Catalog(specs=(first, replace(first, name="t", version=2)))
    f = Folder(
        tmp_path / "rules",
        {"global.policy": "policy for every agent\n\ndefault allow\n\nx: ask t\n"},
        catalog,
    )
    assert "another tool" in why(f.propose("t@1"))


def test_two_that_ask_are_both_lifted_each_in_its_file(tmp_path: Path) -> None:
    f = folder(
        tmp_path,
        "default ask\n",
        **{"agents/coder.policy": 'policy for agent "coder"\n\nhere: ask file_read\n'},
    )
    proposal = f.propose("file_read", path="a.txt")
    assert isinstance(proposal, Proposal)
    assert {edit.file for edit in proposal.edits} == {"global.policy", "agents/coder.policy"}
    for edit in proposal.edits:
        (f.path / edit.file).write_text(edit.after, encoding="utf-8")
    assert f.verdict("file_read", path="a.txt") is Verdict.ALLOW
    assert f.verdict("file_read", path="b.txt") is Verdict.ASK


def test_a_command_is_allowed_as_a_whole_and_no_other(tmp_path: Path) -> None:
    f = folder(tmp_path, "default ask\n")
    f.apply(f.propose("bash_exec", command="git push origin main && ls"))
    assert f.verdict("bash_exec", command="git push origin main && ls") is Verdict.ALLOW
    for other in ("git push origin main", "git push origin main && ls -a", "ls"):
        assert f.verdict("bash_exec", command=other) is Verdict.ASK
    assert f.verdict("bash_exec", command="git push origin main && ls", timeout=1) is Verdict.ASK


def test_a_path_over_a_link_is_not_proposed(tmp_path: Path) -> None:
    f = folder(tmp_path, "default ask\n")
    work = Path(str(f.facts().workspace))
    (work / "there").mkdir()
    (work / "link").symlink_to(work / "there")
    assert "link" in why(f.propose("file_write", path="link/a.txt", content="x"))
    f.apply(f.propose("file_write", path="there/a.txt", content="x"))
    _, generation = f.generation()
    call = ToolCall(tool="file_write", input={"path": "there/a.txt", "content": "x"})
    assert generation.decide(call, ADA, facts=f.facts()).verdict is Verdict.ALLOW
    (work / "there").rmdir()
    (work / "there").symlink_to("/etc")
    assert generation.decide(call, ADA, facts=f.facts()).verdict is not Verdict.ALLOW


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('default allow\n\npay: ask file_write by "finance"\n', "names who must answer"),
        ("default allow\n\npay: ask file_write two people\n", "names who must answer"),
        ("default deny\n", "verdict on this call is now deny"),
        ("default allow\n", "verdict on this call is now allow"),
        (
            "default allow\n\nx: ask file_write\n\n"
            'test "t"\n  given agent.name = "coder", user.id = "ada", workspace = "WORK"\n'
            '  file_write {path: "a", content: "x"} -> ask by x\n',
            "would not load",
        ),
    ],
)
def test_where_no_text_may_lift_it_it_is_said_why(tmp_path: Path, text: str, said: str) -> None:
    f = folder(tmp_path, text.replace("WORK", str(tmp_path / "work")))
    assert said in why(f.propose("file_write", path="a", content="x"))


def test_tables_confirmations_and_what_cannot_be_decided_are_not_lifted(tmp_path: Path) -> None:
    f = folder(
        tmp_path,
        "default allow\n\nx: ask file_write when context.risk > 3\n",
        **{
            "placet.toml": '[context]\nrisk = "number"\n'
            '[tools.note]\nrequires_confirmation = true\n[permissions.tools]\nfile_list = "ask"\n'
        },
    )
    assert "is indeterminate" in why(f.propose("file_write", path="a", content="x"))
    assert "requires_confirmation" in why(f.propose("note", text="x"))
    assert "remove it from the table" in why(f.propose("file_list", path="."))


def test_a_rule_of_a_shipped_pack_is_not_changed(tmp_path: Path) -> None:
    f = folder(tmp_path, 'default allow\n\nuse "placet:git"\n')
    found = f.propose("bash_exec", command="git push --force origin main")
    assert "no rule file of this folder" in why(found) or "the policy's verdict" in why(found)


def test_what_cannot_be_compared_exactly_is_not_proposed(tmp_path: Path) -> None:
    f = folder(tmp_path, "default ask\n")
    assert "longer than" in why(f.propose("note", text="x" * 5000))
    assert "more digits" in why(f.propose("note", count=1e300))
    assert "cannot be compared" in why(f.propose("note", more={}))


def test_an_exception_in_a_file_of_free_form_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    text = (
        "default   allow\n\n# why\nx:   ask   file_write\n"
        '   because "y"   # behind\ny: allow file_read\n'
    )
    f = folder(tmp_path, text)
    edit = f.apply(f.propose("file_write", path="a", content="x"))
    kept = [line for line in edit.before.splitlines() if line not in edit.after.splitlines()]
    assert len(kept) <= 1
    assert f.verdict("file_write", path="a", content="x") is Verdict.ALLOW


HOSTILE = st.text(
    alphabet=st.sampled_from("ab\"\\\n\t${}#:/*?[]()'`\u202e\u200b\0é\U0001f600 -")
    | st.characters(exclude_categories=["Cs"]),
    max_size=20,
)


@example(text="", odd="/", tags=[], count=0, rule="default ask\n")
@settings(max_examples=examples(40), deadline=None)
@given(
    text=HOSTILE,
    odd=HOSTILE,
    tags=st.lists(HOSTILE, max_size=2),
    count=st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6),
    rule=st.sampled_from(["default ask\n", "default allow\n\nx: ask note\n"]),
)
def test_hostile_values_stay_values(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    odd: str,
    tags: list[str],
    count: float,
    rule: str,
) -> None:
    f = folder(tmp_path_factory.mktemp("p"), rule)
    input: dict[str, Any] = {
        "text": text,
        "odd name": odd,
        "tags": tags,
        "count": count,
        "more": {"by": text},
    }
    proposal = f.propose("note", **input)
    if isinstance(proposal, NoProposal):
        hidden = any(without_invisible(value) != value for value in (text, odd, *tags))
        # A text such as `/` may be a path to the policy itself, which is never allowed for good.
        floor = "`floor` asks because it is indeterminate" in why(proposal)
        assert "digits" in why(proposal) or hidden or floor
        return
    edit = f.apply(proposal)
    parsed = parse(Source(name="global.policy", text=edit.after))
    assert not parsed.diagnostics
    assert format_source(parsed) == edit.after
    assert f.verdict("note", **input) is Verdict.ALLOW
    assert f.verdict("note", **{**input, "text": text + "x"}) is Verdict.ASK
    assert f.verdict("note", **{**input, "tags": [*tags, "x"]}) is Verdict.ASK


def test_a_folder_of_an_undeclared_path_is_proposed_with_all_below_it(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    grep = ToolSpec(
        name="grep",
        origin=Origin(tool="grep"),
        schema=schema,
        resources=(Resource(verb="reads", steps=("path",)),),
        complete=True,
    )
    f = Folder(
        tmp_path / "rules",
        {"global.policy": "policy for every agent\n\ndefault ask\n"},
        Catalog(specs=(grep,)),
    )
    (tmp_path / "work/sub").mkdir(parents=True)
    f.apply(f.propose("grep", path="sub"))
    assert f.verdict("grep", path="sub") is Verdict.ALLOW
    assert f.verdict("grep", path=".") is Verdict.ASK
