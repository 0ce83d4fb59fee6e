"""No allowed script reads, writes or deletes what a name with blanks or quotes becomes in `xargs`.

Each workspace holds files of odd names, whose parts lead outside of it or are options. A script
that is allowed is run by real programs.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import policy
from tests.examples import examples
from tests.laws.real_shells import run
from tests.laws.workspaces import allows

_POLICY = """\
policy for every agent

default deny

commands any = "find *", "xargs *", "cat *", "grep *", "wc *", "sort *", "rm *", "sed -i *",
  "touch *", "mkdir *", "cp *", "mv *", "echo *", "head *", "printf *", "tail *", "uniq *", "rg *",
  "sed *"
inside: allow bash_exec when runs only any and reads only workspace and writes only workspace
"""
_SECRET = "what stands outside"

# A name that is split at a blank, or loses a quote or a backslash, is another path.
_NAMES = st.sampled_from(
    ["x.py", "a/x.py", "a/b.sh", "-n.py", "a/-o.py", "é.py", "a+b@c.py", "n\u0308.py", "[q].py",
     "x ../outside.py", "x\t../outside.py", "x\n../outside.py", "x .py", " x.py", "a b/../x.py",
     "'../outside.py", '"x.py', "x\\y.py", "a/'..'.py", "d ../../outside.py", "x\r.py", "*.py",
     "x -f ../outside.py", "a b.sh", "x ../outside.sh", "_", "x\u00a0y.py", "e\u0301 ../outside.py"]
)  # fmt: skip
_SEARCHES = ("find .", "find . -name '*.py'", "find a -type f", "find . -name 'x*'",
             "find . -name '?.py'", "find . -name '*.py' -o -name '*.sh'", "find {ws} -name '*.py'",
             "find . -not -name '*.py'", "find . -path './a/*'", "find", "find . -print0",
             "find . -name 'e*'", "find 'a b' a -name '*.py'", "find -L .", "find . -name '*'",
             "find . -maxdepth 1", "find nosuch", "find 'd ..' -name '*.py'", "grep -rl x .",
             "grep -rl x a", "grep -lr x --include='*.py' .", "grep -rlc x .", "grep -r x .",
             "grep -rL nosuch .", "grep -rl x ..", "find . -print", "find a -name '*.py' -print",
             "rg --files", "rg -l x", "rg -l -e x ..", "rg --files a")  # fmt: skip
_FILTERS = (" | head -3", " | head -c 9", " | tail -n 2", " | sort -r", " | sort -u", " | uniq",
            " | grep -v nosuch", " | grep -o '[^ ]*$'", " | grep -E 'py|sh'", " | grep -n x",
            " | sed 's/x/y/'", " | head -3 | sort", " | cat", " | sort x.py",
            " | uniq -c")  # fmt: skip
_READERS = ("xargs cat", "xargs -n1 cat", "xargs grep -h .", "xargs -I{{}} cat {{}}", "xargs rm -f",
            "xargs sed -i s/x/y/", "xargs -0 cat", "xargs -r cat", "xargs sort",
            "xargs -P2 -n2 cat",
            "xargs -d x cat", "xargs -L1 cat", "xargs head -n1", "xargs cat --",
            "xargs sed -i' ../../outside.py' s/x/y/", "xargs cp -t a", "xargs timeout 5 cat",
            "xargs -I{{}} cp {{}} '{{}} ../outside.py'", "xargs mkdir", "xargs wc -l")  # fmt: skip
_AROUND = (
    "{}", "{}", "{}", "{}", "cd a && {}", "cd a; {}", "cd .. && {}", "bash -c \"{}\"", "{}; {}",
    "touch 'x ../outside.py'; {}", "mkdir -p 'x ..'; {}", "echo > 'y ../outside.py'; {}",
    "echo x > plain.py; {}", "{} > out.txt", "{} 2> /dev/null", "for i in 1 2; do {}; done",
    "cp x.py 'q ..'; {}", "{} & touch 'x ../outside.py'; wait", "mv a 'a ..'; {}",
    "printf x > $'z\\n..'; {}", "f() {{ {}; }}; f", "find() {{ echo ../outside.py; }}; {}",
)  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """Draw a search whose paths another program gets as words."""
    shape = draw(st.sampled_from(_AROUND))
    parts = []
    for _ in range(shape.count("{}")):
        reader = draw(st.sampled_from(_READERS)).format()
        through = "".join(draw(st.lists(st.sampled_from(_FILTERS), max_size=2)))
        parts.append(f"{draw(st.sampled_from(_SEARCHES))}{through} | {reader}")
    return shape.format(*parts)


def lay_out(here: Path, names: list[str]) -> None:
    """Make the workspace, and the files outside that odd names lead to."""
    here.mkdir()
    (here / "a").mkdir()
    for name in names:
        folder, _, last = f"{here}/{name}".rpartition("/")
        os.makedirs(folder, exist_ok=True)
        if not os.path.lexists(f"{folder}/{last}"):
            Path(folder, last).write_text("inside x\n")
    for ending in ("py", "sh"):
        (here.parent / f"outside.{ending}").write_text(_SECRET)


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("split") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.mark.skipif(shutil.which("xargs") is None, reason="needs xargs")
@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck), deadline=None)
@example(script="find . -name '*.py' | xargs cat", names=["x ../outside.py"])
@example(script="find . | xargs cat", names=["x\n../outside.py"])
@example(script="find . -name '*.py' | xargs cat", names=["x.py", "x ../outside.sh"])
@example(script="find . -name 'e*' | xargs cat", names=["e\u0301 ../outside.py"])
@example(script="touch 'x ../outside.py'; find . | xargs cat", names=[])
@given(script=scripts(), names=st.lists(_NAMES, max_size=4))
def test_an_allowed_script_stays_in_the_workspace(
    script: str, names: list[str], generation: policy.Generation
) -> None:
    with TemporaryDirectory() as folder:
        here = Path(os.path.realpath(folder)) / "ws"
        lay_out(here, names)
        script = script.replace("{ws}", str(here))
        if not allows(generation, script, here):
            return
        env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
        printed = run("/bin/bash", script, folder=here, env=env, seconds=5.0, only=here.parent)
        assert _SECRET not in printed
        assert sorted(each.name for each in here.parent.iterdir()) == [
            "outside.py", "outside.sh", "ws",
        ]  # fmt: skip
        assert (here.parent / "outside.py").read_text() == _SECRET
        assert (here.parent / "outside.sh").read_text() == _SECRET


@pytest.mark.parametrize(
    ("script", "names", "allowed"),
    [
        ("find . -name '*.py' | xargs cat", ["x.py", "a/b.sh"], True),
        ("find . -name '*.py' | xargs cat", ["x.py", "a b.sh"], True),
        ("find . -name '*.py' -type f | xargs grep -n x | head -5", ["x.py"], True),
        ("find a -name '*.py' | xargs -n1 wc -l", ["a/x.py"], True),
        ("find . -name '*.py' | xargs -I{} cat {}", ["x.py"], True),
        ("find . -name '*.sh' | xargs sed -i s/x/y/", ["a/b.sh", "x ../outside.py"], True),
        ("find . -name '*.sh' | xargs rm -f", ["a/b.sh"], True),
        ("cd a && find . | xargs wc -l > out.txt", ["a/x.py", "a b.sh"], True),
        ("bash -c 'find . -name x.py | xargs cat'", ["x.py"], False),
        ("find . -name '*.py' | xargs cat", ["a b.py"], False),
        ("find . -name '*.py' | xargs cat", ["x/'y.py"], False),
        ("find . -name '*.py' | xargs cat", ["x y/z.py"], False),
        ("find . -name '*.py' | xargs cat", ["é.py"], False),
        ("find . | xargs cat", ["a b.sh"], False),
        ("find . -name 'e*' | xargs cat", ["e\u0301 x.py"], False),
        ("find .. -name '*.py' | xargs cat", ["x.py"], False),
        ("find -L . -name '*.py' | xargs cat", ["x.py"], False),
        ("find $X -name '*.py' | xargs cat", ["x.py"], False),
        ("find . -name '*.py' -printf '%p ../outside.py' | xargs cat", ["x.py"], False),
        ("find . -name '*.py' | sort | head -5 | xargs cat", ["x.py", "a b.sh"], True),
        ("grep -rl x . | grep -v nosuch | xargs cat", ["x.py"], True),
        ("rg --files a | xargs -I{} sed -n 1p {}", ["a/x.py"], True),
        ("rg -l x . | xargs cat", ["a b.py"], False),
        ("rg --files | xargs rm", ["-n.py"], False),
        ("rg -l -e x .. | xargs cat", ["x.py"], False),
        ("grep -r x . | xargs cat", ["x.py"], False),
        ("find . -name '*.py' | head -c 9 | xargs cat", ["x.py"], False),
        ("find . -name '*.py' | sed s/x/y/ | xargs cat", ["x.py"], False),
        ("find . -name '*.py' | sort x.py | xargs cat", ["x.py"], False),
        ("touch 'q w.py'; find . -name '*.py' | xargs cat", ["x.py"], False),
        ("mkdir q; find . -name '*.py' | xargs cat", ["x.py"], False),
        ("find . -name '*.py' | xargs -d. cat", ["x.py"], False),
        ("find . -name '*.py' | xargs -a list cat", ["x.py"], False),
    ],
)
def test_what_the_disk_shows_decides(
    script: str, names: list[str], allowed: bool, generation: policy.Generation, tmp_path: Path
) -> None:
    here = Path(os.path.realpath(tmp_path)) / "ws"
    lay_out(here, names)
    assert allows(generation, script, here) is allowed
