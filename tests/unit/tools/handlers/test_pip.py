"""How pip is started, and what its errors say."""

from __future__ import annotations

import pytest

from policy.generation import PythonSettings
from policy.tools.handlers.pip import pip_arguments, pip_problem


def arguments(python: PythonSettings) -> list[str]:
    return [*pip_arguments("/usr/bin/python3", ["a>=1"], python, target="/t/p", temp="/t/tmp")]


def test_nothing_but_the_configured_source_is_asked() -> None:
    folder = arguments(PythonSettings(wheels="/srv/wheels"))
    assert folder[:4] == ["env", "TMPDIR=/t/tmp", "/usr/bin/python3", "-I"]
    assert folder[-5:] == ["--no-index", "--find-links", "/srv/wheels", "--", "a>=1"]
    assert folder[folder.index("--only-binary") + 1] == ":all:"
    plain = arguments(PythonSettings(index="http://h.example:8080/simple/", hosts=("h.example",)))
    assert plain[-6:-2] == [
        *("--index-url", "http://h.example:8080/simple/"),
        *("--trusted-host", "h.example:8080"),
    ]
    secure = arguments(PythonSettings(index="https://h.example/simple/", hosts=("h.example",)))
    assert "--trusted-host" not in secure and "--no-index" not in secure


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        (
            "WARNING: x\nERROR: No a (from versions: none)\nERROR: No b.\n",
            "pip says: No a (from versions: none); No b",
        ),
        ("Traceback\n  File\nPermissionError: only wheels\n", "pip says: only wheels"),
        (
            "/usr/bin/python3: No module named pip\n",
            "`/x` has no pip: install it for this interpreter",
        ),
        ("ImportError: No module named pip", "`/x` has no pip: install it for this interpreter"),
        ("something\nlast words\n", "pip says: last words"),
        ("", "pip says: nothing"),
        ("ERROR: \x1b[31mred\n", "pip says: \\u{1b}[31mred"),
    ],
)
def test_a_problem_is_what_pip_says(errors: str, said: str) -> None:
    assert pip_problem(errors, interpreter="/x") == said


def test_a_problem_is_short() -> None:
    assert len(pip_problem("ERROR: " + "x" * 100_000, interpreter="/x")) < 400
