"""Plans that carry over to the next generation are those of tools about which nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy import PolicyStore, ToolCall, Verdict

READ = ToolCall(tool="file_read", input={"path": "/srv/a"})
LIST = ToolCall(tool="file_list", input={"path": "/srv/a"})
BEFORE = "policy for every agent\ndefault deny\na: allow file_list\nb: deny file_read\n"


def edited(folder: Path, *, old: str, new: str) -> PolicyStore:
    """Return a store whose calls were decided before an edit that leaves all places alone."""
    assert len(old) == len(new)
    (folder / "a.policy").write_text(BEFORE)
    store = PolicyStore(folder)
    assert store.decide(READ).verdict is Verdict.DENY
    assert store.decide(LIST).verdict is Verdict.ALLOW
    (folder / "a.policy").write_text(BEFORE.replace(old, new))
    assert store.reload().changed
    return store


def test_a_default_of_the_same_length_is_in_force(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(BEFORE.replace("b: deny file_read\n", ""))
    store = PolicyStore(tmp_path)
    assert store.decide(READ).verdict is Verdict.DENY
    text = (tmp_path / "a.policy").read_text()
    (tmp_path / "a.policy").write_text(text.replace("default deny", "default  ask"))
    assert store.reload().changed
    assert store.decide(READ).verdict is Verdict.ASK


def test_the_plan_of_a_tool_that_nothing_is_about_stays(tmp_path: Path) -> None:
    store = edited(tmp_path, old="b: deny file_read", new="c: deny file_read")
    assert store.decide(LIST).verdict is Verdict.ALLOW
    named = {reason.rule for reason in store.decide(READ).reasons}
    assert "c" in named
    assert "b" not in named


@pytest.mark.parametrize(("before", "after"), [("1", "true"), ("1", "1.0"), ("0", "false")])
@pytest.mark.parametrize(
    "clauses",
    ["set input.timeout = table.x", "when input.timeout == table.x set input.timeout = 3"],
)
def test_a_value_of_another_kind_in_a_file_of_data_is_in_force(
    tmp_path: Path, before: str, after: str, clauses: str
) -> None:
    (tmp_path / "data").mkdir()
    data = tmp_path / "data" / "table.toml"
    data.write_text(f"x = {before}\n")
    (tmp_path / "a.policy").write_text(
        'policy for every agent\ndata table from "data/table.toml"\ndefault allow\n'
        f"tool bash_exec extra fields allowed\nr: rewrite bash_exec {clauses}\n"
    )
    call = ToolCall(tool="bash_exec", input={"command": "ls", "timeout": 7})
    store = PolicyStore(tmp_path)
    store.decide(call)
    data.write_text(f"x = {after}\n")
    assert store.reload().changed
    edited, fresh = store.decide(call), PolicyStore(tmp_path).decide(call)
    assert repr(edited.call) == repr(fresh.call)
    assert edited.reasons == fresh.reasons
