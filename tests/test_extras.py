"""Placet works without its extras: what needs one is imported when it is used."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The proxy speaks MCP, and is imported by the command that serves.
OF_AN_EXTRA = {"policy.proxy"}
# The modules that are called otherwise than what brings them along.
MODULES = {"pyjwt": "jwt", "z3-solver": "z3"}
# Imports each module in turn, in a process in which no library of an extra can be imported.
LISTING = """
import importlib, sys
extras, modules = (text.split() for text in sys.argv[1:])
sys.modules.update(dict.fromkeys(extras))
for name in modules:
    importlib.import_module(name)
"""


def _libraries_of_extras() -> list[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    names = {
        re.split(r"[\[<>=]", one)[0] for requirements in extras.values() for one in requirements
    }
    return sorted(MODULES.get(name, name.replace("-", "_")) for name in names - {"placet"})


@pytest.mark.parametrize("package", ["policy", "policy.cli"])
def test_packages_and_commands_can_be_imported_without_the_extras(package: str) -> None:
    folder = ROOT / package.replace(".", "/")
    found = [file.stem for file in folder.glob("[a-z]*.py")]
    found += [file.parent.name for file in folder.glob("*/__init__.py")]
    modules = {f"{package}.{name}" for name in found} - OF_AN_EXTRA
    done = subprocess.run(
        [sys.executable, "-c", LISTING, " ".join(_libraries_of_extras()), " ".join(modules)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_serving_without_its_extra_says_so() -> None:
    command = "import sys; sys.modules['mcp'] = None; from policy.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "serve", "rules"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "placet: serving needs the extra `mcp`: install placet[mcp]\n"
