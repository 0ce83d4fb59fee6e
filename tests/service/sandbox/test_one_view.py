"""A path leads to one file, for file tools and for commands in a sandbox, or to none."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore, ToolError
from policy.service import GovernedService, build_tool_service
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock

POLICY = """\
policy for every agent

default deny
allow file_read, file_write, bash_exec
no-keys: deny * when reads "**/key"
"""
# Paths as agents spell them, and who finds a file there: the tool `file_read`, which works in the
# workspace, and a command in a sandbox that may read `data` and `~/configured`, too.
TOOL, COMMAND, BOTH, NEITHER = {"tool"}, {"command"}, {"tool", "command"}, set[str]()
PATHS = {
    "note": BOTH,
    "./sub/../note": BOTH,
    "sub/deep": BOTH,
    "{tmp}/work/note": BOTH,
    "link-inside": BOTH,
    "{tmp}/link-to-work/note": TOOL,
    "link-outside": NEITHER,
    "link-data": COMMAND,
    "../data/d": COMMAND,
    "{tmp}/data/d": COMMAND,
    "~/configured/h": COMMAND,
    "{tmp}/home/configured/h": COMMAND,
    "~/hidden/h": NEITHER,
    "{tmp}/outside": NEITHER,
    "/etc/hosts": COMMAND,
    "missing": NEITHER,
}


def _service(tmp_path: Path, settings: str) -> GovernedService:
    for name in ("work/note", "work/sub/deep", "data/d", "home/configured/h", "home/hidden/h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"this is {name}\n")
    (tmp_path / "outside").write_text("this is outside\n")
    for link, target in (
        ("link-to-work", "work"),
        ("work/link-inside", "sub/deep"),
        ("work/link-outside", "../outside"),
        ("work/link-data", f"{tmp_path}/data/d"),
    ):
        (tmp_path / link).symlink_to(target)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(POLICY)
    (tmp_path / "rules" / "placet.toml").write_text(settings)
    return build_tool_service(
        PolicyStore(tmp_path / "rules"), workspace=tmp_path / "work", home=tmp_path / "home"
    )


def _sandbox(driver: str) -> str:
    return f'[sandbox]\ndriver = "{driver}"\nreads = ["../data", "~/configured"]\n'


async def _read(service: GovernedService, path: str) -> str | None:
    try:
        return str((await service.execute("file_read", {"path": path})).value)
    except ToolError:
        return None


async def _printed(service: GovernedService, paths: list[str]) -> list[str | None]:
    """Return what one confined command finds at some paths."""
    script = "; ".join(
        f"cat {path if path.startswith('~') else shlex.quote(path)} 2>/dev/null || printf '\\001'; "
        "printf '\\002'"
        for path in paths
    )
    found: Any = (await service.execute("bash_exec", {"command": script})).value
    texts = found["stdout"].split("\x02")[:-1]
    return [None if text == "\x01" else text for text in texts]


@pytest.mark.parametrize(
    "driver",
    [
        pytest.param("bubblewrap", marks=needs_bubblewrap),
        pytest.param("landlock", marks=needs_landlock),
    ],
)
async def test_a_path_leads_to_one_file_or_to_none(tmp_path: Path, driver: str) -> None:
    service = _service(tmp_path, _sandbox(driver))
    # Landlock follows all links; bubblewrap makes those alone that are in mounted folders.
    also = {"{tmp}/link-to-work/note": BOTH} if driver == "landlock" else {}
    finding = {path.format(tmp=tmp_path): who for path, who in {**PATHS, **also}.items()}
    printed = await _printed(service, list(finding))
    for (path, who), by_command in zip(finding.items(), printed, strict=True):
        found = {"command": by_command, "tool": await _read(service, path)}
        assert {name for name, text in found.items() if text is not None} == who, path
        place = tmp_path / "work" / path.replace("~", str(tmp_path / "home"))
        assert all(found[name] == place.read_text() for name in who), path


@needs_bubblewrap
async def test_what_one_makes_the_other_finds(tmp_path: Path) -> None:
    service = _service(tmp_path, _sandbox("bubblewrap"))
    await service.execute("file_write", {"path": "sub/by-tool", "content": "tool"})
    command = "cat sub/by-tool; echo command > sub/by-command; echo lost > ~/x; echo lost > /tmp/x"
    found: Any = (await service.execute("bash_exec", {"command": command})).value
    assert (found["stdout"], found["exit_code"]) == ("tool", 0)
    assert await _read(service, "sub/by-command") == "command\n"
    # What is written beside all folders of the view is in memory, and gone.
    assert not (tmp_path / "home" / "x").exists()
    assert await _printed(service, ["~/x", "/tmp/x"]) == [None, None]
