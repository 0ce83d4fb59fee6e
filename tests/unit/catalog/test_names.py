from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import Catalog, Origin, ToolSpec, repair_name, snake_case


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


@pytest.mark.parametrize("name", ["file_raed", "read_file", "", "FILE_READ" * 100, "file\nread"])
def test_a_mistyped_name_is_not_repaired(name: str) -> None:
    assert repair_name(name, catalog_of("file_read")) is None


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=5))
def test_repair_names_a_known_tool_or_none(name: str, known: list[str]) -> None:
    catalog = catalog_of(*known)
    repaired = repair_name(name, catalog)
    assert repaired is None or repaired.name in known
    if name in known:
        assert repaired is not None
        assert repaired.name == name
