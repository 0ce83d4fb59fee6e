"""Shapes that agents' commands often have are decided exactly, and their dangerous siblings too."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.model import Verdict
from tests.corpora.judging import judge, told

_POLICY = """
policy for every agent

default deny
commands outer = "xargs *", "find *", "timeout *", "bash -c *"
commands inner = "wc *", "cat *", "curl *", "git log *", "echo *"
commands scripts = "./** *", "python ./**/*.py *", "python /tmp/scratch/**/*.py *"
commands tools = "~/tools/** *" except "./** *"
hosts near = "a.example", "b.example/v1/**"
paths area = "./**", "~/notes/**", "~/tools/**", "/tmp/scratch/**"

work: allow bash_exec
  when runs only [outer, inner, scripts, tools] and reads anything and writes anything
  and connects to anything
  unless reads outside area or writes outside area or connects outside near
ask-tools: ask bash_exec when runs tools
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("user") / "home"
    folder = home / "ws"
    for name in ("src/a.py", "a.py", "run.sh", "sub/b.py", "../notes/n.txt", "../other/x.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / "linked").symlink_to(home / "other")
    (folder / "evil.py").symlink_to(home / "other" / "x.py")
    return folder


def _verdict(command: str, workspace: Path) -> Verdict:
    given = {"command": command.replace("WS", str(workspace))}
    decision = judge(_POLICY, "bash_exec", given, workspace=workspace, home=workspace.parent)
    print(told(decision))
    return decision.verdict


@pytest.mark.parametrize(
    "command",
    [
        # A path below the home folder in a variable.
        "N=~/notes && cat $N/n.txt",
        'N=$HOME/notes; cat "$N/n.txt"',
        "N=~/notes; M=$N/n.txt; cat $M",
        "N=~/notes; cat ${N}/n.txt",
        # A URL of which only the end is unknown.
        'curl "https://a.example/runs/$ID/jobs"',
        'ID=$(cat a.py | wc -l); curl -s "https://a.example/$ID"',
        # A command of one set runs one of another.
        "timeout 5 cat a.py",
        "bash -c 'cat a.py; echo x'",
        # Scripts of the workspace, from any folder of it.
        "python3 src/a.py --x",
        "cd src && python3 a.py",
        "cd WS && python3 ./a.py",
        "cd sub && python ../src/a.py",
        "python3 WS/src/a.py",
        "python3 /tmp/scratch/x.py",
        # Switches for programs of the workspace.
        "HEADLESS_RUN_MS=200 ./run.sh",
        "CI=1 WIDTH=80 DEBUG=true ./run.sh --fast",
        # Plain settings: one word, under a name that suggests no file, host, option or program.
        "X=sh ./run.sh",
    ],
)
def test_what_is_certain_is_allowed(command: str, workspace: Path) -> None:
    assert _verdict(command, workspace) is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        # What a variable does to a program whose code is not the workspace's own is not known.
        "X=1 cat a.py",
        "export X=1; cat a.py",
        "X=1 bash -c 'cat a.py'",
        "N=~/notes; cat $N/../other/x.py",
        "N=~/other; cat $N/x.py",
        'N=~/other; cat "$N"/x.py',
        "N=~/notes; N=/etc; cat $N/passwd",
        "N=~/notes; cat $N$X",
        "N=~root/notes; cat $N/n.txt",
        "N=~/notes; if cat a.py; then N=~/other; fi; cat $N/x.py",
        "N=~/notes; HOME=/etc; cat $N/n.txt",
        "N='~/notes'; cat $N/n.txt",
        "N=~/other N=1 cat $N/x.py",
        "N=~; cat $N/.ssh/id_rsa",
        'curl "https://$HOST/runs"',
        'curl "https://a.example$X/runs"',
        'curl "https://a.example:$PORT/"',
        "curl https://a.example/$X",
        'curl "$X://a.example/"',
        'curl "https://a.example@$X/"',
        'curl "https://evil.example/$X"',
        'curl "https://b.example/v1/$X"',
        'curl "https://b.example/$X"',
        'curl "https://u:p@evil.example/$X"',
        'curl "https://a.example\\\\@evil.example/$X"',
        "timeout 5 cat ../other/x.py",
        "timeout 5 rm a.py",
        "bash -c 'cat a.py; rm a.py'",
        "xargs cat",
        "python3 ../other/x.py",
        "cd .. && python3 other/x.py",
        "cd src && python3 ../../other/x.py",
        "python3 linked/x.py",
        "python3 evil.py",
        "cd $X && python3 a.py",
        'python3 "$X.py"',
        "python3 $X/a.py",
        "python3 a.txt",
        "python3 -m evil",
        "python3 -i a.py",
        "python3 /etc/x.py",
        "python3 /tmp/scratch/../x.py",
        "ln -s /etc l; python3 l/a.py",
        "LD_PRELOAD=1 ./run.sh",
        "X=./evil.so ./run.sh",
        "PATH=1 ./run.sh",
        "BASH_ENV=1 ./run.sh",
        "X=$Y ./run.sh",
        "X+=1 ./run.sh",
    ],
)
def test_what_is_not_certain_or_elsewhere_is_not(command: str, workspace: Path) -> None:
    assert _verdict(command, workspace) is not Verdict.ALLOW


def test_programs_of_another_folder_may_be_asked_about(workspace: Path) -> None:
    assert _verdict("~/tools/x", workspace) is Verdict.ASK
    assert _verdict("T=~/tools/x; $T", workspace) is Verdict.ASK
    assert _verdict("WS/../tools/x", workspace) is Verdict.ASK
    assert _verdict("WS/run.sh", workspace) is Verdict.ALLOW
    assert _verdict("~/other/x", workspace) is Verdict.DENY
    assert _verdict("/bin/rm a.py", workspace) is Verdict.DENY
