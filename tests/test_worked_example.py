"""The worked example of the language page: its files load, and its commands print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.unit.cli.running import run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "language.md"
_COMMAND = re.compile(r"^```console\n\$ placet (.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```policy *(\S*)\n(policy for .*?)^```", re.MULTILINE | re.DOTALL)


def test_the_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_cases: bool
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, heading, rest = page.partition("### The whole policy\n")
    example, reference, after = rest.partition("## Reference\n")
    for name, text in _FILE.findall(example):
        file = tmp_path / "policy" / (name or "global.policy")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def rerun(shown: re.Match[str]) -> str:
        printed = re.sub(r"sha256:[0-9a-f]+…?", "sha256:…", run(*shlex.split(shown[1])).out)
        return f"```console\n$ placet {shown[1]}\n{printed}```"

    assert len(_COMMAND.findall(example)) == 3
    current = _COMMAND.sub(rerun, example)
    if update_cases:
        PAGE.write_text(before + heading + current + reference + after, encoding="utf-8")
    else:
        assert current == example, "the page is out of date: run this with --update-cases"
