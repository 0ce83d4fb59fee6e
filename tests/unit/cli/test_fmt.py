"""`placet fmt` rewrites files in canonical form, and leaves everything else unchanged."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from policy.generation import Snapshot, read_folder
from tests.unit.cli.running import POLICY, rules_in, run

MESSY = """\
policy  for every agent



default   deny
# why
read:   allow  file_read when reads   only workspace
"""
CLEAN = """\
policy for every agent

default deny
# why
read: allow file_read when reads only workspace
"""
BROKEN = "policy for every agent\n\ndefault   deny\nx: alow   y\n"


def test_a_file_is_rewritten_once(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MESSY)
    ran = run("fmt", rules)
    assert (ran.code, ran.out, ran.err) == (0, f"changed {rules}/global.policy\n", "")
    assert (rules / "global.policy").read_text() == CLEAN
    again = run("fmt", rules)
    assert (again.code, again.out) == (0, "1 file in canonical form\n")


def test_check_changes_nothing_and_says_what_would(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MESSY)
    ran = run("fmt", "--check", rules)
    assert (ran.code, ran.out) == (1, f"would change {rules}/global.policy\n")
    assert (rules / "global.policy").read_text() == MESSY
    run("fmt", rules)
    assert run("fmt", "--check", rules).code == 0


def test_a_broken_file_stays_as_it_is_and_the_others_are_written(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MESSY, broken__policy=BROKEN)
    (rules / "latin.policy").write_bytes(MESSY.encode() + "# é\n".encode("latin-1"))
    ran = run("fmt", rules)
    assert ran.code == 1
    assert ran.out == f"changed {rules}/global.policy\n"
    assert f"{rules}/broken.policy:4:" in ran.err
    assert "error[not-utf8]" in ran.err
    assert (rules / "global.policy").read_text() == CLEAN
    assert (rules / "broken.policy").read_text() == BROKEN
    assert (rules / "latin.policy").read_bytes().endswith(b"\xe9\n")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o664])
def test_the_mode_of_a_file_stays(tmp_path: Path, mode: int) -> None:
    rules = rules_in(tmp_path, MESSY)
    (rules / "global.policy").chmod(mode)
    assert run("fmt", rules).code == 0
    assert stat.S_IMODE((rules / "global.policy").stat().st_mode) == mode


def test_a_link_stays_a_link_and_its_target_is_written_once(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MESSY)
    (rules / "real").mkdir()
    os.replace(rules / "global.policy", rules / "real" / "text")
    os.symlink("real/text", rules / "global.policy")
    os.symlink("real/text", rules / "other.policy")
    ran = run("fmt", rules)
    assert (ran.code, ran.out) == (0, f"changed {rules}/global.policy\n")
    assert os.readlink(rules / "global.policy") == "real/text"
    assert (rules / "real" / "text").read_text() == CLEAN


def test_a_link_out_of_the_folder_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside.policy"
    outside.write_text(MESSY)
    rules = rules_in(tmp_path, CLEAN)
    os.symlink(outside, rules / "linked.policy")
    ran = run("fmt", rules)
    assert ran.code == 2
    assert "error[outside-folder]" in ran.err
    assert outside.read_text() == MESSY


def test_windows_line_ends_become_plain_ones(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    (rules / "global.policy").write_bytes(MESSY.replace("\n", "\r\n").encode())
    ran = run("fmt", rules)
    assert ran.code == 0
    assert (rules / "global.policy").read_bytes() == CLEAN.encode()


def test_only_the_file_that_was_named_is_written(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MESSY, other__policy=MESSY)
    packs = rules / "packs"
    packs.mkdir()
    (packs / "p.policy").write_text('pack   "p"\n')
    assert run("fmt", rules / "global.policy").code == 0
    assert (rules / "global.policy").read_text() == CLEAN
    assert (rules / "other.policy").read_text() == MESSY
    assert (packs / "p.policy").read_text() == 'pack   "p"\n'


def test_no_other_file_is_left_behind(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MESSY, placet__toml="x   =   1\n")
    run("fmt", rules)
    assert sorted(os.listdir(rules)) == ["global.policy", "placet.toml"]
    assert (rules / "placet.toml").read_text() == "x   =   1\n"


def test_a_file_that_may_not_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path, MESSY)
    # The tests may run as root, who may write everything.
    monkeypatch.setattr("policy.cli.fmt.os.access", lambda _, wanted: wanted != os.W_OK)
    ran = run("fmt", rules)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"placet: {rules}/global.policy is not writable\n"
    assert (rules / "global.policy").read_text() == MESSY


def test_a_disk_that_refuses_leaves_the_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path, MESSY)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("policy.cli.fmt.os.replace", full)
    ran = run("fmt", rules)
    assert ran.code == 2
    assert "could not be written: No space left on device" in ran.err
    assert (rules / "global.policy").read_text() == MESSY
    assert os.listdir(rules) == ["global.policy"]


def test_a_file_that_changed_since_it_was_read_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path, MESSY)

    def read_then_edited(path: Path) -> Snapshot:
        snapshot = read_folder(path)
        (rules / "global.policy").write_text(POLICY)
        return snapshot

    monkeypatch.setattr("policy.cli.fmt.read_folder", read_then_edited)
    ran = run("fmt", rules)
    assert ran.code == 2
    assert "was changed by another program" in ran.err
    assert (rules / "global.policy").read_text() == POLICY


# ------------------------------------------------------------------ streams and diffs


def test_standard_input_goes_to_standard_output(tmp_path: Path) -> None:
    ran = run("fmt", "-", stdin=MESSY)
    assert (ran.code, ran.out, ran.err) == (0, CLEAN, "")
    again = run("fmt", "-", stdin=CLEAN)
    assert (again.code, again.out) == (0, CLEAN)


def test_standard_input_that_cannot_be_parsed_writes_nothing(tmp_path: Path) -> None:
    ran = run("fmt", "-", stdin=BROKEN)
    assert (ran.code, ran.out) == (1, "")
    assert "standard input:4:" in ran.err
    latin = run("fmt", "-", stdin=MESSY.encode() + b"# \xe9\n")
    assert (latin.code, latin.out) == (1, "")
    assert "error[not-utf8]" in latin.err
    empty = run("fmt", "-", stdin="")
    assert (empty.code, empty.out) == (1, "")
    assert "error[missing-header]" in empty.err


def test_standard_input_that_is_too_long_is_refused() -> None:
    ran = run("fmt", "-", stdin=b"#" * 5_000_001)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "placet: standard input is longer than 5,000,000 bytes\n"


def test_standard_input_can_be_checked() -> None:
    ran = run("fmt", "-", "--check", stdin=MESSY)
    assert (ran.code, ran.out) == (1, "would change standard input\n")
    assert run("fmt", "-", "--check", stdin=CLEAN).code == 0


DIFF = (
    "--- {0}\n"
    "+++ {0}\n"
    "@@ -1,7 +1,5 @@\n"
    "-policy  for every agent\n"
    "+policy for every agent\n"
    " \n"
    "-\n"
    "-\n"
    "-default   deny\n"
    "+default deny\n"
    " # why\n"
    "-read:   allow  file_read when reads   only workspace\n"
    "+read: allow file_read when reads only workspace\n"
)


def test_a_diff_shows_what_would_change_and_changes_nothing(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MESSY, clean__policy=CLEAN.replace("read:", "again:"))
    ran = run("fmt", rules, "--diff")
    assert (ran.code, ran.out, ran.err) == (0, DIFF.format(f"{rules}/global.policy"), "")
    assert (rules / "global.policy").read_text() == MESSY
    checked = run("fmt", rules, "--check", "--diff")
    assert (checked.code, checked.out) == (1, ran.out)
    stream = run("fmt", "-", "--diff", stdin=MESSY)
    assert (stream.code, stream.out) == (0, DIFF.format("standard input"))


def test_a_diff_hides_nothing(tmp_path: Path) -> None:
    windows = run("fmt", "-", "--diff", stdin=CLEAN.replace("\n", "\r\n").encode())
    assert "-default deny\\u{d}\n" in windows.out
    unended = run("fmt", "-", "--diff", stdin=CLEAN.rstrip("\n"))
    assert unended.out.endswith("-\\ No newline at end of file\n")


def test_a_diff_of_canonical_files_is_empty(tmp_path: Path) -> None:
    ran = run("fmt", rules_in(tmp_path, CLEAN), "--check", "--diff")
    assert (ran.code, ran.out) == (0, "")
