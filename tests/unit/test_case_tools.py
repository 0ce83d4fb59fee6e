"""Golden cases call only tools that exist; a case about an unknown one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_files import CaseError, parse_cases
from tests.cases.deciding import decisions, lines

CASE = """\
## A case

```policy
policy for every agent

default allow
```

```call
not json
{"tool": "t", "input": {}}
{"tool": "TOOL", "input": {}}
```

```decision
```
"""


@pytest.mark.parametrize("stage", [decisions, lines])
def test_a_case_about_a_tool_that_cases_do_not_have_is_refused(
    stage: object, tmp_path: Path
) -> None:
    path = tmp_path / "cases.md"
    path.write_text(CASE.replace("TOOL", "volume"), encoding="utf-8")
    (case,) = parse_cases(path)
    with pytest.raises(
        CaseError, match=r"A case: unknown tool `volume`: cases have only t, u, pay"
    ):
        stage(case)  # type: ignore[operator]


def test_a_case_may_call_built_in_tools_and_misspell_names(tmp_path: Path) -> None:
    path = tmp_path / "cases.md"
    path.write_text(CASE.replace("TOOL", "FileRead"), encoding="utf-8")
    (case,) = parse_cases(path)
    assert decisions(case)["decision"].count("\n") == 3
