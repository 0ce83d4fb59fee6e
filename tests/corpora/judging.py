"""Returns the verdict of the whole engine on one call, under a policy given as text.

The policy is built as a folder of one file would be, with the programs' profiles that ship with
Placet; paths are followed on this disk. Each call is decided without any quick way as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from policy.catalog import builtin_catalog, read_listing
from policy.cli.decision_lines import decision_record
from policy.decision import Decision
from policy.environment import DiskLookups
from policy.generation import Builder, Generation, ReadFile, Snapshot
from policy.model import Facts, Resolvers, Verdict
from policy.program import NO_SHORTCUTS

ROWS = Path(__file__).parent
COLLECTED = ROWS.parent / "data" / "corpora"
_ROOT = "/policies"
_FILE = "global.policy"
_CLASSES = {
    "allowed": (Verdict.ALLOW,),
    "denied": (Verdict.DENY,),
    "not allowed": (Verdict.ASK, Verdict.DENY),
}
_LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
_TOOLS = json.loads((ROWS / "tools.json").read_text(encoding="utf-8"))


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a corpus."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield json.loads(line)


@lru_cache(maxsize=512)
def generation(policy: str, *, slow: bool = False) -> Generation:
    """Build a policy; an error of it is an error of the test."""
    file = ReadFile(
        name=_FILE, lexical=f"{_ROOT}/{_FILE}", real=f"{_ROOT}/{_FILE}", content=policy.encode()
    )
    snapshot = Snapshot(
        path=_ROOT,
        root=_ROOT,
        real_root=_ROOT,
        only=None,
        files=MappingProxyType({_FILE: file}),
        unread=MappingProxyType({}),
        digest="sha256:0",
    )
    listed = read_listing(_TOOLS, reviewed=True)
    assert not listed.problems
    catalog = builtin_catalog().with_tools(listed.specs)
    builder = (
        Builder(remembering=False, engine="lark", shortcuts=NO_SHORTCUTS) if slow else Builder()
    )
    built = builder.build(snapshot, catalog=catalog, number=1, now=_LONG_AGO)
    if built.generation is None:
        said = "\n".join(f"{one.code}: {one.message}" for one in built.diagnostics)
        raise AssertionError(f"{policy}\n{said}")
    return built.generation


def judge(
    policy: str,
    tool: str,
    given: Mapping[str, Any],
    *,
    workspace: Path,
    folder: Path | None = None,
    home: Path | None = None,
    hosts: Mapping[str, Sequence[str]] | None = None,
    folds: bool = False,
) -> Decision:
    """Decide one call made in a folder of this disk, as if it folded letter case on demand.

    The call is made in the workspace itself, unless another folder is given.
    """
    facts = facts_in(workspace, folder=folder, home=home, hosts=hosts, folds=folds)
    return judge_by(policy, tool, given, facts)


def facts_in(
    workspace: Path,
    *,
    folder: Path | None = None,
    home: Path | None = None,
    hosts: Mapping[str, Sequence[str]] | None = None,
    folds: bool = False,
) -> Facts:
    """Return the facts of one call, with what it has looked up on the disk."""

    def addresses(name: str) -> tuple[str, ...] | None:
        assert hosts is not None
        return tuple(hosts[name]) if name in hosts else ("192.0.78.1",)

    return Facts(
        cwd=str(folder or workspace),
        workspace=str(workspace),
        home=str(home or workspace.parent / "home"),
        resolvers=Resolvers(
            path=os.path.realpath,
            look=DiskLookups(os.path.realpath).look_up,
            folds=lambda _: folds,
            host=None if hosts is None else addresses,
        ),
    )


def judge_by(policy: str, tool: str, given: Mapping[str, Any], facts: Facts) -> Decision:
    """Decide one call, with and without every quick way."""
    quickly, slowly = (
        generation(policy, slow=slow).answer(tool, dict(given), facts=facts).decision
        for slow in (False, True)
    )
    assert decision_record(None, quickly) == decision_record(None, slowly)
    return quickly


def meets(decision: Decision, wanted: str) -> bool:
    """Tell whether a decision is of the class that a row asks for."""
    return decision.verdict in _CLASSES[wanted]


def lay_down(steps: Sequence[Sequence[str]]) -> None:
    """Make the folders, files and links of a fixture."""
    for kind, path, *target in steps:
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "dir":
                place.mkdir(exist_ok=True)
            case "file":
                place.write_text("x")
            case "link":
                place.symlink_to(target[0])
            case "hardlink":
                place.hardlink_to(target[0])
            case _:
                raise ValueError(f"no kind of file: {kind}")


def filled(value: Any, places: Mapping[str, str]) -> Any:
    """Return a JSON value with the names of places replaced."""
    text = json.dumps(value)
    for name, place in places.items():
        text = text.replace(name, place)
    return json.loads(text)


def told(decision: Decision) -> str:
    """Say what was decided and why, for the message of a failure."""
    reasons = [f"{one.verdict} {one.rule}: {one.undecided}" for one in decision.reasons]
    return f"{decision.verdict}: {'; '.join(reasons)}"
