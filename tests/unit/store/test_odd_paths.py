"""Policy paths that no file can have, and values that are not paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import policy

POLICY = "policy for every agent\ndefault allow\n"


def said_of(path: Any) -> str:
    """Return the only thing that is said of a path."""
    with pytest.raises(policy.PolicyInvalid) as refused:
        policy.load(path)
    (problem,) = refused.value.diagnostics
    return problem.message


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\udcff", "~", "/dev/null"])
def test_a_path_that_no_policy_has_is_an_invalid_policy(path: str) -> None:
    with pytest.raises(policy.PolicyInvalid):
        policy.load(path)
    assert policy.PolicyStore(path).current is None


async def test_an_empty_path_is_not_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.policy").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    assert said_of("") == "the path of the policy is empty"
    store = policy.PolicyStore("")
    async with store.watch():
        store.reload()
        assert store.current is None
    assert "the path of the policy is empty" in str(store.status)
    assert policy.load(".").decide(policy.ToolCall(tool="list_tools")).verdict == "allow"


def test_a_file_of_another_kind_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(POLICY)
    for name in ("rules.txt", ".policy"):
        (tmp_path / name).write_text(POLICY)
        assert said_of(tmp_path / name) == f"`{tmp_path / name}` is not a policy"


def test_a_folder_that_is_not_there_is_named_in_full(tmp_path: Path) -> None:
    gone = tmp_path / "rules"
    assert said_of(gone) == f"the policy folder `{gone}` does not exist"
    assert str(gone) in str(policy.PolicyStore(gone).status)


@pytest.mark.parametrize("path", [b"rules", 3, None])
def test_what_is_no_path_is_refused_in_a_sentence(path: Any) -> None:
    with pytest.raises(TypeError, match=r"[pP]ath"):
        policy.load(path)
    with pytest.raises(TypeError, match=r"[pP]ath"):
        policy.PolicyStore(path)


def test_what_is_no_call_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(POLICY)
    generation, other = policy.load(tmp_path), policy.load(tmp_path)
    call = policy.ToolCall(tool="list_tools")
    wrong: Any = "list_tools"
    for one in (call, generation.answer("list_tools", {}).decision.call):
        for judge in (generation, other):
            with pytest.raises(TypeError, match=r"a caller is a `policy\.Caller`, not a str"):
                judge.decide(one, wrong)
            with pytest.raises(TypeError, match=r"is a `policy\.Facts`, not a str"):
                judge.decide(one, facts=wrong)
    with pytest.raises(TypeError, match=r"a call is a `policy\.ToolCall`, not a str"):
        generation.decide(wrong)
    with pytest.raises(TypeError, match=r"a caller is a `policy\.Caller`, not a str"):
        generation.answer("list_tools", {}, caller=wrong)
