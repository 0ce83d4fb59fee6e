"""One key of `placet.toml` is edited completely or not at all, and the policy stays valid."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import time
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.config_edit import (
    Configured,
    FileChanged,
    configure,
    read_configuration,
    replace_file,
    value_of,
)
from policy.config_edit.atomic_write import FolderBusy, exclusive_lock
from policy.config_edit.permissiveness import is_more_permissive
from policy.model import Verdict
from policy.store import PolicyStore

ROOT = Path(__file__).resolve().parents[3]
RULES = "policy for every agent\n\ndefault deny\n"
FILE = """\
# What the desk may do.
[permissions.tools]
file_read = "allow"   # always

# Seconds.
[timeouts]
default = 30
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "rules"
    root.mkdir()
    (root / "global.policy").write_text(RULES, "utf-8")
    (root / "placet.toml").write_text(FILE, "utf-8")
    return root


def text(folder: Path) -> str:
    return (folder / "placet.toml").read_text("utf-8")


def refused(folder: Path, key: str, value: Any) -> list[str]:
    """Return what is said of an edit that must leave everything as it is."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises((policy.PolicyInvalid, policy.ConfigurationRefused)) as error:
        configure(folder, key, value)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    if isinstance(error.value, policy.PolicyInvalid):
        return [problem.message for problem in error.value.diagnostics]
    return [str(error.value)]


def test_an_edit_is_on_disk_and_tells_what_it_did(folder: Path) -> None:
    made = configure(folder, "permissions.tools.file_read", "ask")
    assert text(folder) == FILE.replace('"allow"', '"ask"')
    assert (made.key, made.before, made.after) == (
        "permissions.tools.file_read",
        '"allow"',
        '"ask"',
    )
    assert made.changed and made.looser is False
    assert made.old_digest != made.new_digest
    assert '-file_read = "allow"   # always' in made.diff.splitlines()
    assert made.generation.digests["placet.toml"] == made.new_digest
    assert made.generation.id.digest == policy.load(folder).id.digest


def test_a_value_that_is_there_already_changes_nothing(folder: Path) -> None:
    before = (folder / "placet.toml").stat()
    made = configure(folder, "permissions.tools.file_read", "allow")
    assert not made.changed and not made.diff
    assert (folder / "placet.toml").stat() == before


def test_a_dry_run_writes_nothing(folder: Path) -> None:
    made = configure(folder, "permissions.tools.bash", "deny", dry_run=True)
    assert '+bash = "deny"' in made.diff
    assert not made.changed
    assert text(folder) == FILE


def test_none_takes_a_key_away(folder: Path) -> None:
    configure(folder, "permissions.tools.bash", "deny")
    made = configure(folder, "permissions.tools.bash", None)
    assert text(folder) == FILE
    assert made.after is None
    assert value_of(folder, "permissions.tools.bash") is None


def test_a_missing_file_is_made(folder: Path) -> None:
    (folder / "placet.toml").unlink()
    assert read_configuration(folder) == {}
    made = configure(folder, "permissions.tools.bash", "deny")
    assert text(folder) == '[permissions.tools]\nbash = "deny"\n'
    assert made.old_digest is None
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((folder / "placet.toml").stat().st_mode) == 0o644 & ~mask


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("permissions.tools.bash", "maybe", "not a verdict"),
        ("permissions.filter.blocked", "bash", "not a list"),
        ("timeouts.default", "soon", "a duration"),
        ("timeouts.defualt", 3, "no setting"),
        ("serve.groups", [1], "valid string"),
        ("permissions.tools", {"bash": "allow"}, "key by key"),
        ("permissions.tools", "allow", "is a table"),
        ("permissions..tools", "allow", "not a dotted key"),
        ("permissions.tools.nothing", None, "is not set"),
        ("timeouts.default", object(), "is not TOML"),
        ("timeouts.default", time(1), "a duration"),
    ],
)
def test_what_is_wrong_is_told_and_not_written(
    folder: Path, key: str, value: Any, said: str
) -> None:
    assert any(said in message for message in refused(folder, key, value))


def test_everything_that_is_wrong_comes_back_at_once(folder: Path) -> None:
    (folder / "tests.policy").write_text('policy for agent "x"\ndefault maybe\n', "utf-8")
    assert len(refused(folder, "permissions.tools.bash", "maybe")) >= 2


def test_a_test_that_fails_keeps_an_edit_out(folder: Path) -> None:
    case = '\ntest "reading"\n  file_read {path: "/a"} -> allow by "table:file_read"\n'
    (folder / "global.policy").write_text(RULES + case, "utf-8")
    assert configure(folder, "permissions.tools.bash", "deny").changed
    assert refused(folder, "permissions.tools.file_read", "deny")


def test_an_edit_can_mend_what_keeps_a_policy_from_loading(folder: Path) -> None:
    (folder / "placet.toml").write_text(FILE + '[service]\nworkspcae = "/srv"\n', "utf-8")
    assert refused(folder, "permissions.tools.bash", "deny")
    configure(folder, "service.workspcae", None)
    assert text(folder) == FILE


def test_a_file_that_is_no_toml_is_left_to_people(folder: Path) -> None:
    (folder / "placet.toml").write_text("[permissions\n", "utf-8")
    assert "not TOML" in refused(folder, "permissions.tools.bash", "deny")[0]
    with pytest.raises(policy.PolicyInvalid):
        read_configuration(folder)


def test_rights_links_and_the_byte_order_mark_stay(folder: Path) -> None:
    real = folder / "data"
    real.mkdir()
    target = real / "settings.txt"
    target.write_bytes(b"\xef\xbb\xbf" + FILE.encode())
    target.chmod(0o640)
    (folder / "placet.toml").unlink()
    (folder / "placet.toml").symlink_to("data/settings.txt")
    configure(folder, "permissions.tools.file_read", "ask")
    assert (folder / "placet.toml").is_symlink()
    assert target.read_bytes() == b"\xef\xbb\xbf" + FILE.replace('"allow"', '"ask"').encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in real.iterdir()] == ["settings.txt"]


def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder: Path) -> None:
    outside = folder.parent / "elsewhere.toml"
    outside.write_text(FILE, "utf-8")
    (folder / "placet.toml").unlink()
    (folder / "placet.toml").symlink_to(outside)
    with pytest.raises(policy.PolicyInvalid):
        configure(folder, "permissions.tools.file_read", "ask")
    assert outside.read_text("utf-8") == FILE


def test_a_single_file_is_configured_beside_it(folder: Path) -> None:
    made = configure(folder / "global.policy", "permissions.tools.file_read", "ask")
    assert made.generation.id.digest == policy.load(folder / "global.policy").id.digest


def test_a_change_by_someone_else_meanwhile_is_not_overwritten(folder: Path) -> None:
    theirs = FILE + "# and this\n"

    def somebody_saves(planned: Configured) -> None:
        (folder / "placet.toml").write_text(theirs, "utf-8")

    with pytest.raises(policy.ConfigurationRefused) as error:
        configure(folder, "permissions.tools.bash", "deny", witness=somebody_saves)
    assert error.value.again
    assert text(folder) == theirs
    assert sorted(path.name for path in folder.iterdir()) == ["global.policy", "placet.toml"]


def test_a_witness_that_raises_keeps_the_edit_out(folder: Path) -> None:
    def unwilling(planned: Configured) -> None:
        raise KeyError(planned.key)

    with pytest.raises(KeyError):
        configure(folder, "permissions.tools.bash", "deny", witness=unwilling)
    assert text(folder) == FILE


def test_edits_at_once_lose_nothing(folder: Path) -> None:
    names = [f"memory_{number}" for number in range(24)]
    store = PolicyStore(folder)
    edits: list[Callable[..., Any]] = [store.configure, PolicyStore(folder).configure]

    def edit(number: int) -> None:
        edits[number % 2](f"permissions.tools.{names[number]}", "ask")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(edit, range(len(names))))
    said = read_configuration(folder)["permissions"]["tools"]
    assert said == {"file_read": "allow", **dict.fromkeys(names, "ask")}
    assert store.reload().generation is not None
    assert not store.status.stale


def test_processes_wait_for_each_other(folder: Path) -> None:
    code = (
        "import sys, policy\n"
        "for number in range(4):\n"
        "    policy.configure(sys.argv[1], f'permissions.tools.{sys.argv[2]}_{number}', 'ask')\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(folder), name], cwd=ROOT)
        for name in ("ab", "cd", "ef")
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    said = read_configuration(folder)["permissions"]["tools"]
    assert len(said) == 13


def test_a_write_that_fails_halfway_leaves_the_file_as_it_was(folder: Path) -> None:
    code = (
        "import resource, sys, policy\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))\n"
        "try:\n"
        "    policy.configure(sys.argv[1], 'permissions.tools.bash', 'ask')\n"
        "except policy.ConfigurationRefused as error:\n"
        "    sys.exit(0 if 'cannot be written' in error.message else 3)\n"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code, str(folder)], cwd=ROOT, check=False)
    assert done.returncode == 0
    assert text(folder) == FILE
    assert sorted(path.name for path in folder.iterdir()) == ["global.policy", "placet.toml"]


def test_whoever_waits_too_long_is_told_to_repeat(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(FolderBusy), exclusive_lock(str(folder), patience=0.0):
            pass
    finally:
        os.close(handle)
    with exclusive_lock(str(folder), patience=0.0):
        pass


def test_a_file_that_came_meanwhile_is_kept(folder: Path) -> None:
    with pytest.raises(FileChanged):
        replace_file(str(folder / "placet.toml"), b"", before=None)
    assert text(folder) == FILE


# --- the store


def test_a_store_puts_its_edit_in_force_at_once(folder: Path) -> None:
    heard: list[Any] = []
    store = PolicyStore(folder, on_change=(heard.append,))
    call = policy.ToolCall(tool="file_read", input={"path": "/a"})
    made = store.configure("permissions.tools.file_read", "deny")
    assert store.current is made.generation
    assert made.generation.id.number == 2
    assert store.decide(call).verdict is Verdict.DENY
    assert heard[-1].changed
    assert not store.configure("permissions.tools.file_read", "deny").changed
    assert store.current is made.generation


def test_a_refused_edit_leaves_the_store_as_it_is(folder: Path) -> None:
    store = PolicyStore(folder)
    before, status = store.current, store.status
    with pytest.raises(policy.PolicyInvalid):
        store.configure("permissions.tools.file_read", "maybe")
    assert store.current is before
    assert store.status == status


def test_readers_see_each_edit_whole(folder: Path) -> None:
    store = PolicyStore(folder)
    seen: set[str] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(text(folder))

    reader = threading.Thread(target=read)
    reader.start()
    texts = {FILE}
    for verdict in ("ask", "deny") * 4:
        store.configure("permissions.tools.file_read", verdict)
        texts.add(text(folder))
    done.set()
    reader.join()
    assert seen <= texts


# --- looser


@pytest.mark.parametrize(
    ("key", "before", "after", "default", "looser"),
    [
        ("permissions.tools.x", "deny", "ask", "deny", True),
        ("permissions.tools.x", "ask", "allow", "deny", True),
        ("permissions.tools.x", "allow", "deny", "allow", False),
        ("permissions.tools.x", "ask", "deny", "deny", False),
        ("permissions.tools.x", "deny", None, "deny", True),
        ("permissions.tools.x", "ask", None, "deny", True),
        ("permissions.tools.x", "allow", None, "deny", False),
        ("permissions.tools.x", None, "deny", "allow", False),
        ("permissions.tools.x", None, "ask", "deny", True),
        ("permissions.tools.x", None, "ask", "allow", False),
        ("permissions.tools.x", None, "allow", "ask", True),
        ("permissions.tools.x", ["odd"], "allow", "deny", True),
        ("permissions.tools.default", "deny", "ask", "ask", True),
        ("permissions.tools.default", "allow", "deny", "deny", False),
        ("permissions.agents.a.tools.default", None, "deny", "deny", False),
        ("permissions.agents.a.tools.default", "deny", None, None, True),
        ("permissions.agents.a.tools.x", None, "allow", None, False),
        ("policies.tool_permissions.default", "deny", "allow", "allow", True),
        ("policies.tool_permissions.overrides.x", "deny", "allow", "deny", True),
        ("permissions.filter.allowed", ["a"], ["a", "b"], "deny", True),
        ("permissions.filter.allowed", ["a", "b"], ["a"], "deny", False),
        ("permissions.filter.allowed", ["a"], None, "deny", True),
        ("permissions.filter.blocked", ["a"], ["b"], "deny", True),
        ("permissions.agents.a.filter.blocked", None, ["b"], None, False),
        ("permissions.filter.require_confirmation", [], ["b"], "deny", True),
        ("tools.x.requires_confirmation", True, None, "deny", True),
        ("tools.x.requires_confirmation", None, True, "deny", False),
        ("tools.x", {"requires_confirmation": True}, {"timeout": 3}, "deny", True),
        ("tools", {"x": {"requires_confirmation": True}}, None, "deny", True),
        ("tools.x", {"timeout": 2}, {"requires_confirmation": True}, "deny", None),
        ("permissions.agents.a.tools.x", None, "allow", "none", False),
        ("timeouts.default", 3, 5, "deny", None),
    ],
)
def test_an_edit_that_may_let_more_through_is_called_looser(
    key: str, before: Any, after: Any, default: str | None, looser: bool | None
) -> None:
    plain = None if default is None else Verdict(default)
    assert is_more_permissive(tuple(key.split(".")), before, after, default=plain) is looser


_DELEGATED = 'policy for every agent\ndefault {}\ndelegate web_fetch to agents "r-*"\n'
_BY_AGENT = 'permissions.agents."r-*".tools'


@pytest.mark.parametrize(
    ("rules", "key"),
    [
        (_DELEGATED.format("deny"), f"{_BY_AGENT}.web_fetch"),
        (_DELEGATED.format("allow"), f"{_BY_AGENT}.web_fetch"),
        (_DELEGATED.format("allow"), "permissions.tools.web_fetch"),
        (
            "policy for every agent\ndefault allow\ndefault deny for web_fetch\n",
            "permissions.tools.web_fetch",
        ),
    ],
)
@pytest.mark.parametrize("value", ["allow", "ask"])
def test_what_fills_a_gap_beside_the_plain_default_is_looser(
    rules: str, key: str, value: str, folder: Path
) -> None:
    (folder / "global.policy").write_text(rules, "utf-8")
    call = policy.ToolCall(tool="web_fetch", input={"url": "https://x.example/"})
    caller = policy.Caller(agent="r-1")
    before = policy.load(folder).decide(call, caller).verdict
    made = configure(folder, key, value)
    after = policy.load(folder).decide(call, caller).verdict
    assert after.rank < before.rank
    assert made.looser


def test_an_agents_rule_beside_a_default_that_leaves_the_rest_is_not_looser(folder: Path) -> None:
    configure(folder, f"{_BY_AGENT}.default", "allow")
    assert configure(folder, f"{_BY_AGENT}.file_read", "ask").looser is False


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ('[permissions]\ntools = { web_fetch = "deny" }\n', "permissions.tools"),
        ('permissions = { tools = { web_fetch = "deny" } }\n', "permissions"),
        ('policies.tool_permissions = { overrides = { a = "deny" } }\n', "policies"),
        ('permissions.agents.a = { tools = { b = "deny" } }\n', "permissions.agents.a.tools"),
    ],
)
def test_rules_are_not_taken_away_as_a_whole_table(file: str, key: str, folder: Path) -> None:
    (folder / "placet.toml").write_text(file, "utf-8")
    assert refused(folder, key, None) == ["rules are set key by key, not as a whole table"]
