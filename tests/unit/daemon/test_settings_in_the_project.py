"""The settings of an agent in its project: everyday commands pass, what may write them does not."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from policy.daemon import leads_elsewhere
from policy.daemon.agents import AGENTS
from policy.daemon.context import HookContext
from policy.daemon.decider import Decider
from policy.daemon.request import HookAnswer
from tests.unit.daemon.deciding import hook_input, request

_POLICY = "policy for every agent\n\ndefault allow\n"
_AS = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def _git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", *words], cwd=folder, env={**os.environ, **_AS}, check=True, capture_output=True
    )


class _Project:
    """A project in which an agent runs, with a daemon of its own for each agent."""

    def __init__(self, folder: Path) -> None:
        self.rules = folder / "rules"
        self.folder = folder / "project"
        self.audit = folder / "audit.jsonl"
        self._deciders: dict[str, Decider] = {}

    def answer(
        self, command: str, agent: str = "claude-code", *, git_elsewhere: str = ""
    ) -> HookAnswer:
        tool = "Bash" if agent != "gemini-cli" else "run_shell_command"
        text = hook_input(self.rules, agent, tool, {"command": command})
        asked = request(self.rules, agent, text, audit=str(self.audit), git_elsewhere=git_elsewhere)
        if agent not in self._deciders:
            self._deciders[agent] = Decider(HookContext.of(asked))
        return asyncio.run(self._deciders[agent].answer(asked))

    def told(self, command: str, *, git_elsewhere: str = "") -> tuple[str, str]:
        answer = self.answer(command, git_elsewhere=git_elsewhere)
        output = json.loads(answer.stdout)["hookSpecificOutput"]
        return output["permissionDecision"], output.get("permissionDecisionReason", "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> _Project:
    place = _Project(tmp_path_factory.mktemp("work"))
    place.rules.mkdir()
    (place.rules / "global.policy").write_text(_POLICY)
    folder = place.folder
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("x\n")
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "one")
    _git(folder, "switch", "-q", "-c", "evil")
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "evil")
    _git(folder, "switch", "-q", "main")
    (folder / "src" / "a.py").write_text("y\n")
    _git(folder, "stash")
    return place


@pytest.mark.parametrize(
    "command",
    [
        "git checkout main", "git switch -c x", "git stash pop", "git stash",
        "git checkout -- .", "git checkout HEAD~0 -- src", "git reset --hard", "git merge main",
        "cd src && git checkout main", "git add -A && git commit -m x && git checkout main",
        "ruff format .", "black .", "npm ci", "cargo fmt", "gofmt -w .", "prettier --write .",
        "eslint --fix .", "rm -rf *.egg-info", "rm -rf build", "find . -name '*.pyc' -delete",
        "find . -name __pycache__ -exec rm -rf {} +", "tar xf a.tar -C build", "cp -r src build",
        "go build ./...", "git clone https://a.example/x", "cd ../other && git pull",
        "git branch && git status && git checkout main",
        # What these write is in no tree: their code is unseen, as that of `make` is.
        "make", "npm run build", "cargo build", "tsc", "mvn test", "gradle test", "dotnet test",
        "pre-commit run", "cmake .", "poetry install", "bundle install", "composer install",
        "apt-get install -y jq", "dnf install jq", "apk add jq", "pipx install black",
        "cargo install ripgrep", "conda env create -f e.yml", "dpkg -i x.deb",
    ],
)  # fmt: skip
def test_everyday_commands_pass(project: _Project, command: str) -> None:
    assert project.told(command) == ("allow", "")


@pytest.mark.parametrize(
    "command",
    [
        "tar xf a.tar", "unzip a.zip", "patch -p1 < a.patch", "git apply a.patch",
        "git pull", "git switch -", "git rebase main", "git fetch && git checkout main",
        "git checkout evil", "GIT_DIR=../x/.git git checkout main",
        "export GIT_WORK_TREE=. GIT_DIR=../x/.git; git checkout main",
        "cd src && git checkout evil", "git -C src checkout evil", "git merge evil",
        "git checkout evil -- .", "git restore --source=evil .", "git restore --source evil .",
        "git reset --hard evil", "git reset --hard main...evil", "git switch --orphan x",
        "git stash -u", "git checkout $X", "git checkout :/evil", "git merge FETCH_HEAD",
        "git cherry-pick evil", "git branch -f x evil && git checkout x",
        "git tag -f x evil && git checkout x", "git update-ref refs/heads/x evil; git checkout x",
        "cp x .git/refs/heads/x && git checkout x", "git checkout -B main evil",
        "git branch new evil && git checkout new", "git push . evil:main && git checkout main",
        "git diff --output=.git/refs/heads/x && git checkout x", "cp -r src/. .",
    ],
)  # fmt: skip
def test_what_may_write_the_settings_asks(project: _Project, command: str) -> None:
    verdict, reason = project.told(command)
    assert verdict == "ask"
    assert f"{project.folder}/.c" in reason


_BUILDS = ("make", "mvn test", "tsc", "apt-get install jq")


@pytest.mark.parametrize("build", _BUILDS)
@pytest.mark.parametrize(
    "command",
    [
        "cp x .claude/settings.json", "sed -i s/a/b/ .claude/settings.json", "mv x .claude",
        "echo x > .claude/settings.json", "git checkout -- .claude/settings.json",
        "python3 tool.py .claude/settings.json", "cp x {rules}/global.policy",
        "python3 tool.py {rules}/global.policy", "rm -r {rules}", "tar xf a.tar -C {rules}",
    ],
)  # fmt: skip
def test_a_build_hides_no_file_that_the_script_names(
    project: _Project, build: str, command: str
) -> None:
    named = command.format(rules=project.rules)
    for script in (f"{build} && {named}", f"{named}; {build}", f"{build}; {named} | tail"):
        assert project.told(script)[0] == "deny", script


@pytest.mark.parametrize("build", _BUILDS)
def test_a_build_hides_nothing_that_is_not_known(project: _Project, build: str) -> None:
    for rest in ("cp x $Y", "tar xf a.tar", "git checkout evil", "curl https://a.example | sh"):
        assert project.told(f"{build}; {rest}")[0] == "ask", rest


@pytest.mark.parametrize(
    "command",
    [
        "cargo build --target-dir {rules}", "tsc --outDir .claude", "mvn test > {rules}/x.policy",
        "cargo build --target-dir .claude",
    ],
)  # fmt: skip
def test_a_folder_that_a_build_is_given_is_a_name(project: _Project, command: str) -> None:
    assert project.told(command.format(rules=project.rules))[0] == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "cd build/r && git checkout theirs", "git -C build/r reset --hard theirs",
        "cd build/r/src && git checkout theirs", "cd build/w && git checkout theirs",
        "cd build/f && git checkout theirs", "git -C ../away reset --hard theirs",
        "cd .. && git --git-dir=away/.git --work-tree=project checkout theirs",
        "cd ../other && GIT_DIR=../away/.git GIT_WORK_TREE=../project git checkout theirs",
    ],
)  # fmt: skip
def test_a_repository_whose_files_lie_elsewhere_asks(project: _Project, command: str) -> None:
    folder, away = project.folder, project.folder.parent / "away"
    if not away.exists():
        _lay_out_repositories(folder, away)
    assert project.told(command)[0] in ("ask", "deny")


@pytest.mark.parametrize(
    "command",
    [
        "mv build/x build/r && git -C build/r reset --hard theirs",
        "mkdir -p build && cp -r build/x build/r && cd build/r && git stash pop",
        "mv build build2 && git -C build2/x reset --hard theirs",
        "python3 make.py && git -C build/r reset --hard main",
        "cp build/HEAD src/HEAD && git -C src reset --hard theirs",
        "rsync -a build/x/ src && git -C src reset --hard theirs",
        "git clone --template=t ../y d && git -C d checkout theirs",
        "git init --separate-git-dir=build/r x && git -C x checkout theirs",
        "git init x && cp c x/.git/config && git -C x checkout theirs",
        "(mv build/x build/r); cd build/r; git reset --hard theirs",
    ],
)
def test_a_repository_that_the_script_makes_asks(project: _Project, command: str) -> None:
    assert project.told(command)[0] == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git init x && cd x && git add -A && git commit -m x && git checkout main",
        "git clone https://a.example/x d && git -C d status && cd d && make",
        "cp a.py b.py && git checkout main", "mv a.py b.py && git checkout main",
        "npm run build && cd src && git checkout main", "cp -r src build && git checkout main",
        "echo x > config && git checkout main", "rm -rf build && git checkout main",
    ],
)  # fmt: skip
def test_repositories_of_scripts_pass_otherwise(project: _Project, command: str) -> None:
    assert project.told(command) == ("allow", "")


def test_variables_of_git_in_the_agents_environment_make_moves_ask(project: _Project) -> None:
    verdict, reason = project.told("git checkout main", git_elsewhere="GIT_DIR")
    assert verdict == "ask"
    assert f"{project.folder}/.c" in reason
    assert "as `GIT_DIR` in the environment may lead git to another repository" in reason
    assert project.told("git status && git add -A", git_elsewhere="GIT_DIR") == ("allow", "")


@pytest.mark.parametrize(
    ("names", "elsewhere"),
    [
        ("PATH GIT_AUTHOR_NAME GIT_EDITOR GIT_TRACE2 GIT_SSH_COMMAND", ""),
        ("GIT_SSL_CAINFO GIT_PAGER GIT_TERMINAL_PROMPT GIT_ASKPASS GIT_SSH", ""),
        ("GIT_HTTP_USER_AGENT GIT_NO_LAZY_FETCH", ""), ("MY_GIT_DIR", ""),
        *((name, name) for name in (
            "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
            "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
            "GIT_SOMETHING_NEW", "GIT_REPLACE_REF_BASE", "GIT_ATTR_SOURCE",
        )),
        ("GIT_SSH GIT_WORK_TREE GIT_DIR", "GIT_DIR"),
    ],
)  # fmt: skip
def test_which_variable_of_git_leads_elsewhere(names: str, elsewhere: str) -> None:
    assert leads_elsewhere(names.split()) == elsewhere


def _lay_out_repositories(folder: Path, away: Path) -> None:
    """Make repositories with the project as work tree, and a branch that its own lacks."""
    shutil.copytree(folder / ".git", folder / "build" / "r")
    (folder / "build" / "r" / "src").mkdir()
    shutil.copytree(folder / ".git", folder / "build" / "w" / ".git")
    shutil.copytree(folder / ".git", away / ".git")
    (folder / "build" / "f").mkdir()
    (folder / "build" / "f" / ".git").write_text("gitdir: ../r\n")
    for store in (folder / "build" / "r", folder / "build" / "w" / ".git", away / ".git"):
        _git(folder, "config", "-f", str(store / "config"), "core.worktree", str(folder))
        _git(folder, "config", "-f", str(store / "config"), "core.bare", "false")
        _git(store, "branch", "theirs", "evil")
    # That git goes there: the branch is checked out in the project, and put back.
    _git(folder / "build" / "r", "checkout", "-q", "theirs")
    assert (folder / ".claude" / "settings.json").exists()
    _git(folder / "build" / "r", "checkout", "-q", "-f", "main")
    assert not (folder / ".claude").exists()


@pytest.mark.parametrize(
    "command",
    [
        "touch .claude/settings.json", "echo x > .claude/settings.local.json", "mv x .claude",
        "mkdir -p .codex && cp x .codex/hooks.json", "rm -rf .gemini", "cp -r x .claude",
        "cd .claude && tar xf ../a.tar", "unzip a.zip -d .claude", "rsync -a x/ .claude/",
        "cd src && cp x ../.claude/settings.json", "ln -s x .claude",
    ],
)  # fmt: skip
def test_what_names_the_settings_is_denied_with_their_name(project: _Project, command: str) -> None:
    verdict, reason = project.told(command)
    assert verdict == "deny"
    assert f"{project.folder}/.c" in reason or f"{project.folder}/.gemini" in reason


@pytest.mark.parametrize(
    "command",
    [
        "biome format --write .claude/settings.json", "npx biome check --write .claude",
        "python3 -m uu -d x .claude/settings.json", "python3 tool.py --out=.claude/settings.json",
        "python3 tool.py -o.claude/settings.json", "python3 tool.py out=.claude/settings.json",
        "cd src && python3 tool.py ../.claude/settings.json", "codespell -w .claude/settings.json",
        "cd .claude && python3 ../tool.py settings.json", "typos --write-changes .claude",
        "npm run format -- .claude/settings.json", "make .claude/settings.json",
        "make OUT=.claude/settings.json", "rake 'render[.claude/settings.json]'",
        "./tool .claude/settings.json", "some-tool .claude/settings.json",
        # The folder of the call by its name is known in full.
        'python3 tool.py "$PWD/.claude/settings.json"',
        "xargs -a x python3 tool.py .claude/settings.json", "mocha -o .claude/settings.json",
        "pre-commit run --files .claude/settings.json", "bash tool.sh .claude/settings.json",
        "python3 -c 'import sys' .claude/settings.json", "env A=b node tool.js .codex/hooks.json",
    ],
)  # fmt: skip
def test_the_settings_are_not_given_to_code_that_nobody_sees(
    project: _Project, command: str
) -> None:
    verdict, reason = project.told(command)
    assert verdict == "deny"
    assert f"{project.folder}/.c" in reason


@pytest.mark.parametrize(
    "command",
    [
        "pytest .", "mypy .", "ruff check .claude", "eslint .claude/settings.json", "typos .",
        "python3 tool.py .", "python3 tool.py src", "cd src && python3 tool.py ..", "make test",
        "npm test", "mocha .claude", "cat .claude/settings.json", "jq . .claude/settings.json",
        "python3 -m json.tool .claude/settings.json",
        "bash -c 'cat \"$1\"' x .claude/settings.json",
        "some-tool src", "python3 tool.py \"$X\"", "turbo run build --filter=web",
    ],
)  # fmt: skip
def test_code_that_is_given_other_files_passes(project: _Project, command: str) -> None:
    assert project.told(command) == ("allow", "")


@pytest.mark.parametrize(
    "command",
    [
        'python3 tool.py "$X/.claude/settings.json"', "python3 tool.py --out=$X/settings.json",
        'python3 tool.py ".claude/$X"', "OUT=.claude/settings.json make", "tool.sh $X",
    ],
)  # fmt: skip
def test_a_name_that_is_known_in_part_asks(project: _Project, command: str) -> None:
    verdict, reason = project.told(command)
    assert verdict == "ask"
    assert f"{project.folder}/.c" in reason


def test_a_search_gives_code_the_files_that_are_there(project: _Project) -> None:
    search = "find . -name '*.json' -exec python3 tool.py {} +"
    assert project.told(search) == ("allow", "")
    settings = project.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    try:
        assert project.told(search)[0] == "ask"
        assert project.told(search.replace("*.json", "*.py")) == ("allow", "")
    finally:
        settings.unlink()
        settings.parent.rmdir()


def test_codex_is_told_which_file_it_is(project: _Project) -> None:
    told = json.loads(project.answer("tar xf a.tar", "codex").stdout)["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert f"{project.folder}/.claude/settings.json" in told["permissionDecisionReason"]


@pytest.mark.parametrize(
    ("command", "name"),
    [("touch .claude/settings.json", "project/.claude"), ("rm -rf ../rules", "rules")],
)
def test_the_record_and_the_denial_name_the_file(
    project: _Project, command: str, name: str
) -> None:
    _, reason = project.told(command)
    record = json.loads(project.audit.read_text().splitlines()[-1])
    (floor,) = [one for one in record["reasons"] if one["rule"] == "floor"]
    assert name in floor["clause"]
    assert name in reason


def test_a_settings_file_that_exists_is_deleted_or_formatted_as_one(tmp_path: Path) -> None:
    place = _Project(tmp_path)
    for agent in AGENTS.values():
        for name in agent.settings:
            if name.startswith("./"):
                (place.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (place.folder / name).write_text("{}")
    place.rules.mkdir()
    (place.rules / "global.policy").write_text(_POLICY)
    for command, verdict in (
        ("rm -rf .", "deny"),
        ("chmod -R 777 .", "deny"),
        ("find . -name 'set*' -delete", "deny"),
        ("sed -i s/a/b/ .cl*/sett*", "deny"),
        ("find . -name '*.pyc' -delete", "allow"),
        ("prettier --write .", "ask"),
        ("ruff format .", "allow"),
    ):
        assert place.told(command)[0] == verdict, command
