"""Plans that carry over to the next generation are those of tools about which nothing changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from policy import PolicyStore, ToolCall, Verdict
from policy.catalog import Catalog
from policy.decision import decide
from policy.evaluation import Floor
from policy.generation import shipped_profiles
from policy.incremental.plan_cache import PlanCache
from policy.layers import LayeredPolicy, merge
from policy.program import Program, compile_policy
from policy.programs import NO_PROFILES, Profiles
from tests.unit.program.compiling import ANN, HERE, layers, tools

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


# ------------------------------------------------------------------ what stands around the rules


def merged(*, body: str, more: str = "") -> LayeredPolicy:
    """Return a policy whose rules are known, with a layer of the agent `ann`."""
    files = {
        "global.policy": f"policy for every agent\n{body}\n",
        "ann.policy": f'policy for agent "ann"\nallow pay\nallow file_write\n{more}\n',
    }
    return merge(layers(files), tools()).policy


def edited_around(before: Program, after: Program, call: ToolCall) -> list[str]:
    """Return the rules of both decisions; the second program could keep plans of the first."""
    said = [decide(one, call, ANN, HERE).reasons for one in (before, after)]
    return [" ".join(reason.rule for reason in reasons) for reasons in said]


def compiled(
    policy: LayeredPolicy,
    plans: PlanCache,
    *,
    catalog: Catalog | None = None,
    floor: Floor | None = None,
    profiles: Profiles | None = None,
) -> Program:
    """Return the program that follows another one, with what has changed around the rules."""
    return compile_policy(
        policy,
        catalog or tools(),
        floor=floor or Floor(),
        profiles=profiles or shipped_profiles(),
        plans=plans,
    )


WRITE = ToolCall(tool="file_write", input={"path": "/rules/a.policy", "content": ""})
RUN = ToolCall(tool="bash_exec", input={"command": "cat /etc/passwd"})
DELEGATE = 'delegate file_write to agent "ann"'


def test_a_floor_that_moved_is_in_force() -> None:
    plans, policy = PlanCache(), merged(body="default allow")
    before = compiled(policy, plans)
    after = compiled(policy, plans, floor=Floor(files=("/rules/a.policy",)))
    first, second = edited_around(before, after, WRITE)
    assert "floor" not in first
    assert "floor" in second


def test_profiles_that_changed_are_in_force() -> None:
    plans = PlanCache()
    policy = merged(body='default allow\nno: deny bash_exec when reads "/etc/**"')
    before = compiled(policy, plans, profiles=NO_PROFILES)
    first, second = (
        decide(one, RUN, ANN, HERE).reasons for one in (before, compiled(policy, plans))
    )
    assert [reason.undecided is None for reason in (first[0], second[0])] == [False, True]


def test_a_tool_that_changed_is_judged_as_it_is_now() -> None:
    plans, policy = PlanCache(), merged(body='default allow\nno: deny file_write when writes "/**"')
    spec = tools().get("file_write")
    assert spec is not None
    others = tuple(one for one in tools().specs if one.name != spec.name)
    bare = replace(spec, resources=(), complete=True)
    before = compiled(policy, plans, catalog=Catalog(specs=(*others, bare), complete=True))
    first, second = edited_around(before, compiled(policy, plans), WRITE)
    assert "no" not in first.split()
    assert "no" in second.split()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("default deny", f"default deny\n{DELEGATE}"),
        ("default deny", "default allow"),
        ("default allow", "default allow\n\n\n"),
    ],
)
def test_what_stands_around_rules_that_stay_is_in_force(old: str, new: str) -> None:
    plans = PlanCache()
    before = merged(body=old)
    edit = replace(merged(body=new), layers=(merged(body=new).layers[0], before.layers[1]))
    decide(compiled(before, plans), WRITE, ANN, HERE)
    kept = decide(compiled(edit, plans), WRITE, ANN, HERE)
    assert kept.reasons == decide(compiled(edit, PlanCache()), WRITE, ANN, HERE).reasons


def test_a_statement_about_a_tool_changes_what_rules_of_every_layer_say() -> None:
    plans = PlanCache()
    rule = 'no: deny pay when sends to "eve@example.org"'
    before = merged(body="tool pay sends to input.note\ndefault allow", more=rule)
    after = merged(body="tool pay sends to input.to\ndefault allow", more=rule)
    edit = replace(before, layers=(after.layers[0], before.layers[1]))
    call = ToolCall(tool="pay", input={"to": "eve@example.org"})
    decide(compiled(before, plans), call, ANN, HERE)
    kept = decide(compiled(edit, plans), call, ANN, HERE)
    assert kept.reasons == decide(compiled(edit, PlanCache()), call, ANN, HERE).reasons
    assert kept.reasons[0].undecided is None
    assert kept.reasons[0].rule == "no"


def test_places_that_moved_are_told_as_they_are_now(tmp_path: Path) -> None:
    text = "policy for every agent\ndefault deny\n"
    (tmp_path / "a.policy").write_text(text)
    store = PolicyStore(tmp_path)
    assert store.decide(READ).reasons[0].line == 2
    (tmp_path / "a.policy").write_text(text.replace("\n", "\n\n", 1))
    assert store.reload().changed
    assert store.decide(READ).reasons[0].line == 3
