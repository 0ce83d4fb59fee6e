"""What patterns cover with the shipped profiles: scripts by a glob, commands of searches."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profiles
from policy.programs import CommandPattern, ScriptAnalysis, analyse_script, covers
from policy.programs import read_command_pattern as read

PROFILES = shipped_profiles()


def covered(script: str, *items: str) -> bool | None:
    patterns = [read(item, PROFILES) for item in items]
    analysis = analyse_script(script, PROFILES)
    assert isinstance(analysis, ScriptAnalysis)
    assert not analysis.gaps
    known = [each for each in patterns if isinstance(each, CommandPattern)]
    assert len(known) == len(patterns)
    return covers(analysis.commands[-1], known, redirections_covered=True)


@pytest.mark.parametrize(
    ("script", "patterns"),
    [
        ("find . -exec grep x {} +", ["find *", "grep *"]),
        ("find . -name '*.py' -exec wc -l {} ';'", ["find *", "wc *"]),
        ("find . -ok cat {} ';'", ["find *", "cat *"]),
        ("find . -exec grep x *.txt {} +", ["find *", "grep *"]),
        ('find . -exec grep "$x" {} +', ["find *", "grep *"]),
        ("find . -exec sh -c 'cat x' {} +", ["find *", "sh *", "cat *"]),
        ("fd x -x cat", ["fd *", "cat *"]),
        ("fd -e py -X grep -l x", ["fd *", "grep *"]),
        ("bash run.sh a b", ["bash *.sh *"]),
        ("bash ./run.sh", ["bash *.sh"]),
        ("bash run.sh", ["bash ./*.sh"]),
        ("bash tools/run.sh", ["bash tools/*.sh"]),
        ("bash a/b/run.sh", ["bash **/*.sh *"]),
        ("bash run.sh", ["bash **/*.sh *"]),
        (". .venv/bin/activate", ["source */bin/activate"]),
        ("source env/bin/activate", [". */bin/activate"]),
        ("python3 tools/gen.py --all", ["python3 tools/*.py *"]),
        ("bash /srv/ci/run.sh", ["bash /srv/ci/*.sh"]),
        # Variables.
        ("PYTHONPATH=. pytest", ["pytest *"]),
        ("PYTHONPATH=src:./lib: python3 x.py", ["python3 x.py *"]),
        ("env PYTHONPATH=src pytest", ["pytest *"]),
        ("export PYTHONPATH=.; pytest", ["pytest *"]),
        ("export CI=1 NODE_ENV=test", ["ls"]),
        ("export APP_TIER=test; pytest", ["pytest *"]),
        ("APP_TIER=test uv run pytest", ["uv run *", "pytest *"]),
        # Any program that is fetched to run, with any words.
        ("npx cowsay hello", ["npx ?* *"]),
        ("npx cowsay@latest --say ./x", ["npx ?* *"]),
        ("npx -y cowsay", ["npx -y ?* *"]),
        ("uvx --from a b -c d", ["uvx --from * ?* *"]),
        ("pnpm dlx cowsay", ["pnpm dlx ?* *"]),
        ("GIT_PAGER=cat git log", ["git log *", "cat"]),
        ("GIT_EDITOR=true git rebase --continue", ["git rebase *"]),
        ("NODE_OPTIONS='--max-old-space-size=4096 --no-warnings' npm test", ["npm test *"]),
        ("GOFLAGS=-mod=mod go test ./...", ["go test *"]),
    ],
)
def test_what_is_covered(script: str, patterns: list[str]) -> None:
    assert covered(script, *patterns) is True


@pytest.mark.parametrize(
    ("script", "patterns"),
    [
        # What a search runs needs a pattern of its own, and what else it does has to be spelled.
        ("find . -exec grep x {} +", ["find *"]),
        ("find . -exec grep x {} +", ["grep *"]),
        ("find . -exec rm {} +", ["find *", "grep *"]),
        ("find . -exec sort -o x {} +", ["find *", "sort *"]),
        ("find . -exec $x {} +", ["find *", "*"]),
        ("find . -exec {} ';'", ["find *", "grep *"]),
        ("find . -exec sh -c 'rm x' {} +", ["find *", "sh *", "cat *"]),
        ("find . -exec sh {} ';'", ["find *", "sh *", "sh *.sh"]),
        ("find . -exec bash run.sh {} ';'", ["find *", "bash *"]),
        ("find . -exec grep x {} + -delete", ["find *", "grep *"]),
        ("find . -exec grep x {} + -fprint out", ["find *", "grep *"]),
        ("find . -execdir grep x {} +", ["find *", "grep *"]),
        ("fd x -x rm", ["fd *", "cat *"]),
        # A word may become several, one of which ends the command.
        ("find . -exec grep $x ';'", ["find *", "grep *"]),
        ("find . -exec grep x $(cat f) {} +", ["find *", "grep *"]),
        ("find . -exec grep x * ';'", ["find *", "grep *"]),
        ("find . -exec grep x ? ';'", ["find *", "grep *"]),
        ("fd x -x cat $x", ["fd *", "cat *"]),
        # A glob names scripts in its own folder alone, as the agent's folder is known.
        ("bash run.sh", ["bash *"]),
        ("bash run.sh", ["bash * *"]),
        ("bash tools/run.sh", ["bash *.sh"]),
        ("bash a/b/run.sh", ["bash */*.sh"]),
        ("bash ././run.sh", ["bash */run.sh", "bash */*.sh"]),
        ("bash a/./run.sh", ["bash */*/run.sh"]),
        ("bash a//run.sh", ["bash */*/run.sh"]),
        ("bash ../run.sh", ["bash *.sh", "bash **/*.sh", "bash */*.sh"]),
        ("bash a/../../run.sh", ["bash **/*.sh"]),
        ("bash /tmp/run.sh", ["bash *.sh", "bash **/*.sh"]),
        ("bash ~/run.sh", ["bash *.sh", "bash **/*.sh", "bash */*.sh"]),
        ("bash tools/../x/run.sh", ["bash tools/**"]),
        ("bash //tmp/run.sh", ["bash **/*.sh"]),
        ("bash $x.sh", ["bash *.sh"]),
        ("bash r*.sh", ["bash *.sh"]),
        ("bash /dev/stdin.sh", ["bash *.sh"]),
        ("cd /tmp && bash run.sh", ["bash *.sh"]),
        ("cd sub && bash run.sh", ["bash *.sh", "bash **/*.sh"]),
        ("cd $x; bash run.sh", ["bash *.sh"]),
        ("source /tmp/v/bin/activate", ["source */bin/activate"]),
        ("bash --rcfile x.sh -i", ["bash *.sh"]),
        ("bash -c run.sh", ["bash *.sh"]),
        ("python3 -m evil.py", ["python3 *.py *"]),
        ("node --require ./evil.js a.js", ["node *.js *"]),
        ("awk -f evil.awk x", ["awk *.awk *"]),
        ("sed 's/a/b/e' x", ["sed s* *"]),
        # Variables with other values, for other programs, and of other names.
        ("PYTHONPATH=/tmp pytest", ["pytest *"]),
        ("PYTHONPATH=.:/tmp pytest", ["pytest *"]),
        ("PYTHONPATH=.. pytest", ["pytest *"]),
        ("PYTHONPATH=a/../../b pytest", ["pytest *"]),
        ("PYTHONPATH=~/x pytest", ["pytest *"]),
        ("PYTHONPATH=.:~/x pytest", ["pytest *"]),
        ("PYTHONPATH=$HOME pytest", ["pytest *"]),
        ("PYTHONPATH=$x pytest", ["pytest *"]),
        ("PYTHONPATH=. black x.py", ["black *"]),
        ("PYTHONPATH=. ls", ["ls *"]),
        ("export PYTHONPATH=/tmp; pytest", ["pytest *"]),
        ("export PYTHONPATH=.; black x.py", ["black *"]),
        ("export PYTHONPATH=/tmp", ["export *"]),
        ("export LD_PRELOAD=./x.so CI=1", ["export *"]),
        ("export FOO=./x", ["export *"]),
        ("export FOO=1; tar c a.py", ["export *", "tar *"]),
        ("APP_TIER=test uv run tar c a.py", ["uv run *", "tar *"]),
        # It stands for what is fetched, and for nothing behind it or beside it.
        ("npx cowsay", ["npx *"]),
        ("npx cowsay", ["npx * *"]),
        ("npx -y cowsay", ["npx ?* *"]),
        ("npx bash -c 'cat x'", ["npx ?* *"]),
        ("npx timeout 5 cat x", ["npx ?* *"]),
        ("npx $X", ["npx ?* *"]),
        ("X=./y npx cowsay", ["npx ?* *"]),
        ("timeout 5 cat x", ["timeout 5 ?* *"]),
        ("sudo cat x", ["sudo ?* *"]),
        ("xargs cat", ["xargs ?* *"]),
        ("export", ["ls"]),
        ("export -p", ["ls"]),
        ("PAGER='cat /etc/passwd' git log", ["git log *", "cat *"]),
        ("PAGER=cat git log", ["git log *"]),
        ("PAGER=./cat git log", ["git log *", "cat *"]),
        ("GIT_EDITOR=rm git rebase --continue", ["git rebase *", "rm *"]),
        ("GIT_EDITOR='true; rm x' git rebase --continue", ["git rebase *", "rm *"]),
        ("NODE_OPTIONS='--no-warnings --require ./x.js' npm test", ["npm test *"]),
        ("NODE_OPTIONS='--require=./x.js' npm test", ["npm test *"]),
        ("NODE_OPTIONS+=--no-warnings npm test", ["npm test *"]),
        ("NODE_OPTIONS=$x npm test", ["npm test *"]),
        ("GOFLAGS='-count=1 -toolexec=x' go test", ["go test *"]),
        ("RUSTFLAGS='-C linker=x' cargo test", ["cargo test *"]),
    ],
)
def test_what_is_not_covered(script: str, patterns: list[str]) -> None:
    assert covered(script, *patterns) is not True
