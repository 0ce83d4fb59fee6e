"""What packages export is there for whoever looks, whether or not it was asked for before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import policy

PACKAGES = ["policy"] + [
    f"policy.{folder.parent.name}"
    for folder in sorted(Path(policy.__file__).parent.glob("*/__init__.py"))
]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_lists_what_it_exports(name: str) -> None:
    package = import_module(name)
    assert set(getattr(package, "__all__", ())) <= set(dir(package))


def test_a_package_lists_what_nobody_has_asked_for_yet() -> None:
    asked = "import policy.service as s; assert 'tool' not in vars(s); print(*dir(s))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert {"tool", "build_tool_service", "ToolService", "__name__"} <= set(done.stdout.split())


def test_a_name_that_is_not_exported_is_an_error_that_says_so() -> None:
    with pytest.raises(AttributeError, match="module 'policy' has no attribute 'lode'"):
        getattr(policy, "lo" + "de")
    with pytest.raises(ImportError, match="cannot import name 'lode'"):
        exec("from policy import lode")
