"""Leaving out the lints leaves out their warnings, and nothing else."""

from __future__ import annotations

from pathlib import Path

from policy import ToolCall
from policy.reload import Built, read_policy
from tests.unit.cli.running import run

ODD = """policy for every agent

default deny
paths projectFiles = "/srv/**"
allow file_read
"""
LINTS = {"name-style", "unnamed-rule", "unused-name"}
CALL = ToolCall(tool="file_read", input={"path": "/a"})


def codes(built: Built) -> set[str]:
    return {found.code for found in built.diagnostics}


def test_without_lints_the_rest_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(ODD, encoding="utf-8")
    told, silent = read_policy(tmp_path), read_policy(tmp_path, linting=False)
    assert codes(told) >= LINTS
    rest = tuple(found for found in told.diagnostics if found.code not in LINTS)
    assert silent.diagnostics == rest
    assert told.generation is not None
    assert silent.generation is not None
    assert silent.generation.id == told.generation.id
    assert silent.generation.decide(CALL).verdict is told.generation.decide(CALL).verdict


def test_a_cache_filled_without_lints_hides_no_warning(tmp_path: Path) -> None:
    rules, cache = tmp_path / "rules", tmp_path / "cache"
    rules.mkdir()
    (rules / "a.policy").write_text(ODD, encoding="utf-8")
    read_policy(rules, cache=cache, linting=False)
    assert codes(read_policy(rules, cache=cache)) == codes(read_policy(rules))


def test_a_wrong_policy_is_shown_with_its_warnings(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(f"{ODD}wrong: deny file_write when nothing == 1\n")
    decided = run("decide", str(tmp_path), stdin=b'{"tool": "file_list"}\n')
    checked = run("check", str(tmp_path))
    assert decided.code == 1
    assert decided.out == ""
    assert "unnamed-rule" in decided.err
    for line in decided.err.splitlines():
        assert line in checked.out + checked.err
