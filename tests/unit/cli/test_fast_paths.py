"""Each fast path can be switched off by name."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from click import UsageError

import policy
from policy import PolicyStore
from policy.cli.fast_paths import fast_paths
from policy.program import ALL_SHORTCUTS, NO_SHORTCUTS
from policy.syntax import statement
from tests.unit.cli.running import POLICY, decide, rules_in, run

READ = {"tool": "file_read", "input": {"path": "/srv/work/a"}}
NAMES = (
    *("remembering", "prebuilt"),
    *(one.name for one in fields(ALL_SHORTCUTS)),
)


def test_asking_for_the_former_cache_is_accepted_with_a_warning(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    asked = decide(rules, READ, "--cache")
    assert asked.record["verdict"] == "allow"
    assert "`--cache` has no effect" in asked.err
    assert "cache" not in decide(rules, READ, "--no-cache").err
    for load in (policy.load, PolicyStore):
        with pytest.warns(DeprecationWarning, match="no effect"):
            assert load(rules, cache=True) is not None


def test_the_former_name_of_the_lark_engine_is_accepted_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path)
    monkeypatch.setattr(statement, "tables", lambda: pytest.fail("the tables were used"))
    for load in (policy.load, PolicyStore):
        with pytest.warns(DeprecationWarning, match='engine="lark".* next release'):
            assert load(rules, plain=True) is not None


def test_names_of_former_ways_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_NO_FAST", "cache,words,modules,records,admission")
    assert decide(rules_in(tmp_path), READ).record["verdict"] == "allow"


@pytest.mark.parametrize("off", [*NAMES, ",".join(NAMES), " generated , prebuilt,"])
def test_every_way_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    rules = rules_in(tmp_path)
    expected = decide(rules, READ).out
    monkeypatch.setenv("PLACET_NO_FAST", off)
    assert decide(rules, READ).out == expected
    assert run("test", rules).code == 0


def test_each_name_switches_off_what_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    every = fast_paths()
    assert (every.remembering, every.engine) == (True, "tables")
    assert every.shortcuts == ALL_SHORTCUTS
    monkeypatch.setenv("PLACET_NO_FAST", ",".join(NAMES))
    none = fast_paths()
    assert (none.remembering, none.engine) == (False, "lark")
    assert none.shortcuts == NO_SHORTCUTS


def test_the_page_tells_every_name() -> None:
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text(encoding="utf-8")
    part = page.partition("## Switching off fast paths")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z]+)` \|", part, re.MULTILINE)) == set(NAMES)


def test_a_store_and_a_load_take_the_same_switches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path, POLICY + 'use "placet:secrets"\n')
    monkeypatch.setattr(statement, "tables", lambda: pytest.fail("the tables were used"))
    made = policy.load(rules, engine="lark", shortcuts=NO_SHORTCUTS)
    store = PolicyStore(rules, engine="lark", shortcuts=NO_SHORTCUTS, remembering=False)
    assert store.current is not None
    assert made.program.shortcuts == store.current.program.shortcuts == NO_SHORTCUTS


def test_a_name_that_is_none_is_refused_with_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_NO_FAST", "generated,\x1bquick")
    ran = decide(rules_in(tmp_path), READ)
    assert (ran.code, ran.out) == (2, "")
    assert "quick'" in ran.err
    assert all(name in ran.err for name in NAMES)
    with pytest.raises(UsageError):
        fast_paths()
