"""What a message catalogue makes of `$"…"` never runs unseen.

Bash looks such a string up in the catalogue that `TEXTDOMAIN` names, and expands what it finds. The
whole engine decides each script under a deny for what the catalogue hides, and real bash tells
whether it runs.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.model import Verdict
from tests.examples import examples
from tests.laws.denied_touch import decided
from tests.laws.real_shells import run

_MESSAGES = {
    "": "Content-Type: text/plain; charset=UTF-8\n",
    "a": "$(touch M)",
}
# Places of `$"a"` in a script.
PLACES = (
    'echo $"a"',
    'x=$"a"',
    'x=($"a")',
    'f() { echo $"a"; }; f',
    'if [[ x == $"a" ]]; then ls; fi',
    'case $"a" in b) ls;; esac',
    'cat <<< $"a"',
    'cat <<E\n$"a"\nE',
    "eval 'echo $\"a\"'",
    "trap 'echo $\"a\"' EXIT",
    "bash -c 'echo $\"a\"'",
    "sh -c 'echo $\"a\"'",
    'for x in $"a"; do ls; done',
    'echo $(echo $"a")',
    '(echo $"a")',
    'echo $"a" | cat',
    'echo b$"a"c > /dev/null',
    "echo '$\"a\"'",
    "echo \"$'a'\"",
)
# Ways of setting a variable `V` to `W`, before a script `S`.
SETTINGS = (
    "V=W\nS",
    "V=W; S",
    "export V=W; S",
    "declare V=W\nS",
    "readonly V=W\nS",
    "read V <<< W\nS",
    "printf -v V %s W\nS",
    ": ${V:=W}\nS",
    "mapfile -t V <<< W\nS",
    "for V in W; do eval ls; done\nS",
    "declare -n r=V; r=W\nS",
    "n=V; read $n <<< W\nS",
    "n=V; export $n=W\nS",
    "eval 'V=W'\nS",
    "set -a\nV=W\nS",
    "V[0]=W\nS",
    "V=(W)\nS",
    "f() { local V=W; eval 'S'; }; f",
    "export 'V'; V=W\nS",
    "b=W\nV=$b\nS",
)


def _catalogue() -> bytes:
    """Return the messages in the format of gettext's compiled catalogues."""
    pairs = sorted((key.encode(), text.encode()) for key, text in _MESSAGES.items())
    columns = [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]
    start = 28 + 16 * len(pairs)
    tables, texts = b"", b""
    for column in columns:
        for text in column:
            tables += struct.pack("<II", len(text), start + len(texts))
            texts += text + b"\0"
    head = (0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return struct.pack("<7I", *head) + tables + texts


@st.composite
def _scripts(draw: st.DrawFn) -> str:
    place = draw(st.sampled_from(PLACES))
    script = place
    for name, value in (("TEXTDOMAIN", "x"), ("TEXTDOMAINDIR", ".")):
        setting = draw(st.sampled_from(SETTINGS))
        if "'S'" in setting and "'" in script:
            setting = SETTINGS[0]
        script = setting.replace("V", name).replace("W", value).replace("S", script)
    return script


def _is_allowed(script: str) -> bool:
    return decided(script).verdict is Verdict.ALLOW


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("translated")
    messages = made / "C" / "LC_MESSAGES"
    messages.mkdir(parents=True)
    (messages / "x.mo").write_bytes(_catalogue())
    return made


def _touches(script: str, folder: Path, **variables: str) -> bool:
    env = {"HOME": "/home/user", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", **variables}
    run("/bin/bash", script, folder=folder, env=env)
    made = folder / "M"
    found = made.exists()
    made.unlink(missing_ok=True)
    return found


@settings(max_examples=examples(400))
@given(_scripts())
@example('TEXTDOMAIN=x\nTEXTDOMAINDIR=.\necho $"a"')
@example("TEXTDOMAIN=x\nTEXTDOMAINDIR=.\ntrap 'echo $\"a\"' EXIT")
def test_a_script_with_a_catalogue_is_not_allowed(folder: Path, script: str) -> None:
    assert not (_touches(script, folder) and _is_allowed(script)), script


def test_bash_runs_what_a_catalogue_says(folder: Path) -> None:
    script = 'TEXTDOMAIN=x\nTEXTDOMAINDIR=.\necho $"a"'
    assert _touches(script, folder)
    assert _touches('echo $"a"', folder, TEXTDOMAIN="x", TEXTDOMAINDIR=".")


@pytest.mark.parametrize("place", PLACES)
def test_without_a_catalogue_nothing_is_looked_up(folder: Path, place: str) -> None:
    assert not _touches(place, folder, TEXTDOMAINDIR=".")
    assert _is_allowed(place)
