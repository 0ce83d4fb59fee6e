"""Plugins that Placet runs: as they were reviewed, as far as they are granted, within bounds."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from policy.capabilities import PluginRefused
from policy.model import Caller, Execution, NotFound, Timeout, Transport
from policy.plugins import read_plugin
from tests.service.plugins.running_plugins import (
    SAMPLES,
    module,
    needs_node,
    program,
    running,
    table,
)
from tests.waiting import until


@needs_node
async def test_a_program_searches_the_folders_that_it_was_granted(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("milk\nbread and milk\n")
    reads = f'[plugins.notes.sandbox]\nreads = ["{notes}"]'
    async with running(tmp_path, table(SAMPLES / "notes", more=reads), confined=True) as on:
        assert await on.call("ext__notes__search", text="bread") == {
            "found": [{"file": "a.md", "line": 2, "text": "bread and milk"}]
        }


async def test_a_module_masks_digits(tmp_path: Path) -> None:
    async with running(tmp_path, table(SAMPLES / "mask")) as on:
        masked = await on.call("ext__mask__mask_digits", text='a 12 \x1f "3" \\4 é')
        assert masked == {"text": 'a ## \x1f "#" \\# é'}


async def test_files_that_were_not_reviewed_do_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "mask"
    shutil.copytree(SAMPLES / "mask", folder)
    reviewed = table(folder)
    (folder / "more.txt").write_text("x")
    async with running(tmp_path, reviewed) as on:
        assert "its files are not those that were reviewed" in on.problem("mask")
        with pytest.raises(NotFound):
            await on.call("ext__mask__mask_digits", text="1")
        await on.edit(table(folder))
        assert await on.call("ext__mask__mask_digits", text="1") == {"text": "#"}
        await on.edit("")
        assert on.plugins.report() == {}
        with pytest.raises(NotFound):
            await on.call("ext__mask__mask_digits", text="1")


async def test_what_runs_is_what_was_read(tmp_path: Path) -> None:
    folder = program(tmp_path, "def call(tool, input): return 'reviewed'")
    async with running(tmp_path, table(folder)) as on:
        (folder / "main.py").write_text("raise SystemExit('swapped')")
        assert await on.call("ext__hostile__t") == "reviewed"


async def test_a_grant_is_read_again_without_a_restart(tmp_path: Path) -> None:
    folder = program(tmp_path, "def call(tool, input): return os.getpid()", a={}, b={})
    async with running(tmp_path, table(folder, grant='["tool:a"]')) as on:
        pid = await on.call("ext__hostile__a")
        with pytest.raises(NotFound):
            await on.call("ext__hostile__b")
        await on.edit(table(folder))
        assert await on.call("ext__hostile__b") == await on.call("ext__hostile__a") == pid


async def test_each_session_has_a_process_of_its_own(tmp_path: Path) -> None:
    code = "seen = []\ndef call(tool, input): seen.append(1); return len(seen)"
    async with running(tmp_path, table(program(tmp_path, code))) as on:
        assert [await on.call("ext__hostile__t") for _ in range(2)] == [1, 2]
        other = on.service.bound_to(Caller(session="other"))
        assert (await other.execute("ext__hostile__t", {})).value == 1


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("tools = {}", "lacks the tool `t` of its manifest"),
        (
            "tools = {'t': {'type': 'object', 'minProperties': 1}}",
            "the input schema of `t` differs",
        ),
        ("tools['u'] = {}", "has tools that are not in its manifest"),
        ("tools = 1", "does not list its tools"),
        ("def initialize(params): return {'protocol': 2}", "does not speak version 1"),
        ("sys.exit('no \\x1b[31mlicence')", "it has ended; it wrote: no \\u{1b}[31mlicence"),
    ],
)
async def test_a_program_that_is_not_as_its_manifest_says_does_not_run(
    tmp_path: Path, code: str, problem: str
) -> None:
    async with running(tmp_path, table(program(tmp_path, code))) as on:
        assert problem in on.problem()
        with pytest.raises(NotFound):
            await on.call("ext__hostile__t")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("os._exit(3)", "it has ended"),
        ("os.close(1); time.sleep(0.1); sys.exit('sorry')", "it has ended; it wrote: sorry"),
        ("print('x' * 2**21, flush=True)", "a message of more than 1,048,576 bytes"),
        ("answer(2, result=[{}] * 30_000); time.sleep(60)", "a message of more than 20,000 values"),
        ("while True: print('{}', flush=True)", "it writes what answers no call"),
        ("answer(10**6, result=1); time.sleep(60)", "it has answered what it was not asked"),
        ("answer('2', result=1); time.sleep(60)", "answered with an id that is no integer"),
        ("answer(2.0, result=1); time.sleep(60)", "answered with an id that is no integer"),
        ("print('garbage', flush=True); time.sleep(60)", "cannot be read: not JSON"),
        ("print('[' * 10**4, flush=True); time.sleep(60)", "cannot be read: nested too deeply"),
        ("answer(2, result=1, error={}); time.sleep(60)", "neither a result nor an error"),
    ],
    ids=[
        "crash",
        "last words",
        "long line",
        "many values",
        "flood",
        "wrong id",
        "id as text",
        "id as float",
        "garbage",
        "deep",
        "both",
    ],
)
async def test_a_program_that_misbehaves_is_ended_and_started_again(
    tmp_path: Path, code: str, problem: str
) -> None:
    full = f"def call(tool, input):\n if input.get('bad'): {code}\n return 'fine'"
    full = full.replace(f": {code}", f":\n  {code}")
    async with running(tmp_path, table(program(tmp_path, full))) as on:
        with pytest.raises(Transport, match="the call may have run") as failed:
            await on.call("ext__hostile__t", bad=True)
        assert problem in failed.value.message
        assert await on.call("ext__hostile__t") == "fine"


async def test_a_program_that_goes_on_with_a_cancelled_call_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.plugins.json_rpc._GRACE", 0.1)
    begun = tmp_path / "begun"
    code = (
        "def call(tool, input):\n"
        f" if input.get('long'): open({str(begun)!r}, 'w').close(); time.sleep(3600)\n"
        " return os.getpid()"
    )
    async with running(tmp_path, table(program(tmp_path, code))) as on:
        pid = await on.call("ext__hostile__t")
        call = asyncio.create_task(on.call("ext__hostile__t", long=True))
        await until(begun.exists)
        call.cancel()
        with suppress(Transport):  # it waits behind the one that is cancelled
            await on.call("ext__hostile__t")
        assert await on.call("ext__hostile__t") != pid
        assert call.cancelled()


async def test_an_error_is_told_with_its_controls_made_visible(tmp_path: Path) -> None:
    code = "def call(tool, input): return 1\n_answer = answer\n" + (
        "def answer(id, **what):\n"
        " _answer(id, **(what if id == 1 else {'error': {'message': 'no \\x1b[31mred'}}))"
    )
    async with running(tmp_path, table(program(tmp_path, code))) as on:
        with pytest.raises(Execution, match=r"ext__hostile__t failed: no \\u\{1b\}\[31mred"):
            await on.call("ext__hostile__t")


HOSTILE = """(module
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (memory (export "memory") 1)
  (global $calls (mut i32) (i32.const 48))
  (func (export "spin") (result i32) (loop $again (br $again)) (i32.const 0))
  (func (export "grow") (result i32)
    (loop $again (drop (memory.grow (i32.const 16))) (br $again)) (i32.const 0))
  (func (export "crash") (result i32) (unreachable))
  (func (export "garbage") (result i32)
    (local $p i64) (local.set $p (call $alloc (i64.const 4)))
    (call $output_set (local.get $p) (i64.const 4)) (i32.const 0))
  (func (export "flood") (result i32)
    (local $p i64) (local.set $p (call $alloc (i64.const 2000000)))
    (call $output_set (local.get $p) (i64.const 2000000)) (i32.const 0))
  (func (export "fail") (result i32) (i32.const 7))
  (func (export "count") (result i32)
    (local $p i64) (local.set $p (call $alloc (i64.const 1)))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (call $store (local.get $p) (global.get $calls))
    (call $output_set (local.get $p) (i64.const 1)) (i32.const 0)))
"""
FUNCTIONS = ("spin", "grow", "crash", "garbage", "flood", "fail", "count")


async def test_a_hostile_module_is_stopped_and_leaves_nothing(tmp_path: Path) -> None:
    limits = "fuel = 100000000\n[plugins.hostile.sandbox.limits]\nmemory = 4000000\n"
    async with running(tmp_path, table(module(tmp_path, HOSTILE, *FUNCTIONS), more=limits)) as on:
        for tool, why in (
            ("spin", "ran out of fuel"),
            ("grow", "oom"),
            ("crash", "error while executing"),
            ("garbage", "its output is not JSON"),
            ("flood", "more than 1,048,576 bytes"),
            ("fail", "Error code: 7|failed"),
        ):
            with pytest.raises(Execution, match=why):
                await on.call(f"ext__hostile__{tool}")
        # Each call has its own instance.
        assert [await on.call("ext__hostile__count") for _ in range(3)] == [1, 1, 1]


async def test_a_module_ends_with_the_time_of_its_call(tmp_path: Path) -> None:
    folder = module(tmp_path, HOSTILE, *FUNCTIONS)
    endless = f"fuel = {10**15}\n" + '[tools.ext__hostile__spin]\ntimeout = "100ms"\n'
    async with running(tmp_path, table(folder, more=endless)) as on:
        for _ in range(20):  # more than there are threads for it
            with pytest.raises(Timeout):
                await on.call("ext__hostile__spin")
        assert await on.call("ext__hostile__count") == 1


@pytest.mark.parametrize(
    ("wat", "problem"),
    [
        ("(module)", "exports no function `spin`"),
        ("(modul", "the module cannot be used"),
        ('(module (import "env" "x" (func)))', "the module cannot be used"),
    ],
)
async def test_a_module_that_cannot_be_used_does_not_run(
    tmp_path: Path, wat: str, problem: str
) -> None:
    async with running(tmp_path, table(module(tmp_path, wat, "spin"))) as on:
        assert problem in on.problem()


@needs_node
async def test_a_program_reaches_its_own_files_and_what_was_granted_alone(tmp_path: Path) -> None:
    folder = program(tmp_path, "")
    secret = tmp_path / "secret.txt"
    secret.write_text("x")
    manifest = json.loads((folder / "plugin.json").read_text())
    manifest["runtime"]["command"] = ["node", "main.js"]
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "main.js").write_text(
        """
const fs = require("fs"), net = require("net");
const tries = (what) => { try { what(); return true } catch { return false } };
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = method === "initialize"
    ? { protocol: 1, tools: { t: { type: "object", additionalProperties: true } } }
    : { own: tries(() => fs.readFileSync("plugin.json")),
        changed: tries(() => fs.writeFileSync("plugin.json", "{}")),
        secret: tries(() => fs.readFileSync(params.input.secret)),
        parent: process.ppid > 3 };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});
"""
    )
    async with running(tmp_path, table(folder), confined=True) as on:
        reached = await on.call("ext__hostile__t", secret=str(secret))
        assert reached == {"own": True, "changed": False, "secret": False, "parent": False}


async def test_a_plugin_of_another_name_or_without_a_runtime_does_not_run(tmp_path: Path) -> None:
    other = table(SAMPLES / "mask").replace("[plugins.mask]", "[plugins.hostile]")
    async with running(tmp_path, other) as on:
        assert on.problem() == "it is `mask` by its manifest, not `hostile`"
        folder = tmp_path / "hostile"
        folder.mkdir()
        (folder / "plugin.json").write_text('{"id": "hostile", "version": "1"}')
        await on.edit(table(folder))
        assert "has no `runtime`" in on.problem()
        shutil.rmtree(folder)
        await on.edit(other.replace('mask"', 'gone"'))
        assert "cannot be read" in on.problem()


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    folder = program(tmp_path, "")
    before = read_plugin(folder).digest
    (folder / "inside").symlink_to("main.py")
    assert read_plugin(folder).digest != before
    (folder / "outside").symlink_to("../secret")
    with pytest.raises(PluginRefused, match="outside is a link that leads out of the folder"):
        read_plugin(folder)
