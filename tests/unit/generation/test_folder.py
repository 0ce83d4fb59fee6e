"""Which files of a policy folder are read, and which are refused."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from policy.generation import folder as folder_module
from policy.generation import read_folder, signature
from policy.generation.folder import LARGEST_FILE
from policy.store import PolicyStore


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    root = tmp_path / "rules"
    write(root / "global.policy", "policy for every agent\ndefault deny\n")
    return root


def codes(path: Path) -> dict[str, str]:
    return {name: problem.code for name, problem in read_folder(path).unread.items()}


def test_policies_at_any_depth_are_read_with_their_bytes(rules: Path) -> None:
    write(rules / "agents/deep/writer.policy", 'policy for agent "writer"\n')
    snapshot = read_folder(rules)
    assert snapshot.policies == ("agents/deep/writer.policy", "global.policy")
    assert snapshot.files["agents/deep/writer.policy"].content == b'policy for agent "writer"\n'
    assert not snapshot.unread


def test_only_policies_settings_and_data_are_read(rules: Path) -> None:
    for name in ("notes.txt", ".hidden.policy", "global.policy~", ".global.policy.swp", "4913"):
        write(rules / name, "x")
    write(rules / ".git/config.toml", "x")
    write(rules / "placet.toml", "")
    write(rules / "data/hosts.json", "[]")
    assert sorted(read_folder(rules).files) == ["data/hosts.json", "global.policy", "placet.toml"]


@pytest.mark.parametrize("name", ["agents/guests.Policy", "GUESTS.POLICY", "Placet.toml"])
def test_a_name_that_counts_but_for_its_letter_case_is_not_passed_over(
    name: str, rules: Path
) -> None:
    before = signature(rules)
    write(rules / name, "policy for every agent\n")
    assert set(read_folder(rules).unread) == {name}
    assert signature(rules) != before
    store = PolicyStore(rules)
    assert store.current is None
    assert store.status.because is not None and name in store.status.because


def test_a_misspelt_configuration_beside_a_single_file_is_not_passed_over_either(
    rules: Path,
) -> None:
    before = signature(rules / "global.policy")
    write(rules / "Placet.toml", "")
    assert set(read_folder(rules / "global.policy").unread) == {"Placet.toml"}
    assert signature(rules / "global.policy") != before


def test_data_below_may_be_called_like_the_configuration(rules: Path) -> None:
    write(rules / "data/Placet.toml", "")
    assert not read_folder(rules).unread


def test_the_digest_covers_names_and_contents(rules: Path) -> None:
    first = read_folder(rules).digest
    assert first.startswith("sha256:")
    os.rename(rules / "global.policy", rules / "other.policy")
    renamed = read_folder(rules).digest
    write(rules / "other.policy", "policy for every agent\ndefault ask\n")
    changed = read_folder(rules).digest
    assert len({first, renamed, changed}) == 3


def test_the_digest_does_not_depend_on_the_place_or_the_time(rules: Path, tmp_path: Path) -> None:
    copy = write(tmp_path / "copy/global.policy", (rules / "global.policy").read_text()).parent
    os.utime(copy / "global.policy", (1, 1))
    assert read_folder(copy).digest == read_folder(rules).digest


def test_bytes_cannot_move_between_two_files_unseen(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one / "a.policy", "xb.policy")
    write(one / "b.policy", "")
    write(two / "a.policy", "x")
    write(two / "b.policy", "b.policy")
    assert read_folder(one).digest != read_folder(two).digest


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    problem = read_folder(tmp_path / "nowhere").unread[""]
    assert problem.code == "unreadable-file"
    assert "does not exist" in problem.message


def test_a_file_that_is_no_policy_is_no_folder_either(tmp_path: Path) -> None:
    snapshot = read_folder(write(tmp_path / "rules", "x"))
    assert snapshot.policies == ()


def test_a_pipe_is_never_opened(rules: Path) -> None:
    os.mkfifo(rules / "pipe.policy")
    assert codes(rules) == {"pipe.policy": "unreadable-file"}


def test_a_socket_is_never_opened(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rules)  # socket paths are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.policy")
        assert codes(rules) == {"s.policy": "unreadable-file"}


def test_a_device_is_never_opened(rules: Path) -> None:
    # It leads out of the folder too, which is said first.
    (rules / "zero.policy").symlink_to("/dev/zero")
    assert codes(rules) == {"zero.policy": "outside-folder"}


def test_a_large_file_is_not_read_whole(rules: Path) -> None:
    with open(rules / "big.policy", "wb") as file:
        file.truncate(50_000_000)
    assert codes(rules) == {"big.policy": "file-too-large"}
    assert "big.policy" not in read_folder(rules).files


def test_a_file_of_the_largest_size_is_read(rules: Path) -> None:
    with open(rules / "big.policy", "wb") as file:
        file.truncate(LARGEST_FILE)
    assert len(read_folder(rules).files["big.policy"].content) == LARGEST_FILE


def test_too_many_files_are_refused(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "MOST_FILES", 3)
    for number in range(5):
        write(rules / f"{number}.policy", "x")
    assert codes(rules) == {"": "file-too-large"}


def test_a_link_out_of_the_folder_is_refused(rules: Path, tmp_path: Path) -> None:
    (rules / "out.policy").symlink_to(write(tmp_path / "elsewhere.policy", "x"))
    (rules / "below").symlink_to(tmp_path, target_is_directory=True)
    assert codes(rules) == {"out.policy": "outside-folder", "below": "outside-folder"}


def test_a_neighbour_with_the_folders_name_as_prefix_is_outside(
    rules: Path, tmp_path: Path
) -> None:
    (rules / "out.policy").symlink_to(write(tmp_path / "rules-old/x.policy", "x"))
    assert codes(rules) == {"out.policy": "outside-folder"}


def test_a_link_inside_the_folder_is_followed(rules: Path) -> None:
    write(rules / "drafts/a.txt", "policy for every agent\n")
    (rules / "linked.policy").symlink_to("drafts/a.txt")
    file = read_folder(rules).files["linked.policy"]
    assert file.content == b"policy for every agent\n"
    assert file.lexical == str(rules / "linked.policy")
    assert file.real == os.path.realpath(rules / "drafts/a.txt")


def test_links_that_lead_back_are_refused(rules: Path) -> None:
    (rules / "loop").symlink_to(".", target_is_directory=True)
    write(rules / "a/b/x.policy", "x")
    (rules / "a/b/up").symlink_to("..", target_is_directory=True)
    (rules / "self.policy").symlink_to("self.policy")
    assert codes(rules) == {
        "loop": "link-cycle",
        "a/b/up": "link-cycle",
        "self.policy": "unreadable-file",
    }


def test_a_dangling_link_is_said(rules: Path) -> None:
    (rules / "gone.policy").symlink_to("nothing.policy")
    assert "leads nowhere" in read_folder(rules).unread["gone.policy"].message


def test_a_folder_too_deep_is_refused(rules: Path) -> None:
    deep = rules.joinpath(*["d"] * 40)
    write(deep / "x.policy", "x")
    assert set(codes(rules).values()) == {"unreadable-file"}
    assert "global.policy" in read_folder(rules).files


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """Run without root's right to read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_that_may_not_be_read_is_said(rules: Path) -> None:
    for above in (rules, *rules.parents):
        if str(above).startswith("/tmp/"):
            above.chmod(0o755)
    (rules / "global.policy").chmod(0)
    with as_somebody_else():
        problem = read_folder(rules).unread["global.policy"]
    assert problem.code == "unreadable-file"
    assert "may not be read" in problem.message


def test_a_name_that_is_no_text_is_said(rules: Path) -> None:
    with open(os.fsencode(rules) + b"/\xff.policy", "wb"):
        pass
    assert set(codes(rules).values()) == {"not-utf8"}


def test_mounted_config_is_read_through_its_links(tmp_path: Path) -> None:
    root = mounted(tmp_path, "first")
    assert read_folder(root).policies == ("agents/a.policy", "global.policy")
    assert read_folder(root).files["global.policy"].content == b"first"


def mounted(tmp_path: Path, text: str) -> Path:
    """Lay a folder out as Kubernetes mounts a ConfigMap."""
    root = tmp_path / "mount"
    write(root / f"..{text}/global.policy", text)
    write(root / f"..{text}/agents/a.policy", text)
    (root / "..data").symlink_to(f"..{text}")
    (root / "global.policy").symlink_to("..data/global.policy")
    (root / "agents").symlink_to("..data/agents", target_is_directory=True)
    return root


def swap(root: Path, text: str) -> None:
    write(root / f"..{text}/global.policy", text)
    write(root / f"..{text}/agents/a.policy", text)
    (root / "..data_tmp").symlink_to(f"..{text}")
    os.replace(root / "..data_tmp", root / "..data")


def test_a_swap_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    root = mounted(tmp_path, "v0")
    stop = threading.Event()

    def keep_swapping() -> None:
        number = 1
        while not stop.is_set():
            # Ever new, as releases are: two reads that see the same mixture of two old ones would
            # otherwise be a matter of time.
            swap(root, f"v{number}")
            shutil.rmtree(root / f"..v{number - 5}", ignore_errors=True)
            number += 1

    swapping = threading.Thread(target=keep_swapping)
    swapping.start()
    try:
        seen = [read_folder(root) for _ in range(8)]
    finally:
        stop.set()
        swapping.join()
    whole = [snapshot for snapshot in seen if not snapshot.unread]
    for snapshot in whole:
        assert len({file.content for file in snapshot.files.values()}) == 1
    assert read_folder(root).policies == ("agents/a.policy", "global.policy")


def test_a_folder_that_never_rests_is_an_error_not_a_mixture(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.generation.folder.time.sleep", lambda _: None)
    numbers = iter(range(1_000))
    read = folder_module._read_regular

    def restless(name: str, real: str) -> object:
        Path(real).write_text(str(next(numbers)))
        return read(name, real)

    monkeypatch.setattr(folder_module, "_read_regular", restless)
    assert codes(rules) == {"": "unreadable-file"}


def test_a_single_file_is_read_with_its_packs_and_data_only(rules: Path) -> None:
    write(rules / "other.policy", "x")
    write(rules / "packs/p.policy", "x")
    write(rules / "data/d.toml", "x")
    write(rules / "agents/a.policy", "x")
    snapshot = read_folder(rules / "global.policy")
    assert snapshot.only == "global.policy"
    assert snapshot.root == str(rules)
    assert sorted(snapshot.files) == ["data/d.toml", "global.policy", "packs/p.policy"]


def test_a_single_file_has_the_configuration_beside_it(rules: Path) -> None:
    write(rules / "placet.toml", "")
    write(rules / "tools.json", "[]")
    snapshot = read_folder(rules / "global.policy")
    assert sorted(snapshot.files) == ["global.policy", "placet.toml", "tools.json"]


def test_a_signature_tells_of_every_save(rules: Path) -> None:
    before = signature(rules)
    assert signature(rules) == before
    write(rules / "new.policy", "x")
    added = signature(rules)
    os.replace(write(rules / "new.tmp", "y"), rules / "new.policy")
    replaced = signature(rules)
    (rules / "new.policy").unlink()
    assert len({before, added, replaced}) == 3
    assert signature(rules) == before
