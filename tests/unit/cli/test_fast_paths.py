"""The quick ways can be kept for the next process, and switched off one by one."""

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
    *("cache", "remembering", "prebuilt", "words", "modules", "records"),
    *(one.name for one in fields(ALL_SHORTCUTS)),
)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where this user's caches are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "placet"


def test_nothing_is_kept_unless_asked_for(tmp_path: Path, kept: Path) -> None:
    rules = rules_in(tmp_path)
    assert decide(rules, READ).record["verdict"] == "allow"
    assert decide(rules, READ, "--no-cache").record["verdict"] == "allow"
    assert not kept.exists()


def test_with_a_cache_the_next_process_says_the_same(tmp_path: Path, kept: Path) -> None:
    rules = rules_in(tmp_path)
    without = decide(rules, READ)
    first = decide(rules, READ, "--cache")
    assert len(list(kept.iterdir())) == 1
    assert without.out == first.out == decide(rules, READ, "--cache").out


def test_what_the_environment_switches_off_stays_off(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_NO_FAST", "cache")
    assert decide(rules_in(tmp_path), READ, "--cache").record["verdict"] == "allow"
    assert not kept.exists()


@pytest.mark.parametrize("off", [*NAMES, ",".join(NAMES), " generated , prebuilt,"])
def test_every_way_gives_the_same(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    rules = rules_in(tmp_path)
    expected = decide(rules, READ).out
    monkeypatch.setenv("PLACET_NO_FAST", off)
    assert decide(rules, READ).out == expected
    assert run("test", rules).code == 0


def test_each_name_switches_off_what_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    every = fast_paths(cache=True)
    assert (every.cache, every.remembering, every.plain) == (True, True, False)
    assert every.shortcuts == ALL_SHORTCUTS
    monkeypatch.setenv("PLACET_NO_FAST", ",".join(NAMES))
    none = fast_paths(cache=True)
    assert (none.cache, none.remembering, none.plain) == (False, False, True)
    assert none.shortcuts == NO_SHORTCUTS


def test_the_page_tells_every_name() -> None:
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text(encoding="utf-8")
    part = page.partition("## Switching quick ways off")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z]+)` \|", part, re.MULTILINE)) == set(NAMES)


def test_a_store_and_a_load_take_the_same_switches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path, POLICY + 'use "placet:secrets"\n')
    monkeypatch.setattr(statement, "_prebuilt", lambda: pytest.fail("the tables were used"))
    made = policy.load(rules, plain=True, shortcuts=NO_SHORTCUTS)
    store = PolicyStore(rules, plain=True, shortcuts=NO_SHORTCUTS, remembering=False)
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
        fast_paths(cache=False)
