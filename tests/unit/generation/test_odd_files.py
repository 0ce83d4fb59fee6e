"""Files as editors and other programs write them: one message says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.generation import read_policy
from tests.case_files import diagnostic_lines

POLICY = (
    "policy for every agent\n\ndefault deny\nread: allow file_read\n  when reads only workspace\n"
)


def reported(folder: Path, content: bytes, *, name: str = "global.policy") -> str:
    (folder / name).write_bytes(content)
    return diagnostic_lines(read_policy(folder).diagnostics)


@pytest.mark.parametrize(
    "content",
    [
        POLICY.replace("\n", "\r\n").encode(),
        POLICY.replace("  when", "\twhen").encode(),
        POLICY.replace("\n", "   \n").encode(),
        POLICY.rstrip().encode(),
    ],
    ids=["line ends of Windows", "a tab", "spaces at the end of lines", "no line end at the end"],
)
def test_what_editors_do_to_white_space_does_not_matter(tmp_path: Path, content: bytes) -> None:
    assert reported(tmp_path, content) == ""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"\xef\xbb\xbf" + POLICY.encode(),
            "1:1: warning[byte-order-mark] the file begins with a byte order mark",
        ),
        (
            POLICY.replace("\n", "\r").encode(),
            "1:23: error[control-character] the lines of the file end with a carriage return alone",
        ),
        (POLICY.encode("utf-16"), "1:1: error[not-utf8] byte 0xff is not UTF-8 text"),
        (
            POLICY.encode() + 'no: deny web_fetch because "zurück"\n'.encode("latin-1"),
            "6:32: error[not-utf8] byte 0xfc is not UTF-8 text",
        ),
        (
            POLICY.encode() + b"no: deny web_\x00fetch\n",
            "6:14: error[control-character] an invisible character: `U+0000`",
        ),
        (
            b"",
            "1:1: error[missing-header] the file does not declare which agents it applies to",
        ),
        (
            b"# later\n",
            "1:1: error[missing-header] the file does not declare which agents it applies to",
        ),
        (
            b"<!DOCTYPE html>\n<html>\n<body></body>\n</html>\n",
            "1:1: error[missing-header] this is not the policy language",
        ),
    ],
    ids=["mark", "carriage returns", "UTF-16", "Latin 1", "NUL", "empty", "comment", "HTML"],
)
def test_one_message_describes_an_odd_file(tmp_path: Path, content: bytes, expected: str) -> None:
    assert reported(tmp_path, content) == f"global.policy:{expected}\n"


@pytest.mark.parametrize("name", ["global.policy.txt", "policy.yaml", "global.pol"])
def test_a_folder_without_policy_files_is_told_their_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(POLICY, encoding="utf-8")
    (found,) = read_policy(tmp_path).diagnostics
    assert found.code == "empty-policy"
    assert "`global.policy`" in found.help
