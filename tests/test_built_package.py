"""The built package contains everything it needs, whichever way it was built."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PARSES = """
import policy
from policy.model import Source
from policy.syntax import parse
parsed = parse(Source(name="global.policy", text="policy for every agent\\n\\ndefault deny\\n"))
assert not parsed.diagnostics, parsed.diagnostics
print(policy.__file__)
"""


USES_PACKS = """
import policy
from policy.generation.shipped import shipped_packs
print(policy.__file__)
print(*shipped_packs())
"""


INITIALISES = """
import sys
import policy
print(policy.__file__)
from policy.cli import main
sys.argv = ["placet", "init", sys.argv[1], "--for", "coding-agent"]
main()
"""


EXPLAINS = """
import policy
from policy.cli.page import page_of
print(policy.__file__)
print(page_of("unknown-tool"), end="")
"""


def build(source: Path, target: str, into: Path) -> Path:
    """Build the wheel or sdist of a source tree, without a network, and return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(into)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = into.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the sdist, as an installer builds it from a downloaded one."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    return build(source, "wheel", tmp_path_factory.mktemp("from-sdist"))


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel laid out as an installer would; it is pure Python."""
    folder = tmp_path_factory.mktemp("installed") / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_a_wheel_holds_every_module_the_grammar_and_the_rules(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "policy").rglob("*.py")}
    grammar = {f"policy/grammar/{path.name}" for path in (ROOT / "grammar").glob("*.lark")}
    rules = {
        f"policy/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "rules").rglob("*")
        if path.is_file()
    }
    pages = {f"policy/docs/checks/{path.name}" for path in (ROOT / "docs" / "checks").glob("*.md")}
    assert grammar and rules and pages
    assert sorted((modules | grammar | rules | pages | {"policy/py.typed"}) - held) == []


def test_a_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"policy"}


def test_a_wheel_from_the_sdist_is_the_wheel_from_the_tree(wheel: Path, tmp_path: Path) -> None:
    direct = zipfile.ZipFile(build(ROOT, "wheel", tmp_path))
    assert set(zipfile.ZipFile(wheel).namelist()) == set(direct.namelist())


def installed(code: str, site: Path, *arguments: str) -> list[str]:
    """Run code with the unpacked wheel in front of everything; return the lines it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    place, *more = done.stdout.splitlines()
    assert Path(place).is_relative_to(site)
    return more


def test_an_installed_package_finds_its_grammar(site: Path) -> None:
    assert installed(PARSES, site) == []


def test_an_installed_package_explains_its_diagnostics(site: Path) -> None:
    said = installed(EXPLAINS, site)
    assert said == (ROOT / "docs" / "checks" / "unknown-tool.md").read_text("utf-8").splitlines()


def test_an_installed_package_has_the_packs_that_ship_with_it(site: Path) -> None:
    (names,) = installed(USES_PACKS, site)
    packs = (ROOT / "rules" / "packs").glob("*.policy")
    assert names.split() == sorted(f"placet:{pack.stem}" for pack in packs)


def test_an_installed_package_writes_a_policy_to_start_from(site: Path, tmp_path: Path) -> None:
    said = installed(INITIALISES, site, str(tmp_path / "rules"))
    assert f"wrote {tmp_path}/rules/global.policy" in said
    kept = ROOT / "policy" / "cli" / "init" / "sets" / "coding-agent" / "global.policy"
    assert (tmp_path / "rules" / "global.policy").read_bytes() == kept.read_bytes()
