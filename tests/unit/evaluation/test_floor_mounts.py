"""A policy folder that is mounted at a second path is protected there too, with real mounts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_BWRAP = shutil.which("bwrap")
_JUDGED = """
import json, sys
import policy
from policy.environment import Disk
rules, work, *names = sys.argv[1:]
generation = policy.load(rules)
for name in names:
    facts = policy.Facts(cwd=work, workspace=work, resolvers=Disk().resolvers())
    call = policy.ToolCall(tool="file_write", input={"path": name, "content": "x"})
    decision = generation.decide(call, facts=facts)
    print(json.dumps([name, str(decision.verdict), decision.reasons[0].rule]))
"""


def _judged(
    rules: Path, work: Path, *names: str, mounted: dict[Path, Path]
) -> dict[str, list[str]]:
    """Return what a process says of writes in which each key is a mount of its value."""
    assert _BWRAP is not None
    mounts = [word for at, source in mounted.items() for word in ("--bind", str(source), str(at))]
    asked = [sys.executable, "-c", _JUDGED, str(rules), str(work), *names]
    found = subprocess.run(
        [_BWRAP, "--dev-bind", "/", "/", *mounts, *asked],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if found.returncode and found.stderr.startswith("bwrap:"):
        pytest.skip(f"this machine lets nobody mount: {found.stderr.strip()}")
    assert found.returncode == 0, found.stderr
    lines = map(json.loads, found.stdout.splitlines())
    return {name: [verdict, rule] for name, verdict, rule in lines}


@pytest.mark.skipif(_BWRAP is None, reason="needs bwrap, which mounts without privileges")
def test_bind_mounts_of_a_folder_and_of_a_file_are_closed(tmp_path: Path) -> None:
    rules, work = tmp_path / "deep/rules", tmp_path / "work"
    rules.mkdir(parents=True)
    (rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    for name in ("folder", "above"):
        (work / name).mkdir(parents=True)
    (work / "file").write_text("")
    closed = (
        "folder/global.policy",
        "folder/new.policy",
        "folder/agents/new",
        "folder",
        "above/deep/rules/new.policy",
        "above/deep/rules",
        "above/deep",
        "file",
    )
    found = _judged(
        rules,
        work,
        *closed,
        "above/else",
        "else",
        mounted={
            work / "folder": rules,
            work / "above": tmp_path,
            work / "file": rules / "global.policy",
        },
    )
    assert {name: found[name] for name in closed} == {key: ["deny", "floor"] for key in closed}
    assert [found["above/else"][0], found["else"][0]] == ["allow", "allow"]
