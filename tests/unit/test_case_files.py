"""Files of golden cases: read, compared and rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.diagnostics import diagnose
from policy.model import Source
from tests.case_files import (
    CaseError,
    diagnostic_lines,
    find_cases,
    mismatches,
    parse_cases,
    update,
)

SAMPLE = """\
# Tool names

What stands before the first case is for readers.

## A misspelt tool gets a suggestion

One sentence of why.

```policy
policy for every agent
default deny
# a comment, not a heading
```

```policy agents/writer.policy
policy for agent "writer"
```

```toml
[context]
```

```call
{"tool": "file_raed", "input": {}}

{"tool": "file_read", "input": {}}
```

```diagnostics
global.policy:2:1: error[unknown-tool] no tool is called `file_raed`
```

```decision
{"verdict": "deny"}
{"rule": "read", "verdict": "allow"}
```

### Another

````tree
```
````
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "checks" / "tools.md"
    path.parent.mkdir()
    path.write_text(SAMPLE, encoding="utf-8")
    return path


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "cases.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_heading_with_blocks_is_a_case(sample: Path) -> None:
    first, second = parse_cases(sample)
    assert (first.name, first.line, first.stage) == (
        "A misspelt tool gets a suggestion",
        5,
        "checks",
    )
    assert second.name == "Another"
    assert second.expected == {"tree": "```\n"}


def test_blocks_become_the_files_and_calls_of_a_case(sample: Path) -> None:
    case = parse_cases(sample)[0]
    assert case.files == {
        "global.policy": "policy for every agent\ndefault deny\n# a comment, not a heading\n",
        "agents/writer.policy": 'policy for agent "writer"\n',
        "placet.toml": "[context]\n",
    }
    assert case.calls == (
        '{"tool": "file_raed", "input": {}}',
        '{"tool": "file_read", "input": {}}',
    )
    assert list(case.expected) == ["diagnostics", "decision"]


def test_cases_are_found_in_the_folders_of_their_stages(sample: Path) -> None:
    assert find_cases(sample.parent.parent) == parse_cases(sample)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no cases"),
        ("# Title\n", "no cases"),
        ("```tree\n```\n", ":1: a block before the first heading"),
        ("# A\n```tree\nx\n", ":2: the block is never closed"),
        ("# A\n```python\n```\n", ":2: a block is one of .*, not `python`"),
        ("# A\n```policy\n```\n", ":1: `A` expects nothing"),
        ("# A\n```tree\n```\n```tree\n```\n", ":1: `A` expects two blocks of one kind"),
        ("# A\n```policy\n```\n```policy\n```\n```tree\n```\n", ":1: `A` has one file twice"),
        ("# A\n```tree\n```\n# A\n```tree\n```\n", ":4: a second case is called `A`"),
    ],
)
def test_a_file_that_says_nothing_clear_is_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(CaseError, match=complaint):
        parse_cases(write(tmp_path, text))


DIAGNOSTICS = "global.policy:2:1: error[unknown-tool] no tool is called `file_raed`\n"
DECISIONS = (
    '{"id": "1", "verdict": "deny", "reasons": [{"rule": "none"}]}\n'
    '{"id": "2", "verdict": "allow", "reasons": [{"rule": "read"}]}\n'
)


def test_what_is_produced_as_expected_passes(sample: Path) -> None:
    case = parse_cases(sample)[0]
    assert mismatches(case, {"diagnostics": DIAGNOSTICS, "decision": DECISIONS}) == ""


@pytest.mark.parametrize(
    ("diagnostics", "decision"),
    [
        ("", DECISIONS),
        (DIAGNOSTICS + DIAGNOSTICS, DECISIONS),
        (DIAGNOSTICS, DECISIONS.replace("deny", "allow")),
        (DIAGNOSTICS, DECISIONS.replace('"read"', '"other"')),
        (DIAGNOSTICS, DECISIONS.splitlines()[0]),
        (DIAGNOSTICS, DECISIONS + '{"verdict": "deny"}\n'),
        (DIAGNOSTICS, ""),
        (DIAGNOSTICS, '{"error": {"code": "not-json"}}\n' * 2),
    ],
)
def test_anything_else_fails(sample: Path, diagnostics: str, decision: str) -> None:
    case = parse_cases(sample)[0]
    assert mismatches(case, {"diagnostics": diagnostics, "decision": decision}) != ""


def test_a_block_that_the_stage_cannot_make_is_an_error(sample: Path) -> None:
    with pytest.raises(CaseError, match="`checks` cases make no `decision` block"):
        mismatches(parse_cases(sample)[0], {"diagnostics": DIAGNOSTICS})


def test_updating_rewrites_expectations_and_nothing_else(sample: Path) -> None:
    produced = {"diagnostics": "a\nb\nc\n", "decision": DECISIONS.replace("allow", "ask")}
    first, second = parse_cases(sample)
    update(first, produced)
    update(second, {"tree": "leaf\nleaf"})
    text = sample.read_text(encoding="utf-8")
    assert text == (
        SAMPLE.replace(DIAGNOSTICS, "a\nb\nc\n")
        .replace('"verdict": "allow"', '"verdict": "ask"')
        .replace("````tree\n```\n````", "````tree\nleaf\nleaf\n````")
    )
    assert mismatches(parse_cases(sample)[0], produced) == ""
    assert mismatches(parse_cases(sample)[1], {"tree": "leaf\nleaf"}) == ""


def test_an_empty_expectation_is_filled_in(tmp_path: Path) -> None:
    path = write(tmp_path, "# A\n```decision\n```\n")
    (case,) = parse_cases(path)
    assert mismatches(case, {"decision": DECISIONS}) != ""
    update(case, {"decision": DECISIONS})
    assert path.read_text(encoding="utf-8") == (
        '# A\n```decision\n{"verdict": "deny", "rule": "none"}\n'
        '{"verdict": "allow", "rule": "read"}\n```\n'
    )


def test_an_expectation_that_would_close_its_own_fence_is_refused(tmp_path: Path) -> None:
    (case,) = parse_cases(write(tmp_path, "# A\n```tree\n```\n"))
    with pytest.raises(CaseError, match="longer fence"):
        update(case, {"tree": "a\n```\n"})


def test_diagnostics_are_listed_one_a_line() -> None:
    source = Source(name="global.policy", text="policy for every agent\nallow x\n")
    listed = diagnostic_lines(
        [
            diagnose("unknown-tool", "no tool is called `x`", span=source.span(29, 30)),
            diagnose("byte-order-mark", "a mark", file="a.policy"),
            diagnose("empty-policy", "nothing here"),
        ]
    )
    assert listed == (
        "-: error[empty-policy] nothing here\n"
        "a.policy: warning[byte-order-mark] a mark\n"
        "global.policy:2:7: error[unknown-tool] no tool is called `x`\n"
    )
