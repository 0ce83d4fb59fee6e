"""The folder of the sockets belongs to this user alone, or is not used."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from policy.daemon.endpoint import DaemonFiles, EndpointUnusable, identity, sockets
from policy.daemon.peer import is_ours


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "placet"


def test_the_folder_is_made_for_its_owner_alone(runtime: Path) -> None:
    endpoint = DaemonFiles("/srv/rules")
    assert runtime.stat().st_mode & 0o777 == 0o700
    assert {Path(file).parent for file in endpoint.files} == {runtime}


def test_policies_have_places_of_their_own(runtime: Path) -> None:
    assert DaemonFiles("/a").socket != DaemonFiles("/b").socket
    assert DaemonFiles("/a").socket == DaemonFiles("/a").socket
    assert identity("/a") != identity("/b")


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o701, 0o770])
def test_a_folder_that_others_can_enter_is_not_used(runtime: Path, mode: int) -> None:
    runtime.mkdir()
    runtime.chmod(mode)
    with pytest.raises(EndpointUnusable, match="0700"):
        DaemonFiles("/srv/rules")
    with pytest.raises(EndpointUnusable):
        sockets()


def test_a_folder_of_somebody_else_is_not_used(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(EndpointUnusable, match="another user"):
        DaemonFiles("/srv/rules")


def test_a_link_or_a_file_is_not_used(runtime: Path) -> None:
    (runtime.parent / "other").mkdir(mode=0o700)
    runtime.symlink_to(runtime.parent / "other")
    with pytest.raises(EndpointUnusable, match="not a folder"):
        DaemonFiles("/srv/rules")
    runtime.unlink()
    runtime.write_text("")
    with pytest.raises(EndpointUnusable, match="not a folder"):
        DaemonFiles("/srv/rules")


def test_without_a_folder_there_are_no_daemons(runtime: Path) -> None:
    assert sockets() == []


def test_the_peer_is_asked_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert is_ours(one)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert not is_ours(one)


def test_a_peer_that_nobody_can_name_is_not_ours() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    other.close()
    one.close()
    assert not is_ours(one)
