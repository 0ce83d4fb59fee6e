"""Whether a program failed because of its sandbox, from what it has printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.generation import ProcessLimits, Reach
from policy.sandbox import SandboxPlan
from policy.sandbox.denials import Denied, denial_of

PLAN = SandboxPlan(
    reads=("/srv/data",),
    writes=("/work",),
    kept=("/work/.git/hooks",),
    immovable=("/work/.git",),
    unkept=(),
    folder="/work",
    home="/home/ann",
    network="none",
    limits=ProcessLimits(cpu=5, total_memory=50_000_000),
    masked=("/work/.env", "/work/keys"),
)


def found(
    errors: str, *, status: int = 1, tier: str = "bubblewrap", closed: tuple[str, ...] = ()
) -> list[tuple[str, str | None]]:
    denial = denial_of(PLAN, tier=tier, closed=closed, status=status, errors=errors)
    return [] if denial is None else [(each.verb, each.target) for each in denial.denied]


@pytest.mark.parametrize(
    ("line", "verb", "target"),
    [
        ("bash: line 1: /etc/x: Read-only file system", "read", "/etc/x"),
        ("touch: cannot touch '/usr/x': Read-only file system", "write", "/usr/x"),
        ("bash: line 1: .git/hooks/x: Read-only file system", "write", "/work/.git/hooks/x"),
        ("cat: /home/bob/.ssh/id: No such file or directory", "read", "/home/bob/.ssh/id"),
        ("cat: ../secret: Permission denied", "read", "/secret"),
        ("PermissionError: [Errno 13] Permission denied: '/srv/data/x'", "write", "/srv/data/x"),
        ("Error: EROFS: read-only file system, open '/usr/y'", "write", "/usr/y"),
        ("open /var/lib/x: permission denied", "read", "/var/lib/x"),
        ("cat: .env: Permission denied", "read", "/work/.env"),
        ("ls: cannot open directory 'keys': Permission denied", "read", "/work/keys"),
        ("curl: (6) Could not resolve host: a.test", "connect", "a.test"),
        ("Error: getaddrinfo EAI_AGAIN b.test", "connect", "b.test"),
        ("OSError: [Errno 101] Network is unreachable", "connect", None),
        ("bwrap: Can't chdir to /x: No such file or directory", "start", None),
    ],
)
def test_what_was_denied_is_told_by_how_programs_report_errors(
    line: str, verb: str, target: str | None
) -> None:
    ((said, about),) = found(line)
    assert said == verb
    if verb != "start":
        assert about == target


@pytest.mark.parametrize(
    "line",
    [
        "cat: missing.txt: No such file or directory",
        "cat: /usr/missing: No such file or directory",
        "cat: /tmp/missing: No such file or directory",
        "mkdir: cannot create directory '/work/a': Permission denied",
        "AssertionError: 1 != 2",
        "error: https://a.test/x: permission denied",
        "it says bwrap: no\nand more",
        "",
    ],
)
def test_other_failures_are_not_the_sandbox(line: str) -> None:
    assert found(line) == []


def test_a_program_that_succeeds_was_not_denied_anything() -> None:
    assert found("cat: /etc/shadow: Permission denied", status=0) == []


def test_what_a_proxy_has_refused_is_certain_and_what_is_said_of_it_likely() -> None:
    said = "fetching failed: the sandbox does not connect to b.test:443: no rule allows this"
    assert found(said) == [("connect", "b.test:443")]
    for refused, likely in ((("b.test:443",), [False]), ((), [True])):
        denial = denial_of(
            PLAN,
            tier="bubblewrap",
            closed=(),
            status=1,
            errors=said,
            refused=refused,
            subject="this server",
        )
        assert denial is not None
        assert [each.likely for each in denial.denied] == likely
        assert "sandbox does not let this server connect to b.test:443;" in denial.sentence()


def test_a_folder_in_which_nothing_is_made_is_told_apart() -> None:
    line = "touch: cannot touch 'new': Permission denied"
    assert found(line, tier="landlock") == []
    assert found(line, tier="landlock", closed=("/work",)) == [("write", "/work/new")]


def test_the_kernel_s_own_end_of_a_program_is_certain() -> None:
    denial = denial_of(PLAN, tier="landlock", closed=(), status=-31, errors="")
    assert denial is not None
    assert [(each.verb, each.likely) for each in denial.denied] == [("call", False)]
    assert found("Bad system call", status=159) == [("call", None)]
    assert found("", status=-24) == [("use", "cpu")]
    assert found("", status=137) == [("use", "total_memory")]
    # Killed by `cpu`, where nothing else does.
    cpu = replace(PLAN, limits=ProcessLimits(cpu=5))
    killed = denial_of(cpu, tier="landlock", closed=(), status=-9, errors="")
    assert killed is not None
    assert killed.denied == (Denied(verb="use", target="cpu"),)
    # There is no limit of `file_size` in this plan.
    assert found("", status=-25) == []


def test_the_sentence_says_what_and_that_its_effects_stay() -> None:
    denial = denial_of(
        PLAN,
        tier="bubblewrap",
        closed=(),
        status=1,
        errors="cat: /a\x1b[0m/b: Permission denied\ncurl: (6) Could not resolve host: a.test",
    )
    assert denial is not None
    assert denial.sentence() == (
        "Likely, the sandbox does not let this command read /a\\u{1b}[0m/b and connect to a.test; "
        "it fails again unless people change that, and what it did before stays done."
    )
    record = denial.record()
    assert (record["code"], record["tier"]) == ("denied-by-sandbox", "bubblewrap")
    assert record["denied"][1] == {"verb": "connect", "target": "a.test", "likely": True}


def test_what_a_proxy_has_refused_is_certain() -> None:
    denial = denial_of(
        PLAN,
        tier="bubblewrap",
        closed=(),
        status=1,
        errors="cat: /a/b: Permission denied",
        refused=("a.test:443",),
    )
    assert denial is not None
    assert denial.sentence().startswith(
        "The sandbox does not let this command connect to a.test:443;"
    )


def test_with_a_network_its_failures_are_its_own(tmp_path: Path) -> None:
    from dataclasses import replace

    plan = replace(PLAN, network=Reach(network="all").network)
    errors = "curl: (6) Could not resolve host: a.test"
    assert denial_of(plan, tier="bubblewrap", closed=(), status=1, errors=errors) is None


def test_output_without_end_is_looked_at_in_part() -> None:
    many = "".join(f"cat: /a/{number}: Permission denied\n" for number in range(100_000))
    assert len(found(many)) == 5
    assert found("cat: /" + "a" * 1_000_000 + ": Permission denied") == []


@given(st.text(), st.integers(-64, 255))
def test_no_output_makes_it_fail(errors: str, status: int) -> None:
    found(errors, status=status)
    found(f"x: {errors}: permission denied", status=status)
