"""Commands that are allowed because they exclude a file never print that file.

Each workspace holds files of names that a rule forbids, and ignore files that show some of them. A
command that is allowed there is run, and what it printed is looked at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import policy
from tests.examples import examples
from tests.laws.real_shells import run
from tests.laws.workspaces import allows

_KEY = "KEY-0815"
_POLICY = """\
policy for every agent

default allow
keys: deny bash_exec when reads ["**/.env", "**/id_rsa", "**/.x.py", "**/k.py"]
"""
_SECRETS = (
    ".env", "d/.env", ".h/.env", "d/.h/.env", "id_rsa", "d/id_rsa", ".x.py", "d/.x.py", "k.py",
    ".h/k.py", "d/k.py", "node_modules/.env",
)  # fmt: skip
_IGNORING = (".ignore", ".gitignore", ".rgignore", ".fdignore", "d/.ignore", ".git/info/exclude")
_LINES = ("!.env", "!.*", "*\n!.env", "!.h/", "!.h/**", "!/d/.env", ".env", "!*.py", "!.en[v]")
_GLOBS = (
    ".env", ".env*", "*.py", "*.js", ".*", "*", "*env", "id_*", "[.]env", "*.{py,js}", "?env", "k*",
    "!.env", "!*.py", "!id_rsa", "!.h", "!k.py", "**/.env", "d/**", "!**/.env", ".h", ".h/", "d",
    "node_modules", "!*", "\\.env", "*.e*", "k.*", "x.py",
)  # fmt: skip
_OPTIONS = {
    "rg": ("-g@", "--iglob=@", "-tpy", "-tjs", "-t all", "--hidden", "-u", "-uu", "-.", "-L",
           "--no-ignore", "--type-add 'py:.env'", "--no-hidden", "-e KEY", "-Tpy",
           "--no-require-git"),
    "ag": ("--hidden", "-u", "-a", "-t", "-U", "-f"),
    "grep": ("--include=@", "--exclude=@", "--exclude-dir=@", "--include=*.py", "-R", "-s",
             "--exclude-from=list", "--inc=@"),
    "tar": ("--exclude=@", "--anchored", "--no-wildcards", "--exclude-vcs", "-h", "--ignore-case"),
    "rsync": ("--exclude=@", "--include=@", "-f '+ .*'", "-L", "--exclude='+ .*'", "--exclude='!'"),
    "fdfind": ("-H", "-I", "-u", "-E @", "-e py", "-L", "--no-ignore"),
}  # fmt: skip
_FORMS = {
    "rg": "rg % KEY", "ag": "ag % KEY", "grep": "grep -r % KEY .",
    "tar": "tar -cf - % .", "rsync": "rsync -a % ./ out/",
    "fdfind": "fdfind % . -x cat",
}  # fmt: skip
_TESTS = (
    "-name @", "-iname @", "-not -name @", "! -name @", "-type f", "-o", "( -name @ -o -name @ )",
    "-path '*/.*'", "-not -path '*/.*'", "-not -path '*/d/*'", "-path '*/d/*.py'", "-name d -prune",
    "-regex '.*\\.py'", "-not -path '*/.env'", "-not ( -name @ )", "-maxdepth 2", "-prune", "-true",
    "( -name @ -type f -o -name @ )", ",", "-a", "! !", "-path './d' -prune -o", "-size -9k",
)  # fmt: skip
_ACTIONS = (
    "-exec cat {} +", "-exec cat {} ';'", "-print0 | xargs -0 cat",
    "-exec cat {} ';' -o -exec cat {} ';'",
    "-exec true ';' -exec cat {} ';'",
)  # fmt: skip


@st.composite
def commands(draw: st.DrawFn, program: str) -> str:
    """Draw a command of a program that leaves something out."""
    if program == "find":
        words = draw(st.lists(st.sampled_from(_TESTS), min_size=1, max_size=4))
        spelled = " ".join(["find .", *words, draw(st.sampled_from(_ACTIONS))])
        spelled = spelled.replace("( ", "'(' ").replace(" )", " ')'")
    else:
        words = draw(st.lists(st.sampled_from(_OPTIONS[program]), min_size=0, max_size=3))
        spelled = _FORMS[program].replace("%", " ".join(words))
        if draw(st.booleans()):
            before = st.sampled_from(
                ("echo '!.env' > .ignore; ", "cp list .ignore; ", "cd d; ", "shopt -s nullglob; ",
                 "export RIPGREP_CONFIG_PATH=list; ", "mv list .gitignore; ", "HOME=. ",
                 "mkdir -p q; ")
            )  # fmt: skip
            spelled = draw(before) + spelled
    while "@" in spelled:
        spelled = spelled.replace("@", f"'{draw(st.sampled_from(_GLOBS))}'", 1)
    return spelled


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, str]:
    """Draw what stands in a workspace: secret files, and files that say what is ignored."""
    secret = draw(st.sets(st.sampled_from(_SECRETS), min_size=1, max_size=4))
    ignoring = draw(
        st.dictionaries(st.sampled_from(_IGNORING), st.sampled_from(_LINES), max_size=1)
    )
    return {**dict.fromkeys(sorted(secret), _KEY), **ignoring}


@contextmanager
def workspace(layout: dict[str, str]) -> Iterator[Path]:
    """Make a workspace with these files in it, and some that anybody may read."""
    with TemporaryDirectory() as folder:
        here = Path(os.path.realpath(folder)) / "ws"
        plain = {"a.py": "KEY", "d/b.js": "KEY", ".h/c.txt": "KEY", "list": "!.env\n--hidden\n"}
        for name, text in {**plain, ".git/HEAD": "ref: refs/heads/main\n", **layout}.items():
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_text(f"{text}\n")
        yield here


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("left") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.mark.parametrize("program", ["rg", "ag", "grep", "tar", "rsync", "fdfind", "find"])
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck), deadline=None)
@given(layout=layouts(), data=st.data())
def test_a_command_allowed_for_its_exclusions_does_not_print_the_secret(
    program: str, layout: dict[str, str], data: st.DataObject, generation: policy.Generation
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    script = data.draw(commands(program))
    with workspace(layout) as here:
        if allows(generation, script, here):
            env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
            said = run("bash", script, folder=here, env=env, only=here.parent)
            copied = [each.read_text() for each in here.glob("out/**/*") if each.is_file()]
            assert _KEY not in said + "".join(copied)
