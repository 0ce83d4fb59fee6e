"""What a path that a tool declares stands for, by what is on the disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import policy
from policy.environment import Disk
from policy.model import Resolvers

_RULES = """\
policy for every agent

default deny
DECLARED and nothing else
keys: deny t when reads "**/.env" or writes "**/.env"
in: allow t when reads only ["WS/sub/**", "WS/a.txt", "WS/links", "WS/new"] and writes only ["WS/sub/**", "WS/a.txt", "WS/links", "WS/new"]
"""  # noqa: E501
_TOOL = {"name": "t", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("ws")))
    for name in ("sub/keys/.env", "sub/clean/b.txt", "a.txt", "links/a"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / "sub/clean/empty").mkdir()
    (folder / "to-keys").symlink_to("sub/keys")
    return folder


def verdict(workspace: Path, folder: Path, declared: str, path: str, *, seen: bool = True) -> str:
    (folder / "global.policy").write_text(
        _RULES.replace("DECLARED", f"tool t {declared} input.path").replace("WS", str(workspace))
    )
    (folder / "tools.json").write_text(json.dumps([_TOOL]))
    (folder / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')
    resolvers = Disk().resolvers() if seen else Resolvers()
    facts = policy.Facts(cwd=str(workspace), workspace=str(workspace), resolvers=resolvers)
    call = policy.ToolCall(tool="t", input={"path": path})
    decision = policy.load(folder).decide(call, facts=facts)
    rules = [reason.rule for reason in decision.reasons]
    return f"{decision.verdict.value} by {'keys' if 'keys' in rules else rules[0]}"


@pytest.mark.parametrize("verb", ["reads", "writes"])
@pytest.mark.parametrize(
    ("extent", "path", "expected"),
    [
        ("", "sub/keys", "deny by keys"),
        ("", "sub", "deny by keys"),
        ("", ".", "deny by keys"),
        ("", "to-keys", "deny by keys"),
        ("", "sub/clean", "allow by in"),
        ("", "sub/clean/b.txt", "allow by in"),
        ("", "sub/clean/new.txt", "allow by in"),
        ("", "a.txt", "allow by in"),
        ("", "new", "allow by in"),
        # The set has the folder itself, and not what is below.
        ("", "links", "deny by default"),
        (" file", "links", "allow by in"),
        (" file", "sub", "allow by in"),
        (" tree", "sub", "deny by keys"),
        (" tree", "sub/clean", "allow by in"),
        (" tree", "new", "deny by default"),
    ],
)
def test_a_folder_is_meant_with_all_below_it_unless_it_is_declared(
    workspace: Path, tmp_path: Path, verb: str, extent: str, path: str, expected: str
) -> None:
    assert verdict(workspace, tmp_path, f"{verb}{extent}", path) == expected


@pytest.mark.parametrize(
    ("declared", "path", "expected"),
    [
        ("lists", "sub/keys", "allow by in"),
        ("lists tree", "sub", "allow by in"),
        ("lists tree", "links", "deny by default"),
        ("lists", "links", "allow by in"),
    ],
)
def test_a_listing_reads_names_alone(
    workspace: Path, tmp_path: Path, declared: str, path: str, expected: str
) -> None:
    assert verdict(workspace, tmp_path, declared, path) == expected


def test_without_a_view_of_the_disk_a_path_is_judged_as_written(
    workspace: Path, tmp_path: Path
) -> None:
    assert verdict(workspace, tmp_path, "reads", "sub", seen=False) == "allow by in"
    assert verdict(workspace, tmp_path, "reads tree", "links", seen=False) == "deny by default"
