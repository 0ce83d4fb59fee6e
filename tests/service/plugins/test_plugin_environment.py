"""What plugins get of the environment: the usual variables, and those that are named for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.model import Execution, Transport
from policy.store import PolicyStore
from tests.service.plugins.running_plugins import module, program, running, table

# Returns the value of `KEY`, as JSON.
CONFIGURED = """(module
  (import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)
  (func (export "key") (result i32) (local $name i64) (local $value i64)
    (local.set $name (call $alloc (i64.const 3)))
    (call $store (local.get $name) (i32.const 75))
    (call $store (i64.add (local.get $name) (i64.const 1)) (i32.const 69))
    (call $store (i64.add (local.get $name) (i64.const 2)) (i32.const 89))
    (local.set $value (call $config (local.get $name)))
    (call $output_set (local.get $value) (call $length (local.get $value)))
    (i32.const 0)))
"""
ENVIRONMENT = "def call(tool, input): return dict(os.environ)"


async def test_a_program_gets_the_variables_that_are_named_for_it_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_THE_SERVICE", "s3cret")
    (tmp_path / "key").write_text("from a file\n")
    named = (
        "[plugins.hostile.env]\n"
        'MODE = "plain"\nTOKEN = { env = "TOKEN_OF_THE_SERVICE" }\n'
        f'KEY = {{ file = "{tmp_path}/key" }}\n'
    )
    async with running(tmp_path, table(program(tmp_path, ENVIRONMENT), more=named)) as on:
        found = await on.call("ext__hostile__t")
        assert {name: found[name] for name in ("MODE", "TOKEN", "KEY")} == {
            "MODE": "plain",
            "TOKEN": "s3cret",
            "KEY": "from a file",
        }
        usual = {"HOME", "LANG", "LC_CTYPE", "PATH", "TMPDIR", "PLACET_CALL", "PWD"}
        assert found.keys() <= usual | {"MODE", "TOKEN", "KEY"}


async def test_a_module_reads_them_as_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBER", "42")
    named = '[plugins.hostile.env]\nKEY = { env = "NUMBER" }\n'
    async with running(tmp_path, table(module(tmp_path, CONFIGURED, "key"), more=named)) as on:
        assert await on.call("ext__hostile__key") == 42
        monkeypatch.delenv("NUMBER")
        with pytest.raises(Transport, match="was not called: the environment variable `NUMBER`"):
            await on.call("ext__hostile__key")


async def test_a_secret_of_a_plugin_is_in_no_error(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret-of-a-file\n")
    named = f'[plugins.hostile.env]\nKEY = {{ file = "{tmp_path}/key" }}\n'
    code = "def call(tool, input): raise ValueError('refused: ' + os.environ['KEY'])"
    async with running(tmp_path, table(program(tmp_path, code), more=named)) as on:
        with pytest.raises(Execution, match=r"refused: \$KEY"):
            await on.call("ext__hostile__t")


@pytest.mark.parametrize("kind", ["program", "module"])
async def test_a_plugin_without_its_secret_does_not_run(tmp_path: Path, kind: str) -> None:
    folder = (
        program(tmp_path, ENVIRONMENT) if kind == "program" else module(tmp_path, CONFIGURED, "key")
    )
    named = '[plugins.hostile.env]\nKEY = { env = "NOT_SET_ANYWHERE" }\n'
    async with running(tmp_path, table(folder, more=named)) as on:
        assert on.problem() == "the environment variable `NOT_SET_ANYWHERE` is not set"


def test_a_secret_is_named_by_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text("policy for every agent\n\ndefault deny\n")
    tables = table(program(tmp_path, ENVIRONMENT))
    for line, problem in (
        ('"BAD NAME" = "x"', "is not the name of an environment variable"),
        ("KEY = { literal = 'x' }", "a secret is named by where it stands"),
    ):
        (tmp_path / "placet.toml").write_text(f"{tables}[plugins.hostile.env]\n{line}\n")
        found = PolicyStore(str(tmp_path)).status.diagnostics
        assert any(problem in one.message for one in found), found
