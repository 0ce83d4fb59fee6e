"""What a module tries with the paths that it is handed: none of it reaches another folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from policy.model import Execution
from tests.service.plugins.running_plugins import module, running, table

ALL = {"reads": ["*"], "writes": ["*"]}
FUNCTIONS = {
    "path_link": "i32 i32 i32 i32 i32 i32 i32",
    "path_open": "i32 i32 i32 i32 i32 i64 i64 i32 i32",
    "path_rename": "i32 i32 i32 i32 i32 i32",
    "path_symlink": "i32 i32 i32 i32 i32",
}
HEAD = """
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (memory (export "memory") 1)
  (global $out (mut i64) (i64.const 0))
  (global $at (mut i64) (i64.const 0))
  (func $put (param i32)
    (call $store (i64.add (global.get $out) (global.get $at)) (local.get 0))
    (global.set $at (i64.add (global.get $at) (i64.const 1))))
  (func $begin
    (global.set $out (call $alloc (i64.const 1000)))
    (global.set $at (i64.const 0))
    (call $put (i32.const 91)))
  (func $done (param $succeeded i32)
    (call $put (i32.add (i32.const 48) (local.get $succeeded)))
    (call $put (i32.const 44)))
  (func $end
    (global.set $at (i64.sub (global.get $at) (i64.const 1)))
    (call $put (i32.const 93))
    (call $output_set (global.get $out) (global.get $at)))
"""
# The descriptors of the folders that it is handed: those that it may write come first.
WRITTEN, READ = 3, 4
Try = tuple[object, ...]


def reading(folder: int, path: str) -> Try:
    return "path_open", folder, 1, path, 0, 2, 2, 0, 64


def making(folder: int, path: str) -> Try:
    return "path_open", folder, 1, path, 1, 64, 64, 0, 64


def wat(tools: Mapping[str, list[Try]]) -> str:
    """Return a module whose tools return which of their tries succeed, as `[1, 0, …]`."""
    data: list[str] = []

    def operands(function: str, values: tuple[object, ...]) -> str:
        types, written = FUNCTIONS[function].split(), list[str]()
        for value in values:
            if isinstance(value, str):
                written += [f"(i32.const {sum(map(len, data))})", f"(i32.const {len(value)})"]
                data.append(value)
            else:
                written.append(f"({types[len(written)]}.const {value})")
        return " ".join(written)

    bodies = []
    for name, tries in tools.items():
        calls = " ".join(
            f"(call $done (i32.eqz (call ${one[0]} {operands(str(one[0]), one[1:])})))"
            for one in tries
        )
        bodies.append(
            f'(func (export "{name}") (result i32) (call $begin) {calls} (call $end) (i32.const 0))'
        )
    imports = "\n".join(
        f'(import "wasi_snapshot_preview1" "{name}" (func ${name} (param {types}) (result i32)))'
        for name, types in FUNCTIONS.items()
    )
    text = "".join(data)
    return f'(module {imports} {HEAD} (data (i32.const 0) "{text}") {"".join(bodies)})'


@pytest.fixture
def at(tmp_path: Path) -> Path:
    """A folder `a` to read and `w` to write, beside one with a secret; both have links to it."""
    for name in ("a/f", "a/sub/f", "w/f", "w/sub/f", "secret/f"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for name in "aw":
        (tmp_path / name / "link").symlink_to("../secret/f")
        (tmp_path / name / "absolute").symlink_to(tmp_path / "secret" / "f")
        (tmp_path / name / "folder").symlink_to("../secret")
    return tmp_path


async def test_no_path_leads_out_of_a_folder(at: Path) -> None:
    paths = (
        *("../secret/f", "sub/../../secret/f", "/secret/f", f"{at}/secret/f", "//f", ".."),
        *("link", "absolute", "folder/f", "sub/../link", "sub/../folder/../secret/f"),
    )
    tries = [reading(folder, path) for folder in (READ, WRITTEN) for path in paths]
    tries += [making(WRITTEN, path) for path in ("../new", "folder/new", "sub/../../new")]
    tries += [
        ("path_link", READ, 0, "f", WRITTEN, "of-a"),
        ("path_link", WRITTEN, 1, "link", WRITTEN, "of-secret"),
        ("path_rename", READ, "f", WRITTEN, "of-a"),
        ("path_rename", WRITTEN, "f", WRITTEN, "../new"),
        ("path_symlink", f"{at}/secret", WRITTEN, "made"),
        making(READ, "new"),
    ]
    succeeding = [reading(READ, "f"), reading(WRITTEN, "sub/../f"), making(WRITTEN, "new")]
    code = wat({"hostile": tries, "usual": succeeding})
    grant = f'[plugins.hostile.sandbox]\nreads = ["{at}/a"]\nwrites = ["{at}/w"]\n'
    async with running(
        at, table(module(at, code, "hostile", "usual", access=ALL), more=grant)
    ) as on:
        assert await on.call("ext__hostile__usual") == [1, 1, 1]
        assert await on.call("ext__hostile__hostile") == [0] * len(tries)
    assert sorted(os.listdir(at / "w")) == ["absolute", "f", "folder", "link", "new", "sub"]


async def test_a_folder_that_an_earlier_call_has_replaced_is_not_followed(at: Path) -> None:
    tools: dict[str, list[Try]] = {
        "narrow": [reading(WRITTEN, "f")],
        "wide": [
            ("path_rename", WRITTEN, "sub", WRITTEN, "old"),
            ("path_symlink", "../secret", WRITTEN, "sub"),
        ],
    }
    grant = f'[plugins.hostile.sandbox]\nwrites = ["{at}/w"]\n'
    folder = module(at, wat(tools), *tools, access=ALL)
    sub = f'"{at}/w/sub/**"'
    policy = (
        "policy for every agent\n\ndefault deny\nallow ext hostile/wide\n"
        f"allow ext hostile/narrow when reads only {sub} and writes only {sub}\n"
    )
    async with running(at, table(folder, more=grant), policy=policy) as on:
        assert await on.call("ext__hostile__narrow") == [1]
        assert await on.call("ext__hostile__wide") == [1, 1]
        for _ in range(2):
            with pytest.raises(Execution) as failed:
                await on.call("ext__hostile__narrow")
            assert failed.value.code == "sandbox-missing"


async def test_a_module_whose_tables_have_no_bound_is_refused(at: Path) -> None:
    code = wat({"hostile": []}).replace("(memory ", "(table 1 funcref) (memory ")
    async with running(at, table(module(at, code, "hostile"))) as on:
        assert "a table in its text has no maximum" in on.problem()
