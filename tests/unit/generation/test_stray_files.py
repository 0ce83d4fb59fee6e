"""Files whose names are almost those of rule files are reported, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.generation import load, read_policy

_POLICY = "policy for every agent\n\ndefault deny\n"


def _reported(folder: Path, *names: str) -> dict[str, str]:
    (folder / "global.policy").write_text(_POLICY)
    for name in names:
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text("")
    found = (one for one in read_policy(folder).diagnostics if one.code == "stray-file")
    return {one.file or "": one.help or "" for one in found}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("shop.polcy", "shop.policy"),
        ("shop.ploicy", "shop.policy"),
        ("shop.policys", "shop.policy"),
        ("shop.policy.txt", "shop.policy"),
        ("agents/shop.polciy", "agents/shop.policy"),
        ("shoppolicy", "shop.policy"),
        ("shop-policy", "shop.policy"),
        ("plcaet.toml", "placet.toml"),
        ("placet.tml", "placet.toml"),
    ],
)
def test_a_near_miss_is_reported_with_the_name_that_is_read(
    tmp_path: Path, name: str, meant: str
) -> None:
    assert name in (found := _reported(tmp_path, name))
    assert f"rename it to `{meant}`" in found[name]


def test_other_files_are_not_reported(tmp_path: Path) -> None:
    names = (
        "README.md", "notes.txt", "shop.policy~", "shop.policy.bak", "data.toml", "tools.json",
        "Makefile", "police.txt", ".shop.polcy", "policy", "x.pol", "programs/acme.toml",
    )  # fmt: skip
    assert _reported(tmp_path, *names) == {}


def test_settings_are_not_missed_where_there_are_some(tmp_path: Path) -> None:
    assert _reported(tmp_path, "placet.toml", "plcaet.toml") == {}


def test_a_policy_with_a_stray_file_loads_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "shop.polcy").write_text("")
    (tmp_path / "global.policy").write_text(_POLICY)
    assert [one.code for one in load(tmp_path).warnings] == ["stray-file"]
