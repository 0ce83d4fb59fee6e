"""Tool names as models spell them: repaired where they can mean only one tool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import Catalog, Origin, RepairedName, ToolSpec, repair_name, snake_case
from policy.diagnostics import one_edit_from


def catalog_of(*names: str) -> Catalog:
    return Catalog(
        specs=tuple(ToolSpec(name=name, origin=Origin(kind="host", tool=name)) for name in names)
    )


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("getMP3File", "get_mp3_file"),
        ("list3DModels", "list3_d_models"),
        ("getHTTPSUrl", "get_https_url"),
        ("file_read", "file_read"),
        ("FileRead", "file_read"),
        ("ÄndereÖl", "ändere_öl"),
        ("A", "a"),
        ("", ""),
    ],
)
def test_names_become_snake_case(name: str, snake: str) -> None:
    assert snake_case(name) == snake


@pytest.mark.parametrize(
    ("given_name", "how"),
    [
        ("file_read", ""),
        ("FILE_READ", "case"),
        ("file.read", "separators"),
        ("file-read", "separators"),
        ("File Read", "separators"),
        ("fileRead", "snake_case"),
        ("FileRead", "snake_case"),
        ("file_read,", "separators"),
        ("`file_read`", "separators"),
        ('"FileRead"', "snake_case"),
        ("file_read()", "separators"),
    ],
)
def test_a_name_spelled_otherwise_is_repaired(given_name: str, how: str) -> None:
    repaired = repair_name(given_name, catalog_of("file_read", "file_write"))
    assert repaired is not None
    assert (repaired.name, repaired.how) == ("file_read", how)


def test_a_tool_in_another_style_is_found_by_a_snake_case_name() -> None:
    repaired = repair_name("get_mp3_file", catalog_of("getMP3File"))
    assert repaired is not None
    assert repaired.name == "getMP3File"


def test_bash_is_another_name_of_bash_exec_unless_a_tool_is_called_so() -> None:
    repaired = repair_name("bash", catalog_of("bash_exec"))
    assert repaired is not None
    assert repaired.name == "bash_exec"
    repaired = repair_name("bash", catalog_of("bash_exec", "bash"))
    assert repaired is not None
    assert repaired.name == "bash"


@pytest.mark.parametrize("name", ["FILEREAD", "file.read", "fileread"])
def test_a_name_that_may_mean_two_tools_is_not_repaired(name: str) -> None:
    assert repair_name(name, catalog_of("fileRead", "FileRead")) is None


@pytest.mark.parametrize(
    "name",
    ["file_raed", "file_rea", "fileread", "file_readd", "file_tead", "File-Raed", "FILE.REED"],
)
def test_a_name_with_one_slip_is_repaired(name: str) -> None:
    repaired = repair_name(name, catalog_of("file_read", "file_write", "web_fetch"))
    assert repaired is not None
    assert repaired.name == "file_read"


@pytest.mark.parametrize(
    "name",
    [
        "read_file",
        "file_raedd",
        "",
        "FILE_READ" * 100,
        "file\nread",
        "file read\u200b",
        "file_rea2",
    ],
)
def test_a_name_with_more_than_a_slip_is_not_repaired(name: str) -> None:
    assert repair_name(name, catalog_of("file_read")) is None


def test_of_two_names_that_fit_a_slip_neither_is_meant() -> None:
    assert repair_name("file_reax", catalog_of("file_read", "file_reap")) is None
    assert repair_name("file_reap", catalog_of("file_read", "file_reap", "file_real")) is not None


@pytest.mark.parametrize("name", ["fileRead", "FileRead", "fileRead()"])
def test_of_two_names_that_fit_by_case_and_by_parts_neither_is_meant(name: str) -> None:
    assert repair_name(name, catalog_of("fileread", "file_read")) is None


@pytest.mark.parametrize(("name", "meant"), [("FILEREAD", "fileread"), ("File_Read", "file_read")])
def test_a_name_whose_parts_fit_as_well_is_the_one_that_is_meant(name: str, meant: str) -> None:
    repaired = repair_name(name, catalog_of("fileread", "file_read"))
    assert repaired == RepairedName(name=meant, how="case")


@pytest.mark.parametrize("known", ["list", "cat", "v2_x"])
def test_a_short_name_does_not_slip(known: str) -> None:
    assert repair_name(f"{known[:-1]}q", catalog_of(known)) is None


@pytest.mark.parametrize(("name", "known"), [("report2", "report1"), ("get_v1", "get_v2")])
def test_a_digit_does_not_slip(name: str, known: str) -> None:
    assert repair_name(name, catalog_of(known)) is None


_LETTERS = st.text("ab_", min_size=4, max_size=7)


def _one_slip_apart(one: str, other: str) -> bool:
    """By making every slip there is."""
    letters = set(one + other)
    dropped = {one[:i] + one[i + 1 :] for i in range(len(one))}
    added = {one[:i] + x + one[i:] for i in range(len(one) + 1) for x in letters}
    changed = {one[:i] + x + one[i + 1 :] for i in range(len(one)) for x in letters}
    swapped = {one[:i] + one[i : i + 2][::-1] + one[i + 2 :] for i in range(len(one) - 1)}
    return one != other and other in dropped | added | changed | swapped


@given(_LETTERS, st.lists(_LETTERS, unique=True, max_size=30))
def test_a_slip_is_a_letter_dropped_added_changed_or_two_swapped(
    word: str, known: list[str]
) -> None:
    near = {name for name in known if len(name) >= 5 and _one_slip_apart(word, name)}
    assert set(one_edit_from(word, known)) == (near if len(word) >= 5 else set())


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=5))
def test_repair_names_a_known_tool_or_none(name: str, known: list[str]) -> None:
    catalog = catalog_of(*known)
    repaired = repair_name(name, catalog)
    assert repaired is None or repaired.name in known
    if name in known:
        assert repaired is not None
        assert repaired.name == name
