"""Programs that use the folder in which they run read it, though no word names it."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.environment import Disk
from policy.generation import shipped_profile_texts
from policy.programs import Profiles, analyse_script, check_examples, covers, read_command_pattern
from policy.programs.profiles.profile_file import ProfileFile, read_profile_file
from policy.values import Unreadable

_POLICY = """\
policy for every agent

default allow
fence: deny bash_exec when reads outside workspace
no-keys: deny bash_exec when reads ["**/.env", "~/.ssh/**"]
"""
_TOOLS = [
    "make", "make -n", "make {ws}", "ninja", "npm test", "npm ls", "yarn build", "cargo metadata",
    "go version", "gh pr list", "git tag", "git tag v1", "git remote -v", "hg log", "mvn test",
    "git -c color.ui=never describe", "docker compose ps", "terraform version", "pip install x",
    "uv run x", "timeout 9 make", "env A=1 make", "bash -c make", "bash {ws}/run.sh",
    "python3 {ws}/x.py", "{ws}/run.sh", "{ws}/bin/git status", "{ws}/systemctl status",
    "unheard-of",
]  # fmt: skip
_INSIDE = [
    "{}", "cd sub && {}", "cd sub/deep; {}", "cd ./sub && cd .. && {}", "(cd sub && {}); {}",
    "cd {{ws}}/sub && {}", "pushd sub && {} && popd && {}", "env -C sub {}",
]  # fmt: skip
_OUTSIDE = [
    "cd ../other && {}", "cd .. ; {}", "cd beside && {}", "cd sub/../../other && {}", "cd / && {}",
    "pushd ../other && {}", "cd $X && {}", "bash -c 'cd ../other && {}'", "(cd ../other; {})",
    "ln -s / new && cd new && {}", "cd sub; cd ..; {}", "f() {{ cd ../other; }}; f; {}",
    "env -C ../other {}",
]  # fmt: skip


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("rules") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folders").resolve()
    for name in ("ws/sub/deep", "ws/bin", "other"):
        (folder / name).mkdir(parents=True)
    (folder / "ws/beside").symlink_to("../other")
    return folder / "ws"


def verdict(generation: policy.Generation, script: str, here: Path) -> policy.Verdict:
    facts = policy.Facts(
        cwd=str(here), workspace=str(here), home=str(here.parent / "home"),
        resolvers=Disk().resolvers(),
    )  # fmt: skip
    call = policy.ToolCall(tool="bash_exec", input={"command": script.replace("{ws}", str(here))})
    return generation.decide(call, facts=facts).verdict


@pytest.mark.parametrize("tool", _TOOLS)
def test_in_the_workspace_they_may_run(
    generation: policy.Generation, tool: str, here: Path
) -> None:
    scripts = [shape.format(*[tool] * shape.count("{}")) for shape in _INSIDE]
    denied = [one for one in scripts if verdict(generation, one, here) is not policy.Verdict.ALLOW]
    assert not denied


@pytest.mark.parametrize("tool", _TOOLS)
def test_outside_of_it_a_fence_stops_them(
    generation: policy.Generation, tool: str, here: Path
) -> None:
    scripts = [shape.format(tool) for shape in _OUTSIDE]
    others = [one for one in scripts if verdict(generation, one, here) is not policy.Verdict.DENY]
    assert not others


@pytest.mark.parametrize(
    "script",
    ["cd / && docker ps", "cd /tmp && systemctl status x", "cd / && apt list", "cd / && echo x",
     "cd /tmp && curl -s https://a.example", "cd / && kubectl get pods", "cd /; sleep 1"],
)  # fmt: skip
def test_others_may_run_anywhere(generation: policy.Generation, script: str, here: Path) -> None:
    assert verdict(generation, script, here) is policy.Verdict.ALLOW


@pytest.mark.parametrize(
    "script",
    ["make -C {}", "make -f {}/Makefile", "git --git-dir={}/.git tag", "GIT_DIR={}/.git git tag",
     "npm --prefix {} ls", "yarn --cwd {} build", "pnpm -C {} test", "cmake --build {}",
     "cargo metadata --manifest-path={}/Cargo.toml", "docker compose -f {}/c.yml up",
     "terraform -chdir={} plan", "gradle -p {} build", "mvn -f {}/pom.xml test", "ninja -C {}",
     "poetry -C {} install", "uv --directory {} run x", "hg -R {} log", "rake -f {}/Rakefile",
     "tox -c {}/tox.ini", "composer -d {} install", "deno task --cwd {} x", "go -C {} test",
     "BUNDLE_GEMFILE={}/Gemfile bundle exec x", "pre-commit run -c {}/c.yml"],
)  # fmt: skip
def test_an_option_that_names_another_project_is_read(
    generation: policy.Generation, script: str, here: Path
) -> None:
    assert verdict(generation, script.format("../other"), here) is policy.Verdict.DENY


def read_own(text: str) -> tuple[ProfileFile, Profiles]:
    file = read_profile_file("own.toml", text)
    assert isinstance(file, ProfileFile), file
    return file, Profiles.of({**shipped_profile_texts(), "own.toml": text})


def reads_here(script: str, profiles: Profiles) -> bool:
    understood = analyse_script(script, profiles)
    assert not isinstance(understood, Unreadable)
    return any(one.working_folder for each in understood.commands for one in each.effects)


def test_a_profile_may_say_so_or_not() -> None:
    _, profiles = read_own(
        "uses_folder = true\n[sub.a]\n[sub.b]\nuses_folder = false\nunseen = true"
    )
    assert reads_here("own a", profiles)
    assert not reads_here("own b", profiles)
    assert reads_here("./own b", profiles)
    _, unseen = read_own('unseen = true\noperands = "text..."')
    assert reads_here("own x", unseen)


def test_an_example_need_not_name_the_folder() -> None:
    file, profiles = read_own('unseen = true\noperands = "read..."\n[[examples]]\nrun = "own a"\n'
                              'reads = ["a"]')  # fmt: skip
    assert check_examples(file, profiles) == ()


def test_the_folder_of_an_option_is_the_one_that_counts(
    generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, "git -C sub tag", here) is policy.Verdict.ALLOW
    assert verdict(generation, "git -C ../other tag", here) is policy.Verdict.DENY
    assert verdict(generation, "cd ../other && git -C {ws} tag", here) is policy.Verdict.ALLOW


def test_a_pattern_covers_them_as_before() -> None:
    profiles = Profiles.of(shipped_profile_texts())
    understood = analyse_script("cd sub && make all", profiles)
    pattern = read_command_pattern("make *", profiles)
    assert not isinstance(understood, Unreadable)
    assert not isinstance(pattern, Unreadable)
    assert covers(understood.commands[-1], [pattern], redirections_covered=False)
