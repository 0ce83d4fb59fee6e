"""How paths are judged after links that the same script may have made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import policy
from policy.environment import Disk
from policy.model import Resolvers, Verdict

_DENIES = """\
policy for every agent

default allow

keep: deny * when writes "keep/**"
secret: deny * when reads "secret.txt"
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one link that was there before."""
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("made"))) / "ws"
    for name in ("keep", "sub", "src", "out"):
        (folder / name).mkdir(parents=True)
    for name in ("a.txt", "b.txt", "secret.txt", "keep/data", "sub/f", "src/f"):
        (folder / name).write_text("x")
    (folder / "sub/link").symlink_to("../secret.txt")
    (folder / "inner").symlink_to("out")
    (folder / "src/inner").symlink_to("../out/x")
    # A link that leads over another one.
    (folder / "steps").mkdir()
    (folder / "steps/next").symlink_to("../out")
    (folder / "first").symlink_to("steps/next/x")
    (folder / "linked").mkdir()
    for name in ("bin", "node_modules"):
        (folder / "linked" / name).symlink_to("../out")
    return folder


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("denies") / "global.policy"
    file.write_text(_DENIES)
    return policy.load(file)


def verdict(
    generation: policy.Generation, command: str, here: Path, *, disk: bool = True
) -> Verdict:
    resolvers = Disk().resolvers() if disk else Resolvers()
    facts = policy.Facts(cwd=str(here), workspace=str(here), home="/none", resolvers=resolvers)
    call = policy.ToolCall(tool="bash_exec", input={"command": command})
    return generation.decide(call, facts=facts).verdict


@pytest.mark.parametrize(
    "command",
    [
        "ln -s keep kk",  # a link is judged by what it leads to
        "ln -s sub kk; echo x > kk/data",
        "ln -s sub kk; cd kk; cat f",
        "ln -s sub kk; cat < kk/f",
        "ln -s sub KK; cat kk/f",  # letters that some disks take for others
        "ln sub/f kk; echo x > kk",
        "cp -s /w/x kk; cat kk",
        "mv sub/link out/; cat out/link",
        "mv -t out sub/link; cat out/link",
        "mv sub s2; cat s2/link",
        "mv sub s2; mv s2 s3; cat s3/link",  # where it came from is no place of the disk
        "ln -s ../b.txt src/k; mv src lib; cat lib/k",
        "mv a.txt c.txt & mv c.txt a.txt; cat c.txt",
        "mv --exchange a.txt sub/link; cat a.txt",
        "mv -b a.txt sub/link; cat sub/link~",
        "cp --backup=numbered b.txt sub/link; cat sub/link.~1~",
        "sed -i.old s/a/b/ sub/link; cat sub/link.old",
        "cp -a sub s2; cat s2/link",
        "cp -r sub out; cat out/sub/link",
        "cp --no-deref sub/link kk; cat kk",
        "cp $OPTIONS sub/link kk; cat kk",
        "cd out && tar xf ../a.tar && cat x",
        "tar xf a.tar -C out; cat out/x",
        "unzip a.zip -d out; cat out/x",
        "rsync -a sub/ out; cat out/x",
        "cd out && git checkout main && cat x",
        "git clone https://corp.example/x.git; cat x/f",
        "ln -s sub kk; unknown-program kk/f",
        "ln -s sub kk; ln -s ../b.txt kk/z; cat z",  # a link that is made behind a link
        # By a link that was there before, to where another may be by then.
        "tar xf a.tar -C out; cat inner/x",
        "tar xf a.tar -C out; cat inner/sub/x",
        "tar xf a.tar -C out; cat src/inner",
        "tar xf a.tar -C out; cat src/*",
        "tar xf a.tar -C inner; cat out/x",
        "tar xf a.tar -C steps; cat first",
        "ln -sfn ../sub steps/next; cat first",
        # Where a folder that is written has a link already, links may be made behind it.
        "unzip a.zip -d steps; cat out/x",
        "cp -r sub/. steps; cat out/link",
        "python3 -m venv steps/env; cat steps/env/bin/python",
        "python3 -m venv linked; cat out/python",
        "cd linked && npm install && cat ../out/x/f",
        "mv sub/link steps/next; cat first",
        "ln -sf ../sub out/x; cat src/inner",
        "cd out && npm ci && cat node_modules/x/f",
        "cd out && npm install && cat sub/node_modules/x",
        "cd out && npm install && cat sub/Node_Modules/x",
        "cd out && npm install; cat ../inner/node_modules/x",
        "python3 -m venv out; cat out/bin/python",
        "python3 -m venv out; echo x > inner/bin/python3.12",
        "python3 -m venv out; ls out/lib64/x",
        "python3 -m virtualenv out; cat out/lib/x",
        "pip install -r a.txt; cat sub/f",
        "pip install -e git+https://x.example/x#egg=x; cat sub/f",
        "cd out && wget -r ftp://x.example/ && cat x/f",
        "cd out && pnpm install && cat x",
        "cmake -B sub/build; cat sub/build/_deps/x/f",
        "cmake -B sub/build; cat sub/build/lib/libx.so.1",
        "cmake --build sub/build; cat sub/build/x-prefix/src/f",
        "cd out && cmake .. && cat lib.dylib",
        "cmake --install sub/build; cat sub/build/libx.so",
        # Beside others, before them, or again.
        "cat kk | ln -s sub kk",
        "cat kk & ln -s sub kk",
        "for i in 1 2; do cat kk; ln -s sub kk; done",
        "for i in 1 2; do mv kk/f b2; ln -s sub kk; done; cat b2",
        "while true; do ln -s sub kk; done",
        "f() { cat kk; }; ln -s sub kk; f",
        "trap 'cat kk' EXIT; ln -s sub kk",
        "cat kk $(ln -s sub kk)",
        "setsid -f cat kk; ln -s sub kk",
        "find . -maxdepth 1 -exec ln -s sub kk ';'",
        "bash -c 'ln -s sub kk'; cat kk/f",
        # The same in scripts within scripts.
        "bash -c 'cat kk | ln -s sub kk'",
        "eval 'cat kk & ln -s sub kk'",
        "bash -c 'for i in 1 2; do cat kk; ln -s sub kk; done'",
        "sh <<< 'while true; do ln -s sub kk; done'",
        "f='for i in 1 2; do cat kk; ln -s sub kk; done'; eval \"$f\"",
        'bash -c "f() { cat kk; }; ln -s sub kk; f"',
        "command trap 'cat kk' EXIT; ln -s sub kk",
        "\"tr\"ap 'cat kk' EXIT; ln -s sub kk",
        "echo 'a for b' ; for i in 1 2; do cat kk; ln -s sub kk; done",
    ],
)
def test_what_may_be_a_link_by_then_is_not_known(
    command: str, generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, command, here) is not Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "cat b.txt; ln -s sub kk",
        "cat kk; ln -s sub kk",
        "ln -s sub kk; cat b.txt",
        "ln -s sub kk; cat kkk",
        "mv a.txt c.txt; cat c.txt",
        "mv a.txt out; cat out/a.txt",
        "mv src lib; cat lib/f",
        "cp a.txt c.txt; cat c.txt",
        "cp -r src out; cat out/src/f",
        "cp -a src/. out; cat out/f",
        "sed -i.old s/a/b/ a.txt; cat a.txt a.txt.old",
        "cp -r sub s2; cat s2/f",
        "tar xf a.tar -C out; cat b.txt",
        "tar xf a.tar -C out; ls out",
        "rm -r out; cat out/x",
        "mv src s2; mv s2 s3; cat s3/f",
        "mv src s2 && mv out src && mv s2 out && cat out/f",
        "tar xf a.tar -C sub/new; cat first inner/x",
        "cmake --build sub/build -j 8 && cat a.txt sub/build/x.log",
        "cmake -B sub/build; ctest --test-dir sub/build",
        "ln -s a.txt kk; cat first inner/x",
        "ln -sfn ../sub steps/next; cat sub/f",
        "unzip a.zip -d sub/new; cat out/x",
        # Programs that make no links, or only links of some names.
        "cd out && npm ci && cat x ../inner/x",
        "cd out && npm install && cat ../sub/f src/x && echo x > package.json",
        "python3 -m venv out; . out/bin/activate; cat out/pyvenv.cfg inner/lib/x",
        "python3 -m compileall out; cat out/x",
        "pip install -q requests; cat sub/f",
        "cd out && cargo fmt && cat src/f",
        "cd out && jest -u && cat x",
        "cd out && coverage html && cat x && coverage xml && cat x",
        "cd out && rustc a.rs && cat x",
        "cd out && curl -O https://x.example/x && cat x",
        "cd out && wget https://x.example/x && cat x",
        "cd out && terraform fmt && cat x",
        "cd out && npm pack && cat x",
        # Words that only look like loops, functions, pipes and substitutions.
        "cat kk; ln -s sub kk # for while (); a | b & $(c)",
        "cat kk; ln -s sub kk; echo 'for a while b () | & $(c) `d` <(e) trap function'",
        'cat kk 2>&1; ln -s sub kk; echo "f()" >| b.txt',
        "sed -i 's/a/foo()/' a.txt",
        "sed -i 's/trap/for while/' a.txt && cat a.txt",
        "cat <<'E' > a.txt\nwhile f() { a | b & }\nE\nln -s sub kk",
        "cat kk; ln -s sub kk; git commit -m 'wait until done for now ()'",
    ],
)
def test_what_surely_is_none_is_known(
    command: str, generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, command, here) is Verdict.ALLOW


def test_without_a_disk_what_is_taken_along_is_as_it_is_spelled(
    generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, "mv sub s2; cat s2/f", here, disk=False) is Verdict.ALLOW
    assert verdict(generation, "ln -s sub s2; cat s2/f", here, disk=False) is Verdict.DENY


def test_so_many_links_that_nobody_looks_at_each(generation: policy.Generation, here: Path) -> None:
    moves = "; ".join("mv a.txt c.txt" for _ in range(100))
    assert verdict(generation, f"{moves}; cat c.txt", here) is Verdict.DENY


_SECRET = """\
policy for every agent

default allow

secret: deny * when reads "secret.txt"
"""


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git checkout x && git log --oneline origin/main..HEAD", Verdict.ALLOW),
        ("git checkout x && git diff main..HEAD && git show HEAD -- b.txt", Verdict.ALLOW),
        ("ln -sfn keep k; git log -p k/data", Verdict.ALLOW),
        ("git checkout x && git log -p secret.txt", Verdict.DENY),
        ("git checkout x && cat b.txt", Verdict.DENY),
        # The folder decides which repository it is; two paths may be compared on the disk.
        ("git checkout x && cd sub && git log -p f", Verdict.DENY),
        ("git checkout x && git -C sub log -p f", Verdict.DENY),
        ("git checkout x && git diff a.txt b.txt", Verdict.DENY),
        ("git checkout x && git diff --no-index b.txt", Verdict.DENY),
        ("git checkout x && git diff $X b.txt", Verdict.DENY),
        ("git checkout x && git blame b.txt", Verdict.DENY),
        ("git checkout x && git diff -O b.txt HEAD", Verdict.DENY),
    ],
)
def test_git_follows_no_link_to_what_its_repository_holds(
    command: str, wanted: Verdict, here: Path, tmp_path: Path
) -> None:
    file = tmp_path / "global.policy"
    file.write_text(_SECRET)
    assert verdict(policy.load(file), command, here) is wanted


@pytest.mark.parametrize("glob", [".?", ".*", "\\.?", "'.'?", ".[.]", "?/../..", ".[^a]"])
def test_a_glob_that_some_shells_take_for_the_folder_above_is_that(
    glob: str, generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, f"cd sub && cat {glob}/f", here) is Verdict.DENY


@pytest.mark.parametrize("glob", [".[!.]*", ".??*", ".env*", "*.py", ".git/*"])
def test_a_glob_that_no_shell_takes_for_the_folder_above_is_below(
    glob: str, generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, f"cd sub && cat {glob}", here) is Verdict.ALLOW


_FENCED = """\
policy for every agent

default allow

fence: deny * when writes outside workspace
"""


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        # git takes nothing called `.git` out of its store.
        ("git checkout x && git tag v1", Verdict.ALLOW),
        ("git stash && git pull && git commit -m x", Verdict.ALLOW),
        ("git checkout x && cd sub && git tag v1", Verdict.DENY),
        ("git checkout x && cp a.txt sub/f", Verdict.DENY),
        ("tar xf a.tar && git tag v1", Verdict.DENY),
    ],
)
def test_git_makes_no_link_of_its_own_records(
    command: str, wanted: Verdict, here: Path, tmp_path: Path
) -> None:
    file = tmp_path / "global.policy"
    file.write_text(_FENCED)
    assert verdict(policy.load(file), command, here) is wanted
