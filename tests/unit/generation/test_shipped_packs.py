"""The packs that come with Placet: used by name, parsed only where they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.generation import read_policy
from policy.generation.shipped import shipped_packs, used_packs
from policy.model import Source
from policy.syntax import parse

# What a policy has to add to `use` for each pack.
ADDED = {
    "placet:calendar": ' with invite = file_write, title = "", text = "content", place = "path"',
    "placet:coding": " granting",
    "placet:git": "",
    "placet:mail": ' with send = file_write, text = "content", subject = ""',
    "placet:network": "",
    "placet:payments": ' with pay = file_write, amount = ""',
    "placet:secrets": "",
    "placet:shell": "",
    "placet:web-then-act": " with sources = web_fetch, act = file_write",
}
NAMES = tuple(ADDED)


def _use(name: str) -> str:
    return f'use "{name}"{ADDED[name]}'


def test_these_packs_are_there() -> None:
    assert tuple(shipped_packs()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_pack_is_used_by_its_name(name: str, tmp_path: Path) -> None:
    text = f"policy for every agent\n\n{_use(name)}\n\ndefault allow\n"
    (tmp_path / "global.policy").write_text(text, encoding="utf-8")
    assert read_policy(tmp_path).diagnostics == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_pack_suits_a_policy_that_allows_little(name: str, tmp_path: Path) -> None:
    text = f"policy for every agent\n\n{_use(name)}\n\ndefault deny\nread: allow file_read\n"
    (tmp_path / "global.policy").write_text(text, encoding="utf-8")
    assert read_policy(tmp_path).diagnostics == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_has_a_page_that_names_its_parameters_and_rules(name: str) -> None:
    pack = name.removeprefix("placet:")
    page = (Path(__file__).parents[3] / "docs" / "packs" / f"{pack}.md").read_text("utf-8")
    for statement in parse(shipped_packs()[name]).tree.statements:
        called = getattr(statement, "name", None)
        if type(statement).__name__ in ("Param", "Rule") and called:
            assert f"`{called}`" in page


def test_only_the_packs_that_are_used_are_parsed() -> None:
    text = 'policy for every agent\n\nuse "placet:network"\n\ndefault deny\n'
    file = parse(Source(name="a.policy", text=text)).tree
    assert tuple(used_packs([file])) == ("placet:network",)
    assert used_packs([]) == {}


def test_all_are_there_to_be_suggested_where_a_name_is_wrong() -> None:
    text = 'policy for every agent\n\nuse "placet:netwrok"\n\ndefault deny\n'
    assert tuple(used_packs([parse(Source(name="a.policy", text=text)).tree])) == NAMES
