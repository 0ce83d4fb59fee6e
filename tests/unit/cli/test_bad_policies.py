"""Invalid policies through every command and `load`: a diagnostic with a code, never a verdict."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

import policy
from policy.generation import folder
from tests.unit.cli.running import POLICY, run

CALL = b'{"tool": "list_tools"}\n'
# A policy that would allow the call, had nothing been wrong beside it.
OPEN = "policy for every agent\ndefault allow\n"

Make = Callable[[Path], object]


def text(content: str | bytes, name: str = "bad.policy") -> Make:
    """Return what writes one file beside a good policy."""
    data = content.encode() if isinstance(content, str) else content

    def make(rules: Path) -> None:
        file = rules / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    return make


def _two_files_define_a_name(rules: Path) -> None:
    text("policy for every agent\nx: deny file_read\n", "a.policy")(rules)
    text("policy for every agent\nx: deny file_write\n", "b.policy")(rules)


def _cycle_of_packs(rules: Path) -> None:
    text('pack "a"\nuse "packs/b.policy"\n', "packs/a.policy")(rules)
    text('pack "b"\nuse "packs/a.policy"\n', "packs/b.policy")(rules)
    text('policy for every agent\nuse "packs/a.policy"\n')(rules)


def _socket(rules: Path) -> None:
    # A socket's path may hold a hundred characters or so, hence the detour.
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(rules)
        try:
            listening.bind("x.policy")
        finally:
            os.chdir(here)


def _not_utf8_name(rules: Path) -> None:
    with open(os.fsencode(rules) + b"/\xff.policy", "wb") as file:
        file.write(OPEN.encode())


LATIN = "# é\npolicy for every agent\n".encode("latin-1")
ABSURD = (
    "policy for every agent\nx: deny file_read when " + "not " * 20_000 + "input.path is present\n"
)
NESTED = "policy for every agent\nx: deny file_read when " + "(" * 5000 + "1" + ")" * 5000 + "\n"

# What is wrong, the code that says so, and the file and line that it points at.
WRONG: dict[str, tuple[Make, str, str | None]] = {
    "a syntax error": (text("policy for every agent\nx: alow y\n"), "syntax-error", "bad.policy:2"),
    "no header": (text("deny file_read\n"), "missing-header", "bad.policy:1"),
    "an empty file": (text(""), "missing-header", "bad.policy"),
    "an unknown tool": (
        text("policy for every agent\nx: deny file_raed\n"),
        "unknown-tool",
        "bad.policy:2",
    ),
    "two files that define a name": (_two_files_define_a_name, "duplicate-rule", "b.policy:2"),
    "a cycle of packs": (_cycle_of_packs, "use-cycle", "packs/"),
    "a pack from outside": (
        text('policy for every agent\nuse "../x.policy"\n'),
        "use-outside",
        "bad.policy:2",
    ),
    "UTF-16": (text(OPEN.encode("utf-16")), "not-utf8", "bad.policy"),
    "UTF-16 without a mark": (text(OPEN.encode("utf-16-le")), "control-character", "bad.policy:1"),
    "UTF-32": (text(OPEN.encode("utf-32")), "not-utf8", "bad.policy"),
    "latin-1": (text(LATIN), "not-utf8", "bad.policy:1"),
    "a NUL": (text("policy for every agent\n# \0\n"), "control-character", "bad.policy:2"),
    "a lone carriage return": (
        text("policy for every agent\n# a\rdeny *\n"),
        "control-character",
        "bad.policy:2",
    ),
    "a bidirectional control": (
        text("policy for every agent\n# \u202e\n"),
        "control-character",
        "bad.policy:2",
    ),
    "fifty megabytes": (text(b"#" * 50_000_000), "file-too-large", "bad.policy"),
    "a long chain of nots": (text(ABSURD), "too-deep", "bad.policy:2"),
    "deep parentheses": (text(NESTED), "too-deep", "bad.policy:2"),
    "a huge number": (
        text("policy for every agent\nx: deny file_read when 1 < " + "9" * 10_000),
        "",
        "bad.policy:2",
    ),
    "an unknown key in placet.toml": (
        text("[servce]\nworkspace = 1\n", "placet.toml"),
        "unknown-setting",
        "placet.toml:1",
    ),
    "a wrong kind in placet.toml": (
        text("[service]\nworkspace = 1\n", "placet.toml"),
        "bad-settings",
        "placet.toml:2",
    ),
    "no TOML": (text("[[[\n", "placet.toml"), "bad-settings", "placet.toml:1"),
    "a deep TOML": (text("x = " + "[" * 5000 + "]" * 5000, "placet.toml"), "", "placet.toml"),
    "a latin-1 placet.toml": (text(b"# \xe9\n", "placet.toml"), "not-utf8", "placet.toml:1"),
    "data that is no JSON": (
        lambda rules: (
            text("{", "data/x.json")(rules),
            text('policy for every agent\nstrings s from "data/x.json"\n')(rules),
        ),
        "bad-data",
        "data/x.json",
    ),
    "data that is not there": (
        text('policy for every agent\nstrings s from "x.json"\n'),
        "unknown-data",
        "bad.policy:2",
    ),
    "a pipe": (lambda rules: os.mkfifo(rules / "x.policy"), "unreadable-file", "x.policy"),
    "a socket": (_socket, "unreadable-file", "x.policy"),
    "a link to a device": (
        lambda rules: (rules / "x.policy").symlink_to("/dev/zero"),
        "outside-folder",
        "x.policy",
    ),
    "a link to nowhere": (
        lambda rules: (rules / "x.policy").symlink_to("none"),
        "unreadable-file",
        "x.policy",
    ),
    "a link to itself": (
        lambda rules: (rules / "x.policy").symlink_to("x.policy"),
        "unreadable-file",
        "x.policy",
    ),
    "a link out of the folder": (
        lambda rules: (rules / "x.policy").symlink_to("/etc/hostname"),
        "outside-folder",
        "x.policy",
    ),
    "a folder that leads back": (
        lambda rules: (rules / "loop").symlink_to("."),
        "link-cycle",
        "loop",
    ),
    "a name that is not UTF-8": (_not_utf8_name, "not-utf8", None),
    "a failing test": (
        text('policy for every agent\ntest "t"\n  list_tools {} -> deny\n'),
        "failed-test",
        "bad.policy:3",
    ),
}
UNREADABLE = {"unreadable-file", "outside-folder", "link-cycle", "file-too-large"}


def wrong_rules(tmp_path: Path, make: Make) -> Path:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(OPEN)
    make(rules)
    return rules


@pytest.mark.parametrize(("make", "code", "place"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_by_every_command_and_nothing_is_allowed(
    tmp_path: Path, make: Make, code: str, place: str | None
) -> None:
    rules = wrong_rules(tmp_path, make)
    expected = 2 if code in UNREADABLE else 1
    for command in ("check", "test", "decide", "explain"):
        options = ("--tool", "list_tools") if command == "explain" else ()
        ran = run(command, rules, *options, stdin=CALL)
        said = ran.out + ran.err
        assert ran.code == expected, said
        assert f"error[{code}" in said
        if place is not None:
            assert f"--> {rules}/{place}" in said
        assert "allow" not in ran.out or command in ("check", "test")
        assert len(max(said.splitlines(), key=len)) < 2000
    with pytest.raises(policy.PolicyInvalid):
        policy.load(rules)
    assert policy.PolicyStore(rules).current is None


# What is wrong beyond one file's text is none of the formatter's business.
FORMATTED = {
    "an unknown tool",
    "two files that define a name",
    "a cycle of packs",
    "a pack from outside",
    "data that is no JSON",
    "data that is not there",
    "a failing test",
    *(name for name in WRONG if "TOML" in name or "placet.toml" in name),
}


@pytest.mark.parametrize("name", [name for name in WRONG if name not in FORMATTED])
def test_the_formatter_leaves_alone_what_it_cannot_read(tmp_path: Path, name: str) -> None:
    make, code, _ = WRONG[name]
    rules = wrong_rules(tmp_path, make)
    bad = rules / "bad.policy"
    before = bad.read_bytes() if bad.is_file() else None
    ran = run("fmt", rules)
    assert ran.code == (2 if code in UNREADABLE else 1)
    assert f"error[{code}" in ran.err
    assert (bad.read_bytes() if bad.is_file() else None) == before


@pytest.mark.parametrize("name", sorted(FORMATTED))
def test_the_formatter_minds_the_text_of_policies_alone(tmp_path: Path, name: str) -> None:
    rules = wrong_rules(tmp_path, WRONG[name][0])
    assert run("fmt", rules).code == 0
    again = run("fmt", "--check", rules)
    assert (again.code, again.err) == (0, "")


def test_a_byte_order_mark_is_a_warning_and_formatting_takes_it_away(tmp_path: Path) -> None:
    rules = wrong_rules(tmp_path, text("\ufeffpolicy for every agent\n"))
    ran = run("check", rules)
    assert ran.code == 0
    assert "warning[byte-order-mark]" in ran.out
    assert run("fmt", rules).code == 0
    assert (rules / "bad.policy").read_bytes() == b"policy for every agent\n"


def test_an_unknown_tool_in_a_table_is_a_warning(tmp_path: Path) -> None:
    table = text('[permissions.tools]\nfile_raed = "deny"\n', "placet.toml")
    ran = run("check", wrong_rules(tmp_path, table))
    assert ran.code == 0
    assert "warning[unknown-tool]" in ran.out
    assert "did you mean `file_read`?" in ran.out


def test_windows_line_ends_are_no_mistake(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_bytes(POLICY.replace("\n", "\r\n").encode())
    assert run("check", rules).out == "fine: 1 policy file, 2 test cases passed\n"


def test_a_folder_named_like_a_policy_is_a_folder(tmp_path: Path) -> None:
    rules = wrong_rules(tmp_path, lambda rules: (rules / "x.policy").mkdir())
    (rules / "x.policy" / "y.policy").write_text("policy for every agent\nx: deny file_read\n")
    ran = run("check", rules)
    assert (ran.code, ran.out) == (0, "fine: 2 policy files, 0 test cases passed\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    rules = wrong_rules(tmp_path, lambda rules: (rules / "global.policy").chmod(0))
    ran = run("check", rules)
    assert ran.code == 2
    assert "`global.policy` may not be read by this process" in ran.out


def test_a_file_that_vanishes_while_the_folder_is_read_is_told_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = wrong_rules(tmp_path, text("policy for every agent\nx: deny list_tools\n"))
    seen: list[str] = []
    real = folder._read_regular

    def vanishing(name: str, path: str) -> object:
        if name == "bad.policy" and not seen:
            seen.append(name)
            os.unlink(path)
        return real(name, path)

    monkeypatch.setattr(folder, "_read_regular", vanishing)
    ran = run("decide", rules, stdin=CALL)
    # What stands there once the reading is steady is a policy without that file.
    assert seen
    assert ran.record["verdict"] == "allow"


def test_a_folder_that_vanishes_while_it_is_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = wrong_rules(tmp_path, lambda _: None)
    real = folder._read_regular

    def vanishing(name: str, path: str) -> object:
        shutil.rmtree(rules)
        return real(name, path)

    monkeypatch.setattr(folder, "_read_regular", vanishing)
    ran = run("decide", rules, stdin=CALL)
    assert (ran.code, ran.out) == (2, "")
    assert "error[unreadable-file]" in ran.err
