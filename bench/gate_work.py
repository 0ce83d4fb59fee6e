"""The workloads that the gate counts: what each does, and for how many calls or statements."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import policy
from bench import peers_adapter, verbs_workload, workload
from bench.adapters.base import Adapter
from bench.counting import Counts, counted, counting
from bench.folders import tools_of, write_folder
from bench.subjects import engine
from bench.subjects.enforcing import Empty
from bench.subjects.verbs import Verbs
from policy.admission import RawCall, admit

_REQUESTS = 200
_WARM = 3
_STATEMENTS = (40, 100)
_SERVICE = """policy for every agent

default deny

small: allow count when input.size < 100
"""
_INPUT = {"name": "x", "size": 7}

Counted: TypeAlias = dict[str, float]


def workloads() -> Iterator[tuple[str, Callable[[], Counted]]]:
    """Yield what is counted by name; each is done in the same order every time."""
    for profile, n in (("full", 10), ("full", 1_000), ("skew", 1_000)):
        yield f"a decision, {profile} {n:,}", lambda p=profile, n=n: _deciding("placet", p, n)  # type: ignore[misc]
    yield "a decision, full 1,000, raw call", lambda: _deciding("placet, raw call", "full", 1_000)
    yield "a decision of the floor, full 1,000", lambda: _deciding("floor", "full", 1_000)
    for kind in verbs_workload.KINDS:
        yield f"a decision about {kind}, new", lambda kind=kind: _reading(kind)  # type: ignore[misc]
    yield "admission", _admitting
    yield "a statement, read, checked and loaded", _loading
    yield "one rule edited among 100, reloaded", _editing
    yield "a call through all layers", _calling
    yield "modules of `placet decide`", _importing


# ------------------------------------------------------------------ decisions


def _deciding(name: str, profile: str, n: int) -> Counted:
    asked: Adapter = engine(name)
    asked.tools = [tool for tool, _ in workload.universe(n, profile)]
    asked.load(asked.translate(workload.make_rules(n, profile=profile)))
    known = set(asked.tools)
    found = [r for r in workload.make_requests(n, profile=profile) if r["tool"] in known]
    return _repeated(asked.decide, found[:_REQUESTS])


def _reading(kind: str) -> Counted:
    subject = Verbs(n=100, plain=False)
    # The first calls compile, and read the profiles of the programs; later ones are as new.
    for call in subject.kept[kind]:
        subject.decided(call)
    for call in islice(subject.fresh[kind], _REQUESTS):
        subject.decided(call)
    new = list(islice(subject.fresh[kind], _REQUESTS))
    return counted(lambda: [subject.decided(call) for call in new]).per(len(new))


def _admitting() -> Counted:
    catalog = peers_adapter.catalog_of(tools_of(100))
    raw = [RawCall(tool=r["tool"], input=r["args"]) for r in workload.make_requests(100)]
    calls = [call for call in raw if catalog.get(call.tool)][:_REQUESTS]
    return _repeated(lambda call: admit(call, catalog), calls)


def _repeated(do: Callable[[Any], Any], items: list[Any]) -> Counted:
    for _ in range(_WARM):
        for item in items:
            do(item)
    return counted(lambda: [do(item) for item in items]).per(len(items))


# ------------------------------------------------------------------ loading


def _loading() -> Counted:
    """Return what one statement more takes: a large set less a small one, of other statements."""
    few, many = _STATEMENTS
    catalog = peers_adapter.catalog_of(tools_of(many))
    with tempfile.TemporaryDirectory() as folder:
        counts = []
        for seed, n in ((1, few), (2, few), (3, many)):
            place = Path(folder, str(seed))
            rules = _of(many, workload.make_rules(n, seed=seed))
            write_folder(place, rules, files=1)
            counts.append(counted(lambda place=place: policy.load(place, catalog=catalog)))  # type: ignore[misc]
    _, small, large = counts
    more = Counts(opcodes=large.opcodes - small.opcodes, calls=large.calls - small.calls)
    return more.per(many - few)


def _of(n: int, rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rules about tools that there are for n rules."""
    known = tools_of(n)
    return [
        {**rule, "tool": {"exact": known[place % len(known)]}} if "exact" in rule["tool"] else rule
        for place, rule in enumerate(rules)
    ]


def _editing() -> Counted:
    n = 100
    rules = workload.make_rules(n)
    with tempfile.TemporaryDirectory() as folder:
        (file,) = write_folder(Path(folder), rules, files=1)
        # Edits are compared by another process, for which this one only waits.
        Path(folder, "placet.toml").write_text('[reload]\nloosening = "allow"\n')
        store = policy.PolicyStore(folder, catalog=peers_adapter.catalog_of(tools_of(n)))
        assert store.current is not None, store.status.because
        counts = Counts()
        for number in range(3):
            rules[n // 2] = {**rules[n // 2], "roles": [f"nobody-{number}"]}
            write_folder(Path(folder), rules, files=1)
            counts = counted(store.reload)
            assert store.current.id.number == number + 2
        assert file.exists()
    return counts.per(1)


# ------------------------------------------------------------------ around a call


def _calling() -> Counted:
    handler = Empty("count", complete=True)
    catalog = policy.builtin_catalog().with_tools([handler.spec])
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bench.policy").write_text(_SERVICE)
        store = policy.PolicyStore(folder, catalog=catalog)
    service = policy.build_tool_service(store, tools=[handler])

    async def called() -> Counted:
        for _ in range(_WARM * _REQUESTS):
            await service.execute("count", _INPUT)
        with counting() as counts:
            for _ in range(_REQUESTS):
                await service.execute("count", _INPUT)
        return counts.per(_REQUESTS)

    return asyncio.run(called())


def _importing() -> Counted:
    """Return how many modules a whole `placet decide` imports: ours, and all."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bench.policy").write_text(_SERVICE)
        command = [sys.executable, "-X", "importtime", "-m", "policy", "decide"]
        command += [str(Path(folder, "bench.policy")), "--call", os.devnull]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert not ended.returncode, ended.stderr[-2000:]
    names = [line.rpartition("|")[2].strip() for line in ended.stderr.splitlines() if "|" in line]
    ours = [name for name in names if name.partition(".")[0] == "policy"]
    return {"modules of ours": float(len(ours)), "modules": float(len(names) - 1)}
