"""Plans as profiles of Seatbelt. They are read here, and run nowhere in the tests."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.generation import ProcessLimits
from policy.sandbox import CannotConfine, seatbelt_command
from policy.sandbox.seatbelt import seatbelt_profile
from tests.unit.sandbox.plans import PLAN


def read(text: str) -> list[object]:
    """Read the expressions of a profile: lists of words and strings."""
    found: list[list[object]] = [[]]
    at = 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter == "(":
            found.append([])
        elif letter == ")":
            last = found.pop()
            found[-1].append(last)
        elif letter == '"':
            content = ""
            while text[at] != '"':
                at += text[at] == "\\"
                content += text[at]
                at += 1
            at += 1
            found[-1].append(("string", content))
        elif not letter.isspace():
            start = at - 1
            while at < len(text) and text[at] not in '()" \n':
                at += 1
            found[-1].append(text[start:at])
    (only,) = found
    return only


def rules(profile: str) -> list[list[object]]:
    return [each for each in read(profile) if isinstance(each, list)]


def test_the_last_rules_take_back_what_stays_read_only() -> None:
    found = rules(seatbelt_profile(PLAN))
    assert found[1] == ["deny", "default"]
    assert found[-3:] == [
        ["allow", "file-read*", "file-write*", ["subpath", ("string", "/work")]],
        ["deny", "file-write*", ["literal", ("string", "/work/.git")]],
        ["deny", "file-write*", ["subpath", ("string", "/work/.git/hooks")]],
    ]
    assert not any("network" in str(each) for each in found)


def test_the_network_is_open_where_it_is_configured() -> None:
    assert ["allow", "network*"] in rules(seatbelt_profile(replace(PLAN, network="all")))


def test_a_workspace_in_a_folder_of_the_system_is_read_as_far_as_it_is_named() -> None:
    plan = replace(PLAN, private=("/opt/app",), reads=("/opt/app/src",))
    names = [f"{each[0]}{each[-1]}" for each in rules(seatbelt_profile(plan))]
    private, named = (
        next(number for number, each in enumerate(names) if path in each)
        for path in ("deny['subpath', ('string', '/opt/app')]", "/opt/app/src")
    )
    assert private < named


@given(st.text(min_size=1))
def test_no_path_breaks_out_of_its_string(name: str) -> None:
    path = f"/srv/{name}"
    plan = replace(PLAN, reads=(path,))
    try:
        found = rules(seatbelt_profile(plan))
    except CannotConfine:
        assert not name.isprintable()
        return
    usual = rules(seatbelt_profile(replace(PLAN, reads=())))
    assert len(found) == len(usual) + 1
    (more,) = [each for each in found if each not in usual]
    assert more[-1] == ["subpath", ("string", path)]


@pytest.mark.parametrize("path", ['/a") (allow default) ("', "/a\n(allow default)", "/a\\", "/(x)"])
def test_hostile_paths_are_quoted_or_refused(path: str) -> None:
    try:
        found = rules(seatbelt_profile(replace(PLAN, writes=(path,))))
    except CannotConfine:
        assert "\n" in path
    else:
        assert ["allow", "default"] not in found


def test_what_a_profile_cannot_express_is_refused() -> None:
    with pytest.raises(CannotConfine, match="no limit for `processes`"):
        seatbelt_profile(replace(PLAN, limits=ProcessLimits(processes=5)))
    with pytest.raises(CannotConfine, match="option"):
        seatbelt_command(PLAN, ("-D", "x=y"))


def test_the_command_names_the_profile_and_the_program() -> None:
    command = seatbelt_command(PLAN, ("git", "status"))
    assert command[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert command[3:] == ("git", "status")
