"""Programs that do what they should not: each ends with an error that says so, and others go on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from policy.model import Caller, Execution, Timeout, ToolError, Transport
from policy.sandbox import counts_processes
from tests.service.plugins.running_plugins import program, running, table
from tests.unit.sandbox.confining import needs_bubblewrap
from tests.waiting import until

pytestmark = needs_bubblewrap

# Nothing else runs for so long.
_LONG = "3607.125"
HOSTILE = f"""
import subprocess
def call(tool, input):
    if tool == "spin":
        while True: pass
    if tool == "grow":
        return len("x" * 2**40)
    if tool == "shout":
        for _ in range(1000): print("x" * 10_000, file=sys.stderr)
        return "said"
    if tool == "leave":
        subprocess.Popen(["sleep", "{_LONG}"], start_new_session=True)
        return "left"
    if tool == "fork":
        for _ in range(1000): subprocess.Popen(["sleep", "{_LONG}"])
    if tool == "write":
        open(input["file"], "w")
    if tool == "change":
        open("main.py", "a")
    if tool == "die":
        os.kill(os.getpid(), 9)
    return "fine"
"""
TOOLS = ("spin", "grow", "shout", "leave", "fork", "write", "change", "die", "good")
LIMITS = "[plugins.hostile.sandbox.limits]\nmemory = 1_000_000_000\n"


def left_over() -> list[str]:
    """Return the processes that the program has left."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [file.parent.name] if _LONG.encode() in file.read_bytes() else []
        except OSError:
            continue
    return found


async def test_a_freeze_that_cancels_ends_what_a_program_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tools: dict[str, dict[str, object]] = {name: {} for name in ("leave", "good")}
    folder = program(tmp_path, HOSTILE, access={}, **tools)
    async with running(tmp_path, table(folder, more=LIMITS), confined=True) as on:
        assert await on.call("ext__hostile__leave") == "left"
        await until(left_over)
        # A tool that goes on keeps its process.
        await on.service.freeze(["ext hostile/leave"], because="stop", cancel=True)
        await on.plugins.end_frozen()
        assert left_over()
        await on.service.freeze(["ext *"], because="stop", cancel=True)
        await until(lambda: not left_over())
        await on.service.unfreeze()
        assert await on.call("ext__hostile__good") == "fine"


async def test_a_hostile_program_fails_its_own_calls_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.plugins.json_rpc._GRACE", 0.2)
    tools: dict[str, dict[str, object]] = {name: {} for name in TOOLS}
    folder = program(tmp_path, HOSTILE, access={}, **tools)
    more = f'{LIMITS}[tools.ext__hostile__spin]\ntimeout = "1s"\n'
    async with running(tmp_path, table(folder, more=more), confined=True) as on:
        # What it starts, it starts in its own sandbox, and that ends with it.
        assert await on.call("ext__hostile__leave") == "left"
        await until(left_over)  # its arguments show a moment after it was started
        assert await on.call("ext__hostile__shout") == "said"
        with pytest.raises(Execution) as failed:
            await on.call("ext__hostile__write", file="/usr/lib/hostile")
        assert failed.value.code == on.records.records[-1].code == "denied-by-sandbox"
        assert [one.target for one in on.records.records[-1].denied] == ["/usr/lib/hostile"]
        assert (
            "Likely, the sandbox does not let this plugin write /usr/lib/hostile;"
            in failed.value.message
        )
        with pytest.raises(Execution, match=r"Permission denied|Read-only"):
            await on.call("ext__hostile__change")
        for tool, why in (("grow", "MemoryError"), ("die", "it has ended")):
            with pytest.raises(ToolError, match=why):
                await on.call(f"ext__hostile__{tool}")
            assert await on.call("ext__hostile__good") == "fine"
        assert on.records.records[-1].sandbox == "bubblewrap"
        with pytest.raises(Timeout):
            await on.call("ext__hostile__spin")
        # It goes on for two seconds at most, and keeps only its own session from calls meanwhile.
        with pytest.raises(Transport, match="it went on with a call that was cancelled"):
            await on.call("ext__hostile__good")
        other = on.service.bound_to(Caller(session="other"))
        assert (await other.execute("ext__hostile__good", {})).value == "fine"
        assert left_over() == []


@pytest.mark.skipif(not counts_processes(), reason="there is no control group for processes")
async def test_a_program_starts_as_many_processes_as_it_may(tmp_path: Path) -> None:
    folder = program(tmp_path, HOSTILE, access={}, fork={}, good={})
    more = "[plugins.hostile.sandbox.limits]\nprocesses = 20\n"
    async with running(tmp_path, table(folder, more=more), confined=True) as on:
        with pytest.raises(Execution, match="Resource temporarily unavailable"):
            await on.call("ext__hostile__fork")
        assert await on.call("ext__hostile__good") == "fine"
    assert left_over() == []


async def test_a_plugin_starts_anew_when_somebody_replaces_what_its_sandbox_protects(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    config = data / ".git" / "config"
    config.parent.mkdir(parents=True)
    config.write_text("old")
    code = f"""
import time
def call(tool, input):
    if tool == "wait":
        open("{data}/started", "w")
        time.sleep(20)
    return open("{config}").read()
"""
    folder = program(tmp_path, code, access={"writes": ["*"]}, wait={}, good={})
    granted = f'[plugins.hostile.sandbox]\nwrites = ["{data}"]\n'
    async with running(tmp_path, table(folder, more=granted), confined=True) as on:
        waiting = asyncio.create_task(on.call("ext__hostile__wait"))
        await until((data / "started").exists)
        (data / "saved").write_text("new")
        (data / "saved").replace(config)
        with pytest.raises(Transport, match="The sandbox has ended this plugin") as failed:
            await waiting
        assert failed.value.code == on.records.records[-1].code == "ended-by-sandbox"
        # The next call goes to a new process, whose sandbox protects the new file.
        assert await on.call("ext__hostile__good") == "new"
