"""Reads a Markdown file of golden cases, and writes it with new expectations.

A heading names a case; the fenced blocks below it are its inputs and what must come of them. The
first word after a fence says what the block is, the second which file it stands for:

    ## A misspelt tool gets a suggestion

    ```policy agents/writer.policy     a file of the policy folder; without a name `global.policy`
    ```toml placet.toml                the configuration, the same way
    ```json catalog.json               any other file that the case needs
    ```call                            JSON lines, as `placet decide` reads them

    ```diagnostics                     lines `file:line:column: severity[code] message`
    ```report                          the text that `placet check` prints
    ```decision                        a JSON object a line; only the keys it has are compared
    ```tree                            the parsed policy
    ```formatted                       the canonical text
    ```lines                           what the policy tells each caller of the calls
    ```proofs                          what `placet prove` finds of each claim
    ```explanation                     what `placet explain` prints about each call

Expectations are written by `pytest --update-cases` and reviewed as a diff; an empty block is filled
in. A case without an expectation is an error, for it could not fail.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from policy.diagnostics import Diagnostic, in_order, visible

EXPECTATIONS = frozenset(
    {"decision", "diagnostics", "explanation", "formatted", "lines", "proofs", "report", "tree"}
)
INPUTS: Mapping[str, str] = {
    "policy": "global.policy",
    "toml": "placet.toml",
    "json": "",
    "call": "",
}

_HEADING = re.compile(r"#{1,6} +(.+?) *#*")
_FENCE = re.compile(r"(`{3,})(.*)")


class CaseError(Exception):
    """A file of cases that cannot be read; says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: what it is, the file it stands for, and its text.

    `line` is that of the opening fence, from 1; the text's first line follows it.
    """

    kind: str
    name: str
    text: str
    line: int
    fence: str = "```"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test: its heading and its blocks, in the order of the file."""

    name: str
    path: Path
    line: int
    blocks: tuple[Block, ...]

    @property
    def stage(self) -> str:
        """The folder of the file: which part of the journey the case is about."""
        return self.path.parent.name

    @property
    def files(self) -> dict[str, str]:
        """The policy folder of the case: file names and their texts."""
        return {block.name: block.text for block in self.blocks if block.name}

    @property
    def calls(self) -> tuple[str, ...]:
        """The call lines, as they stand: they may be malformed on purpose."""
        texts = (block.text for block in self.blocks if block.kind == "call")
        return tuple(line for text in texts for line in text.splitlines() if line.strip())

    @property
    def expected(self) -> dict[str, str]:
        """The expectation blocks, by kind."""
        return {block.kind: block.text for block in self.blocks if block.kind in EXPECTATIONS}


def parse_cases(path: Path) -> tuple[Case, ...]:
    """Return the cases of a file; `CaseError` names the line of what is wrong with it."""
    cases: list[Case] = []
    names: set[str] = set()
    for name, line, blocks in _sections(path):
        _check(name, blocks, where=f"{path}:{line}")
        if name in names:
            raise CaseError(f"{path}:{line}: a second case is called `{name}`")
        names.add(name)
        cases.append(Case(name=name, path=path, line=line, blocks=blocks))
    if not cases:
        raise CaseError(f"{path}: no cases")
    return tuple(cases)


def find_cases(root: Path) -> tuple[Case, ...]:
    """Return every case of every file in the folders below `root`, in order."""
    return tuple(case for path in sorted(root.glob("*/*.md")) for case in parse_cases(path))


def mismatches(case: Case, produced: Mapping[str, str]) -> str:
    """Return how what was produced differs from what is expected, or "" if it does not."""
    parts: list[str] = []
    for kind, expected in case.expected.items():
        if kind not in produced:
            raise CaseError(f"{case.path}:{case.line}: `{case.stage}` cases make no `{kind}` block")
        actual = _comparable(kind, expected, produced=produced[kind])
        if actual != _comparable(kind, expected, produced=expected):
            parts.extend(
                difflib.unified_diff(
                    expected.splitlines(),
                    actual.splitlines(),
                    f"expected {kind}",
                    f"produced {kind}",
                    lineterm="",
                )
            )
    return "\n".join(parts)


def update(case: Case, produced: Mapping[str, str]) -> None:
    """Rewrite the case's expectations in its file to what was produced."""
    lines = case.path.read_text(encoding="utf-8").splitlines(keepends=True)
    # The file may have grown since the case was read: another case of it was updated.
    current = next(c for c in parse_cases(case.path) if c.name == case.name)
    for block in reversed(current.blocks):
        if block.kind not in EXPECTATIONS or block.kind not in produced:
            continue
        text = _comparable(block.kind, block.text, produced=produced[block.kind])
        if any(line.startswith(block.fence) for line in text.splitlines()):
            raise CaseError(f"{case.path}:{block.line}: needs a longer fence than {block.fence}")
        old = len(block.text.splitlines())
        lines[block.line : block.line + old] = text.splitlines(keepends=True)
    case.path.write_text("".join(lines), encoding="utf-8")


def diagnostic_lines(diagnostics: Iterable[Diagnostic]) -> str:
    """Return diagnostics as a `diagnostics` block lists them."""
    shown = []
    for d in in_order(diagnostics):
        place = str(d.span) if d.span else d.file or "-"
        shown.append(f"{place}: {d.severity}[{d.code}] {visible(d.message)}\n")
    return "".join(shown)


def _sections(path: Path) -> Iterator[tuple[str, int, tuple[Block, ...]]]:
    """Yield each heading that has blocks below it, with its line and its blocks."""
    heading, heading_line = "", 0
    blocks: list[Block] = []
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), start=1))
    for number, line in lines:
        if opening := _FENCE.fullmatch(line.rstrip()):
            if not heading:
                raise CaseError(f"{path}:{number}: a block before the first heading")
            text = _block_text(lines, opening[1], where=f"{path}:{number}")
            blocks.append(_block(opening, text, line=number, where=f"{path}:{number}"))
        elif found := _HEADING.fullmatch(line.rstrip()):
            if blocks:
                yield heading, heading_line, tuple(blocks)
            heading, heading_line, blocks = found[1], number, []
    if blocks:
        yield heading, heading_line, tuple(blocks)


def _block_text(lines: Iterator[tuple[int, str]], fence: str, *, where: str) -> str:
    text: list[str] = []
    for _, line in lines:
        closing = _FENCE.fullmatch(line.rstrip())
        if closing and not closing[2] and len(closing[1]) >= len(fence):
            return "".join(text)
        text.append(line)
    raise CaseError(f"{where}: the block is never closed")


def _block(opening: re.Match[str], text: str, *, line: int, where: str) -> Block:
    kind, _, name = opening[2].strip().partition(" ")
    if kind not in EXPECTATIONS and kind not in INPUTS:
        known = ", ".join(sorted(EXPECTATIONS | set(INPUTS)))
        raise CaseError(f"{where}: a block is one of {known}, not `{kind}`")
    name = name.strip() or INPUTS.get(kind, "")
    return Block(kind=kind, name=name, text=text, line=line, fence=opening[1])


def _check(name: str, blocks: tuple[Block, ...], *, where: str) -> None:
    kinds = [block.kind for block in blocks if block.kind in EXPECTATIONS]
    files = [block.name for block in blocks if block.name]
    if not kinds:
        raise CaseError(f"{where}: `{name}` expects nothing, so it could not fail")
    if len(kinds) != len(set(kinds)):
        raise CaseError(f"{where}: `{name}` expects two blocks of one kind")
    if len(files) != len(set(files)):
        raise CaseError(f"{where}: `{name}` has one file twice")


def _comparable(kind: str, expected: str, *, produced: str) -> str:
    """Return what was produced, reduced to what an expectation of this kind speaks of."""
    if kind != "decision":
        return produced if produced.endswith("\n") or not produced else produced + "\n"
    pairs = zip_longest(_objects(expected), _objects(produced))
    return "".join(_told(wanted, got) + "\n" for wanted, got in pairs if got is not None)


def _objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _told(wanted: dict[str, Any] | None, got: dict[str, Any]) -> str:
    """Return a decision as far as the expected line tells it: verdict and rule if it is new."""
    if "rule" not in got and got.get("reasons"):
        got = {**got, "rule": got["reasons"][0]["rule"]}
    keys = ("verdict", "rule", "error") if wanted is None else tuple(wanted)
    told = {key: got[key] for key in keys if key in got}
    return json.dumps(told, ensure_ascii=False)
