"""What a plugin may touch: what its manifest, its grant and the rules that allow a call share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policy.capabilities import manifest_of
from policy.model import Execution, PermissionDenied
from tests.service.plugins.running_plugins import module, program, running, table
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock

ALL = {"reads": ["*"], "writes": ["*"]}
TRIES = """
def tries(what):
    try:
        what()
        return True
    except OSError:
        return False

def call(tool, input):
    return {
        "pid": os.getppid(),
        "a": tries(lambda: open(input["a"] + "/x").read()),
        "b": tries(lambda: open(input["b"] + "/x").read()),
        "written": tries(lambda: open(input["c"] + "/y", "w").close()),
        "access": access,
    }

def initialize(params):
    global access
    access = params["access"]
    return {"protocol": 1, "tools": tools}
"""


def folders(tmp_path: Path) -> dict[str, str]:
    """Make three folders, the first two with a file."""
    paths = {name: tmp_path / name for name in "abc"}
    for path in paths.values():
        path.mkdir()
    (paths["a"] / "x").write_text("x")
    (paths["b"] / "x").write_text("x")
    return {name: str(path) for name, path in paths.items()}


def granted(of: dict[str, str]) -> str:
    return (
        f'[plugins.hostile.sandbox]\nreads = ["{of["a"]}", "{of["b"]}"]\nwrites = ["{of["c"]}"]\n'
    )


def policy(rules: str) -> str:
    return f"policy for every agent\n\ndefault deny\n\n{rules}\n"


@needs_bubblewrap
async def test_a_rule_bounds_what_a_program_touches(tmp_path: Path) -> None:
    at = folders(tmp_path)
    tables = table(program(tmp_path, TRIES, access=ALL), more=granted(at))
    narrow = policy(f'a: allow ext hostile/* when reads only "{at["a"]}/**"')
    async with running(tmp_path, tables, confined=True, policy=narrow) as on:
        first = await on.call("ext__hostile__t", **at)
        assert [first[what] for what in ("a", "b", "written")] == [True, False, False]
        assert (first["access"]["reads"], first["access"]["writes"]) == ([at["a"]], [])
        confinement = on.records.records[-1].confinement
        assert confinement is not None
        assert confinement.relied_on == ("reads", "writes", "connects")
        # Another rule is that of another process: the first one keeps what it has seen.
        (on.rules / "global.policy").write_text(policy("allow ext hostile/*"))
        on.store.reload()
        second = await on.call("ext__hostile__t", **at)
        assert [second[what] for what in ("a", "b", "written")] == [True, True, True]


async def test_a_sandbox_that_does_not_bound_a_verb_does_not_make_a_rule_hold(
    tmp_path: Path,
) -> None:
    every = program(tmp_path, TRIES, access={"network": "all"})
    rules = policy("quiet: allow ext hostile/* when connects only to nothing")
    more = '[plugins.hostile.sandbox]\nnetwork = "all"\n'
    async with running(tmp_path, table(every, more=more), policy=rules) as on:
        with pytest.raises(PermissionDenied):
            await on.call("ext__hostile__t")


async def test_a_host_registered_plugin_is_confined_by_nothing(tmp_path: Path) -> None:
    rules = policy('a: allow ext own/* when reads only "/srv/**"')
    async with running(tmp_path, '[plugins.own]\ngrant = ["tool:*"]\n', policy=rules) as on:
        declared = {"type": "tool", "name": "t", "input_schema": {"type": "object"}}

        def run() -> int:
            return 1

        manifest = manifest_of({"id": "own", "version": "1", "capabilities": [declared]})
        on.plugins.registry.register(manifest, tools={"t": run})
        with pytest.raises(PermissionDenied):
            await on.call("ext__own__t")


# Opens `x` to read, and makes `y`, in each of the folders that it is handed: `[read, made, …]`.
REACH = """(module
  (import "wasi_snapshot_preview1" "path_open" (func $open
    (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "x")
  (data (i32.const 8) "y")
  (data (i32.const 16) "../../b/x")
  (global $out (mut i64) (i64.const 0))
  (global $at (mut i64) (i64.const 0))
  (func $put (param i32)
    (call $store (i64.add (global.get $out) (global.get $at)) (local.get 0))
    (global.set $at (i64.add (global.get $at) (i64.const 1))))
  (func $try (param $fd i32) (param $path i32) (param $length i32) (param $flags i32)
             (param $rights i64)
    (call $put (i32.add (i32.const 48) (i32.eqz (call $open (local.get $fd) (i32.const 0)
      (local.get $path) (local.get $length) (local.get $flags)
      (local.get $rights) (local.get $rights) (i32.const 0) (i32.const 64)))))
    (call $put (i32.const 44)))
  (func (export "reach") (result i32) (local $fd i32)
    (global.set $out (call $alloc (i64.const 32)))
    (call $put (i32.const 91))
    (local.set $fd (i32.const 3))
    (loop $next
      (call $try (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 0) (i64.const 2))
      (call $try (local.get $fd) (i32.const 8) (i32.const 1) (i32.const 1) (i64.const 64))
      (call $try (local.get $fd) (i32.const 16) (i32.const 9) (i32.const 0) (i64.const 2))
      (local.set $fd (i32.add (local.get $fd) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $fd) (i32.const 6))))
    (global.set $at (i64.sub (global.get $at) (i64.const 1)))
    (call $put (i32.const 93))
    (call $output_set (global.get $out) (global.get $at))
    (i32.const 0)))
"""


async def test_a_rule_bounds_what_a_module_touches(tmp_path: Path) -> None:
    at = folders(tmp_path)
    tables = table(module(tmp_path, REACH, "reach", access=ALL), more=granted(at))
    narrow = policy(f'a: allow ext hostile/* when reads only "{at["a"]}/**"')
    async with running(tmp_path, tables, policy=narrow) as on:
        # Each folder: read `x`, make `y`, leave the folder. Only the first one is there.
        assert await on.call("ext__hostile__reach") == [1, 0, 0, 0, 0, 0, 0, 0, 0]
        (on.rules / "global.policy").write_text(policy("allow ext hostile/*"))
        on.store.reload()
        reached = await on.call("ext__hostile__reach")
        assert sorted(zip(*[iter(reached)] * 3, strict=True)) == [
            (0, 1, 0),
            (1, 0, 0),
            (1, 0, 0),
        ]
    assert os.listdir(at["a"]) == ["x"]
    assert os.listdir(at["c"]) == ["y"]


async def test_what_a_module_cannot_be_kept_from_it_is_not_run_with(tmp_path: Path) -> None:
    at = folders(tmp_path)
    tables = table(module(tmp_path, REACH, "reach", access=ALL), more=granted(at))
    (Path(at["a"]) / "keys").mkdir()
    rules = policy(f'allow ext hostile/*\nkeys: deny * when reads "{at["a"]}/keys/**"')
    async with running(tmp_path, tables, policy=rules) as on:
        with pytest.raises(Execution) as failed:
            await on.call("ext__hostile__reach")
        assert failed.value.code == "sandbox-missing"


@needs_bubblewrap
async def test_a_program_does_not_write_the_policy_in_a_folder_of_its_own(tmp_path: Path) -> None:
    code = f"""
def call(tool, input):
    found = []
    for name in ("rules/global.policy", "rules/placet.toml", "work/x"):
        try:
            open("{tmp_path}/" + name, "a").close()
            found.append(name)
        except OSError:
            pass
    return found
"""
    folder = program(tmp_path, code, access={"writes": ["*"]})
    more = f'[plugins.hostile.sandbox]\nwrites = ["{tmp_path}"]\n'
    async with running(tmp_path, table(folder, more=more), confined=True) as on:
        assert await on.call("ext__hostile__t") == ["work/x"]


@needs_landlock
async def test_a_driver_that_cannot_keep_a_bound_starts_nothing(tmp_path: Path) -> None:
    at = folders(tmp_path)
    (Path(at["a"]) / "keys").mkdir()
    more = f'{granted(at)}driver = "landlock"\n'
    tables = table(program(tmp_path, TRIES, access=ALL), more=more)
    rules = policy(f'allow ext hostile/*\nkeys: deny * when reads "{at["a"]}/keys/**"')
    async with running(tmp_path, tables, confined=True, policy=rules) as on:
        for _ in range(2):  # also while it pauses
            with pytest.raises(Execution) as failed:
                await on.call("ext__hostile__t")
            assert failed.value.code == "sandbox-missing"


@needs_bubblewrap
async def test_rules_are_told_the_driver_that_runs(tmp_path: Path) -> None:
    code = "def call(tool, input): return 1"
    rules = policy('a: allow ext hostile/* when sandbox.tier == "bubblewrap"')
    more = '[plugins.hostile.sandbox]\ndriver = "best"\n'
    tables = table(program(tmp_path, code, access={}), more=more)
    async with running(tmp_path, tables, confined=True, policy=rules) as on:
        assert await on.call("ext__hostile__t") == 1
