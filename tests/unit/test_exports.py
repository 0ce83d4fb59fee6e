"""The names that packages export are available, imported before or not."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
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


def test_the_front_door_lists_what_nobody_has_asked_for_yet() -> None:
    asked = "import policy; assert 'load' not in vars(policy); print(*dir(policy))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert {"load", "build_tool_service", "Verdict", "__name__"} <= set(done.stdout.split())


def test_the_front_door_finds_each_name_where_type_checkers_do() -> None:
    typed = {
        alias.name: node.module
        for block in ast.parse(Path(policy.__file__).read_text("utf-8")).body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    assert typed == policy._MODULES
    assert set(typed) == set(policy.__all__)


def test_a_name_that_is_not_exported_is_an_error_that_says_so() -> None:
    with pytest.raises(AttributeError, match="module 'policy' has no attribute 'lode'"):
        getattr(policy, "lo" + "de")
    with pytest.raises(ImportError, match="cannot import name 'lode'"):
        exec("from policy import lode")


# ------------------------------------------------------------------ many threads

THREADS = """
import random, sys, threading
names = sys.argv[2:]
random.Random(sys.argv[1]).shuffle(names)
sys.setswitchinterval(1e-6)
together, wrong = threading.Barrier(len(names)), []
def use(name):
    together.wait()
    try:
        package = __import__(name, fromlist=["*"])
        for exported in getattr(package, "__all__", ()):
            getattr(package, exported)
    except BaseException as error:
        wrong.append(f"{name}: {error!r}")
threads = [threading.Thread(target=use, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit("; ".join(wrong) or None)
"""


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(more, marks=pytest.mark.long) for more in (1, 2))]
)
def test_threads_may_each_begin_with_another_package(seed: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", THREADS, str(seed), *PACKAGES[1:]],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr


def test_no_module_waits_for_one_that_waits_for_it() -> None:
    """Importing waits for whoever imports the same; round in a circle, two threads never end.

    Python notices, and hands one of them a module that is half done.
    """
    waits: dict[str, set[str]] = {}
    for name, file in MODULES.items():
        waits[name] = set(_waited_for(name, ast.parse(file.read_text("utf-8")).body))
    order = list(TopologicalSorter(waits).static_order())
    assert order.index("policy.model.verdict") < order.index("policy.decision")


FOLDER = Path(policy.__file__).parent
MODULES = {
    ".".join(("policy", *file.relative_to(FOLDER).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): file
    for file in sorted(FOLDER.rglob("*.py"))
}


def _waited_for(name: str, body: list[ast.stmt]) -> Iterator[str]:
    """Yield what is imported while a module is.

    A module in a package comes after that package, and so does a package in one.
    """
    above = {".".join(name.split(".")[:depth]) for depth in range(2, name.count(".") + 1)}
    for node in body:
        if isinstance(node, ast.If):
            if ast.unparse(node.test) != "TYPE_CHECKING":
                yield from _waited_for(name, node.body)
            yield from _waited_for(name, node.orelse)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            if node.module not in {*above, name}:
                yield node.module
            for alias in node.names:
                yield from _holder(node.module, alias.name)


def _holder(package: str, name: str) -> Iterator[str]:
    """Yield the module that a name of a package is or comes from."""
    if f"{package}.{name}" in MODULES:
        yield f"{package}.{name}"
    elif MODULES[package].name == "__init__.py":
        module = getattr(getattr(import_module(package), name, None), "__module__", None)
        if module in MODULES and module != package:
            yield module
