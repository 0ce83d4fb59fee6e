"""What people are told to do where a driver does not work."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.sandbox import fix_for

UID_MAP = "`bwrap` cannot confine anything here: bwrap: setting up uid map: Permission denied"


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel whose settings are files in a folder; none is there."""
    for name in ("APPARMOR", "CLONE", "MOST", "MODULES"):
        monkeypatch.setattr(f"policy.sandbox.fixes.{name}", tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("APPARMOR", "1\n", "give `bwrap` a profile"),
        ("CLONE", "0\n", "sysctl kernel.unprivileged_userns_clone=1"),
        ("MOST", "0\n", "sysctl user.max_user_namespaces=10000"),
        ("MOST", "5000\n", "use `landlock`"),
    ],
)
def test_what_keeps_user_namespaces_away_is_named(
    kernel: Path, name: str, content: str, said: str
) -> None:
    (kernel / name).write_text(content)
    assert said in (fix_for("bubblewrap", UID_MAP) or "")


def test_another_problem_has_no_fix_that_is_known(kernel: Path) -> None:
    (kernel / "APPARMOR").write_text("1\n")
    assert fix_for("bubblewrap", "`bwrap` does not run: it took too long") is None


def test_landlock_that_is_off_can_be_switched_on(kernel: Path) -> None:
    assert fix_for("landlock", "there is none") is None
    (kernel / "MODULES").write_text("capability,landlock\n")
    assert fix_for("landlock", "there is none") is None
    (kernel / "MODULES").write_text("capability,yama\n")
    assert "`lsm=`" in (fix_for("landlock", "there is none") or "")
