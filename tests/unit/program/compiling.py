"""Compiles policies given as text, and decides calls with the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from policy.catalog import Catalog, builtin_catalog, read_listing
from policy.checks import CheckedPolicy
from policy.decision import Answer, answer
from policy.evaluation import Floor
from policy.generation import shipped_profiles
from policy.layers import merge
from policy.model import Caller, Facts
from policy.program import Program, compile_policy
from tests.unit.checks.checking import checked

ANN = Caller(agent="ann")
_NO_FLOOR = Floor()
HERE = Facts(workspace="/workspace", home="/home/user")
_LISTED = Path(__file__).resolve().parents[2] / "cases" / "tools.json"


@lru_cache(maxsize=1)
def tools() -> Catalog:
    """Return the built-in tools and those of the golden cases."""
    listed = read_listing(json.loads(_LISTED.read_text(encoding="utf-8")), reviewed=True)
    return builtin_catalog().with_tools(listed.specs)


def layers(files: Mapping[str, str] | str) -> tuple[CheckedPolicy, ...]:
    """Return the checked layers of files, or of the body of the global one; none may be wrong."""
    named = {"global.policy": f"policy for every agent\n{files}\n"}
    found = checked(named if isinstance(files, str) else files, catalog=tools())
    assert [d for d in found.diagnostics if d.severity == "error"] == []
    return found.policies


def program(files: Mapping[str, str] | str, *, floor: Floor = _NO_FLOOR) -> Program:
    """Return the program of policy files, or of the body of the global one."""
    merged = merge(layers(files), tools())
    assert [d for d in merged.diagnostics if d.severity == "error"] == []
    return compile_policy(merged.policy, tools(), floor=floor, profiles=shipped_profiles())


def ask(
    asked: Program,
    tool: str,
    input: object = None,
    *,
    caller: Caller = ANN,
    facts: Facts = HERE,
) -> Answer:
    """Return the answer to one call of a known agent in `/workspace`."""
    return answer(asked, tool, {} if input is None else input, caller, facts)


def verdict(asked: Program, tool: str, input: object = None, **more: Any) -> str:
    """Return only the verdict."""
    return str(ask(asked, tool, input, **more).decision.verdict)
