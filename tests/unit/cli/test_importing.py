"""Modules found at once are those that Python finds, and whatever is odd is left to Python."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from policy.cli import importing

ROOT = Path(__file__).resolve().parents[3]
NAME = "policy.thing"
TEXT = "said = 1\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a module and its bytecode."""
    source = tmp_path / "thing.py"
    source.write_text(TEXT, encoding="utf-8")
    py_compile.compile(str(source), doraise=True)
    return tmp_path


def found(place: Path, name: str = NAME) -> ModuleSpec | None:
    finder = importing._Finder(importlib.util.cache_from_source("{}.py"))
    return finder.find_spec(name, [str(place)])


def imported(spec: ModuleSpec) -> ModuleType:
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def bytecode(place: Path) -> Path:
    return Path(importlib.util.cache_from_source(str(place / "thing.py")))


def test_a_module_is_run_from_its_bytecode(place: Path) -> None:
    spec = found(place)
    assert spec is not None
    assert imported(spec).said == 1
    assert isinstance(spec.loader, SourceFileLoader)


@pytest.mark.parametrize("name", ["thing", "other.thing", "policy.nothing", "policyx.thing"])
def test_others_modules_and_what_is_not_there_are_left_to_python(place: Path, name: str) -> None:
    assert found(place, name) is None


def test_an_outermost_package_is_left_to_python() -> None:
    finder = importing._Finder(importlib.util.cache_from_source("{}.py"))
    assert finder.find_spec("policy.thing", None) is None


def test_a_source_of_another_time_or_size_is_left_to_python(place: Path) -> None:
    source = place / "thing.py"
    was = source.stat()
    os.utime(source, (was.st_atime, was.st_mtime + 2))
    assert found(place) is None
    source.write_text(f"{TEXT}#", encoding="utf-8")
    os.utime(source, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert found(place) is None
    source.write_text(TEXT, encoding="utf-8")
    os.utime(source, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert found(place) is not None


def test_bytecode_without_a_source_is_left_to_python(place: Path) -> None:
    (place / "thing.py").unlink()
    assert found(place) is None


@pytest.mark.parametrize("length", [0, 3, 15, 16, 17, 40])
def test_bytecode_that_was_cut_off_is_left_to_python(place: Path, length: int) -> None:
    kept = bytecode(place)
    kept.write_bytes(kept.read_bytes()[:length])
    assert found(place) is None


def test_what_is_no_code_is_left_to_python(place: Path) -> None:
    kept = bytecode(place)
    kept.write_bytes(kept.read_bytes()[:16] + b"N")
    assert found(place) is None


def test_a_folder_that_was_moved_is_left_to_python(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    moved = tmp_path_factory.mktemp("moved") / "inside"
    shutil.copytree(place, moved, copy_function=shutil.copy2)
    assert found(place) is not None
    assert found(moved) is None


def test_bytecode_of_another_python_is_left_to_python(place: Path) -> None:
    kept = bytecode(place)
    kept.write_bytes(b"\0" + kept.read_bytes()[1:])
    assert found(place) is None


def test_a_source_told_by_its_digest_is_left_to_python(place: Path) -> None:
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(place / "thing.py"), doraise=True, invalidation_mode=mode)
    assert found(place) is None


def test_a_spec_is_what_python_makes(place: Path) -> None:
    package = place / "inner"
    package.mkdir()
    (package / "__init__.py").write_text(TEXT, encoding="utf-8")
    py_compile.compile(str(package / "__init__.py"), doraise=True)
    for name in (NAME, "policy.inner"):
        ours, theirs = found(place, name), PathFinder.find_spec(name, [str(place)])
        assert ours is not None and theirs is not None
        for said in ("name", "origin", "cached", "parent", "has_location"):
            assert getattr(ours, said) == getattr(theirs, said)
        assert ours.submodule_search_locations == theirs.submodule_search_locations
        made, usual = imported(ours), imported(theirs)
        kept = {"__file__", "__cached__", "__package__", "__path__", "__name__", "__doc__", "said"}
        assert {name: vars(made).get(name) for name in kept} == {
            name: vars(usual).get(name) for name in kept
        }
        assert vars(made).keys() == vars(usual).keys()
        assert made.__loader__ is ours.loader and made.__spec__ is ours


@pytest.mark.parametrize(
    ("name", "value"), [("PLACET_NO_FAST", "cache"), ("PYTHONPYCACHEPREFIX", "kept")]
)
def test_python_finds_everything_where_told_or_bytecode_is_elsewhere(
    tmp_path: Path, name: str, value: str
) -> None:
    program = (
        "import os, sys; from policy.cli import importing; before = list(sys.meta_path); "
        "importing.at_once(os.environ); print(len(sys.meta_path) - len(before))"
    )
    value = str(tmp_path / value) if name.startswith("PYTHON") else value
    plain = {key: kept for key, kept in os.environ.items() if key != name}
    for environment, more in ((plain, 1), ({**plain, name: value}, 0)):
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, check=True)
        assert json.loads(done.stdout) == more
