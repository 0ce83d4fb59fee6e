"""What a call of a plugin costs beside the bare library: `python -m bench.plugins`, half a minute.

A module is called by Extism itself, in an instance that is kept, and in one of its own for each
call, as Placet does; a program in Node.js answers JSON-RPC over its streams, read and written
without anything around it. The sample plugins are called through the code that runs them, and
through a whole service, which also decides what each call may do. Starts are shown beside each
other, too: that of a service includes reading the plugin's files and building its policy again. Of
each subject the fastest tenth counts, since threads and processes wait for a core on a machine that
is not quiet. The exit status is 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Protocol

import extism
from extism.extism import CompiledPlugin

from policy.plugins import configured_plugins, read_plugin
from policy.service import GovernedService, build_tool_service
from policy.store import PolicyStore
from policy.tools import ExecutionContext

_SAMPLES = Path(__file__).parents[1] / "docs" / "samples"
_MASK, _NOTES = _SAMPLES / "mask", _SAMPLES / "notes"
_MASK_TOOL, _NOTES_TOOL = "ext__mask__mask_digits", "ext__notes__search"
_RULES = "policy for every agent\n\ndefault deny\n\nallow ext mask/*, ext notes/*\n"
_INPUT: Mapping[str, Any] = {"text": "a 12 b"}
_KEPT, _FRESH = "Extism, a kept instance", "Extism, an instance for each call"
_MODULE, _NODE, _PROGRAM = "module", "Node.js, JSON-RPC", "program"
_BY_SERVICE = {_MODULE: "module, by a service", _PROGRAM: "program, by a service"}
_COMPILED, _LOADED = "Extism, loading", "module, started by a service"
_SPAWNED, _STARTED = "Node.js, to its first answer", "program, started by a service"
# What may be how many times as long as what.
_GOALS = (
    (_MODULE, _FRESH, 3.0),
    (_PROGRAM, _NODE, 3.0),
    (_BY_SERVICE[_MODULE], _FRESH, 4.0),
    (_BY_SERVICE[_PROGRAM], _NODE, 4.0),
)
_SHOWN = (
    (_LOADED, _COMPILED),
    (_STARTED, _SPAWNED),
)


class _Call(Protocol):
    async def __call__(self) -> None: ...


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.plugins", description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        taken = asyncio.run(_measured(Path(folder), rounds))
    print("| | ms |\n|---|--:|")
    for name, nanoseconds in taken.items():
        print(f"| {name} | {nanoseconds / 1e6:.2f} |")
    missed = False
    for name, against, most in _GOALS:
        ratio = taken[name] / taken[against]
        missed |= ratio > most
        verdict = "missed" if ratio > most else "met"
        print(f"{name}: {ratio:.2f} × {against}, at most {most:g}: {verdict}")
    for name, against in _SHOWN:
        print(f"{name}: {taken[name] / taken[against]:.2f} × {against}")
    return 1 if missed else 0


async def _measured(folder: Path, rounds: int) -> dict[str, float]:
    notes = folder / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("a 12 b\n")
    wat = (_MASK / "mask.wat").read_bytes()
    kept = extism.Plugin(CompiledPlugin({"wasm": [{"data": wat}]}, functions=[]))
    compiled = CompiledPlugin({"wasm": [{"data": wat}]}, wasi=True, functions=[])
    text = json.dumps(_INPUT).encode()

    async def by_kept() -> None:
        kept.call("mask_digits", text)

    async def by_fresh() -> None:
        with extism.Plugin(compiled) as instance:
            instance.call("mask_digits", text)

    async def loading() -> None:
        CompiledPlugin({"wasm": [{"data": wat}]}, wasi=True, functions=[])

    async def spawning() -> None:
        with _node(notes):
            pass

    async with _serving(folder, notes) as service:

        def by_service(tool: str) -> _Call:
            async def called() -> None:
                await service.execute(tool, dict(_INPUT))

            return called

        def alone(tool: str) -> _Call:
            handler, context = service.registry.snapshot()[tool].handler, ExecutionContext()

            async def called() -> None:
                await handler.invoke(dict(_INPUT), context)

            return called

        with _node(notes) as node:

            async def by_node() -> None:
                node.call()

            calls = {
                _KEPT: by_kept,
                _FRESH: by_fresh,
                _MODULE: alone(_MASK_TOOL),
                _BY_SERVICE[_MODULE]: by_service(_MASK_TOOL),
                _NODE: by_node,
                _PROGRAM: alone(_NOTES_TOOL),
                _BY_SERVICE[_PROGRAM]: by_service(_NOTES_TOOL),
            }
            taken = await _taken(calls, rounds)
    few = max(3, rounds // 30)

    async def starting(sample: Path) -> None:
        place = folder / f"of-{sample.name}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        async with _serving(place, notes, samples=(sample,)):
            pass

    async def nothing() -> None:
        place = folder / "of-nothing"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        async with _serving(place, notes, samples=()):
            pass

    starts = {
        _COMPILED: loading,
        "nothing": nothing,
        _LOADED: lambda: starting(_MASK),
        _SPAWNED: spawning,
        _STARTED: lambda: starting(_NOTES),
    }
    started = await _taken(starts, few)
    # A service without plugins is not what is asked about.
    empty = started.pop("nothing")
    return {**taken, **started, **{n: started[n] - empty for n in (_LOADED, _STARTED)}}


class _Node:
    """The sample's program, spoken to without anything around it."""

    def __init__(self, notes: Path) -> None:
        node = shutil.which("node") or "node"
        self._process = subprocess.Popen(
            (node, str(_NOTES / "main.js")), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._ask("initialize", {"access": {"reads": [str(notes)]}})

    def __enter__(self) -> _Node:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.kill()
        self._process.communicate()

    def call(self) -> None:
        """Call the tool, and read its answer."""
        self._ask("call", {"tool": "search", "input": dict(_INPUT)})

    def _ask(self, method: str, params: Mapping[str, Any]) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        stdin.write(json.dumps(message).encode() + b"\n")
        stdin.flush()
        json.loads(stdout.readline())


def _node(notes: Path) -> _Node:
    return _Node(notes)


@asynccontextmanager
async def _serving(
    folder: Path, notes: Path, *, samples: tuple[Path, ...] = (_MASK, _NOTES)
) -> AsyncIterator[GovernedService]:
    """Serve the samples; what they need is granted."""
    rules, work = folder / "rules", folder / "work"
    rules.mkdir()
    work.mkdir()
    (rules / "global.policy").write_text(_RULES)
    tables = [
        f'[plugins.{sample.name}]\npath = "{sample}"\ndigest = "{read_plugin(sample).digest}"\n'
        'grant = ["tool:*"]\n'
        + (f'[plugins.notes.sandbox]\nreads = ["{notes}"]\n' if sample == _NOTES else "")
        for sample in samples
    ]
    (rules / "placet.toml").write_text("".join(tables))
    store = PolicyStore(str(rules))
    service = build_tool_service(store, workspace=str(work), tools=[])
    async with configured_plugins(service, store) as plugins:
        problems = [one.problem for one in plugins.report().values() if one.problem]
        if problems:
            raise RuntimeError(problems[0])
        yield service


async def _taken(subjects: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the fastest tenth of each subject, in nanoseconds; they take turns."""
    found: dict[str, list[int]] = {name: [] for name in subjects}
    for number in range(rounds + 2):
        for name, subject in subjects.items():
            began = perf_counter_ns()
            await subject()
            if number >= 2:
                found[name].append(perf_counter_ns() - began)
    return {name: sorted(times)[len(times) // 10] for name, times in found.items()}


if __name__ == "__main__":
    raise SystemExit(main())
