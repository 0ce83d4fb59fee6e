"""Everyday commands of coding agents in a workspace with a `.env` that a rule protects.

None of the first list opens that file, and all of the second do, or may.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import policy
from tests.laws.workspaces import allows

_POLICY = """\
policy for every agent

default allow
keys: deny * when reads ["**/.env", "**/id_rsa"]
"""
_FILES = (
    ".env", "src/a.py", "src/b.js", "src/sub/c.py", "node_modules/x/index.js", "README.md",
    "Makefile", "package.json", "tests/test_a.py", "docs/a.md", "pyproject.toml",
    "Dockerfile", ".github/x.yml",
)  # fmt: skip
_LEAVE_IT = (
    "rg foo",
    "rg -n foo",
    "rg foo .",
    "rg -u foo",
    "rg -i foo src",
    "rg -tpy foo",
    "rg -g '*.py' foo",
    "rg -g '!*.lock' foo",
    "rg --files",
    "rg --files | head",
    "rg --files -g '*.py'",
    "rg -C3 'def x' --type py .",
    "rg -n \"TODO|FIXME\" --glob '!node_modules'",
    "rg --no-ignore foo",
    "rg foo README.md",
    "rg -c foo",
    "rg -F 'a(b' -g '*.{ts,tsx}'",
    "rg --json foo",
    "rg --sort path foo",
    "fd x",
    "fd -e py",
    "fd -t f x src",
    "fd -H x",
    "fd -e py -x wc -l",
    "fd -e py -X grep x",
    "fd . src -x cat",
    "fd -x cat",
    "ag x",
    "ag x src",
    "ag -l x",
    "git status",
    "git diff",
    "git diff --stat",
    "git add .",
    "git add -A",
    "git add -u",
    "git add src",
    "git add -p",
    "git add --all",
    "git add src/a.py README.md",
    "git add -A && git commit -m x",
    "git commit -am x",
    "git commit -m x",
    "git commit -a -m x",
    "git grep x",
    "git grep -n x -- '*.py'",
    "git grep x src",
    "git stash",
    "git stash push -u",
    "git stash pop",
    "git stash -u",
    "git log -p",
    "git log --oneline -5",
    "git log -p -- src",
    "git show HEAD",
    "git ls-files",
    "git ls-files -o --exclude-standard",
    "git checkout -- .",
    "git restore .",
    "git reset --hard",
    "git clean -n",
    "git clean -fd",
    "git diff HEAD~1 -- .",
    "git blame src/a.py",
    "git archive HEAD",
    "git rm -r --cached src",
    "grep -r x . --include='*.py'",
    "grep -rn x --include='*.py'",
    "grep -rn x --include=*.py .",
    "grep -rn x --include='*.py' --include='*.js' .",
    "grep -rn x . --include='*.py' | head",
    "grep -rn x . --include='*.{ts,tsx}'",
    "grep -rnE 'x|y' --include='*.py' --exclude-dir=node_modules .",
    "grep -r --exclude='.env*' x .",
    "grep -r --exclude=.env x .",
    "grep -rn x src",
    "grep -rn x src tests",
    "grep -x x *.py",
    'grep -rn "foo" --include="*.md" docs',
    "find . -name '*.py'",
    "find . -type f",
    "find . -name '*.py' -print0 | xargs -0 grep x",
    "find . -name '*.py' -exec grep x {} +",
    "find . -name '*.py' -exec grep -l x {} \\;",
    "find . -name '*.py' -o -name '*.js'",
    "find . \\( -name '*.py' -o -name '*.js' \\) -exec grep x {} +",
    "find . -type f \\( -name '*.py' -o -name '*.js' \\) -print0 | xargs -0 wc -l",
    "find . -name node_modules -prune -o -name '*.py' -print",
    "find . -name node_modules -prune -o -name '*.py' -exec grep x {} +",
    "find . -path ./node_modules -prune -o -name '*.py' -exec cat {} +",
    "find . -not -path './node_modules/*' -name '*.py' -exec grep x {} +",
    "find . -not -path '*/.*' -type f -exec grep x {} +",
    "find . -type f -not -name '.env' -exec grep x {} +",
    "find . -type f ! -name '.env*' -exec grep x {} +",
    "find src -type f -exec cat {} +",
    "find . -iname '*.md' -exec wc -l {} +",
    "find . -path '*/tests/*.py' -exec wc -l {} +",
    "find . -regex '.*\\.py' -exec wc -l {} +",
    "find . -name '*.pyc' -delete",
    "find . -name __pycache__ -type d -exec rm -rf {} +",
    "find . -maxdepth 1 -type f",
    "find . -newer README.md",
    "find . -name '*.py' -size +1k -mtime -1 -exec wc -l {} +",
    "tar --exclude=.env -cf /tmp/a.tar .",
    "tar -czf a.tgz src",
    "tar --exclude=node_modules --exclude='.env' -czf a.tgz .",
    "tar -xzf a.tgz",
    "rsync -a --exclude=.env ./ out/",
    "rsync -a --exclude='.env*' --exclude node_modules . out",
    "rsync -a src/ out/",
    "cp -r src out",
    "cp -r src/* out/",
    "npm test",
    "npm run build",
    "npm install",
    "npm ci",
    "npx eslint .",
    "npx prettier --write .",
    "npx prettier --check .",
    "npx tsc --noEmit",
    "npx jest",
    "yarn test",
    "pnpm test",
    "docker compose up -d",
    "docker compose build",
    "ruff check .",
    "ruff check",
    "ruff format .",
    "ruff check --fix .",
    "mypy .",
    "mypy src",
    "prettier .",
    "prettier --write .",
    'prettier --check "src/**/*.ts"',
    "eslint .",
    "eslint --fix .",
    "eslint src",
    "pytest",
    "uv run pytest",
    "pytest -q",
    "pytest tests",
    "python -m pytest",
    "python -m unittest",
    "python -m mypy .",
    "black .",
    "black --check .",
    "isort .",
    "cargo build",
    "cargo test",
    "cargo fmt",
    "cargo clippy",
    "go build ./...",
    "go test ./...",
    "go vet ./...",
    "make",
    "make test",
    "tsc",
    "pre-commit run --all-files",
    "tree",
    "tree -a",
    "tree -L 2",
    "ls",
    "ls -la",
    "ls -R",
    "ls -laR .",
    "du -sh .",
    "du -a . | sort -n",
    "wc -l src/*.py",
    "cat *",
    "cat src/*",
    "cat *.md",
    "cat src/a.py",
    "sed -n 1,5p src/a.py",
    "sed -i s/a/b/ src/*.py",
    "rm -rf node_modules",
    "rm -rf build dist",
    "python setup.py sdist",
    "python -m build",
    "terraform fmt",
    "terraform plan",
    "tree -I node_modules",
    "flake8",
    "flake8 --max-line-length=100 .",
    "pyright .",
    "pylint --recursive=y .",
    "bandit -r . -ll",
    "cloc --exclude-dir=node_modules .",
    "scc",
    "tokei .",
    "yamllint .",
    "shfmt -l .",
    "pip install .",
    "pip install -e .",
    "pip install -e '.[dev]'",
    "python -m pip install -e .",
    "python3 -m pip install .",
    "pip wheel .",
    "uv pip install -e .",
    "uv build .",
    "pipx install .",
    "kubectl apply -k .",
    "kubectl kustomize .",
    "go run .",
    "tsc -p .",
    "svn status",
    "svn diff",
    "yarn",
    "find . -name '*.py' -exec sed -i s/a/b/ {} +",
    "find . -name '*.py' -exec sed -i s/a/b/ {} \\;",
)
_READ_IT = (
    "python -m http.server",
    "python -m http.server 8000",
    "git stash -a",
    "git stash push --all",
    "git stash save -a",
    "git add -f '.e*'",
    "npm test -- .env",
    "perl x.pl --file=.env",
    "curl -E .env:pw https://a.example",
    "rg --hidden foo",
    "rg -uu foo",
    "rg -u -n -u foo",
    "rg --unrestricted -u foo",
    "rg -u -. foo",
    "rg -g .env foo",
    "rg -g '*' foo",
    "rg -t sh foo",
    "rg --type-add 'x:.env' -tx foo",
    "rg foo .env",
    "rg -L foo",
    "fd -H -x cat",
    "fd -u -x cat",
    "ag --hidden x",
    "ag -u x",
    "git grep --no-index x",
    "grep -r x .",
    "grep -r x . --exclude-dir=.git",
    "grep -r x . --include='.*'",
    "grep -r x . --include='*env'",
    "grep -r x . --exclude='[.]env'",
    "grep -r x . --exclude=.env --include='*env'",
    "rgrep x",
    "find . -type f -exec cat {} +",
    "find . -name '*.py' -o -exec cat {} +",
    "find . \\( -name '*.py' -o -type f \\) -exec cat {} +",
    "find . -name '.e*' -exec cat {} +",
    "find . -not -name '*.py' -exec cat {} +",
    "tar -czf a.tgz .",
    "tar -cf a.tar . --exclude=.env",
    "tar --exclude=.env --anchored -cf a.tar .",
    "rsync -a . out",
    "rsync -a --include='.e*' --exclude='.env' . out",
    "rsync -a --exclude=.env --exclude='!' . out",
    "cp -r . /tmp/x",
    "docker build .",
    "echo '!.env' > .ignore; rg foo",
    "git checkout x; rg foo",
    "RIPGREP_CONFIG_PATH=x rg foo",
    "HOME=src rg foo",
    "shopt -s nullglob; grep -r x --include=*.py .",
    "flake8 --filename='*' .",
    "flake8 .env",
    "pylint .env",
    "echo .env | pyright -",
    "cloc .env",
    "cloc --list-file=.env",
    "yamllint -d '{yaml-files: [\"*\"]}' .",
    "shfmt .env",
    "pip install .env",
    "pip install ./.env",
    "pip install -r .env",
    "uv pip install -e ./.env",
    "kubectl apply -f .env",
    "kubectl apply -k .env",
    "svn cat .env",
    "tsc -p .env",
    "find . -exec sed -i s/a/b/ {} +",
    "find . -name '*v' -exec sed -i s/a/b/ {} +",
    "find . -name '*.py' -exec sed -i.bak s/a/b/ {} + ; cat src/a.py.bak",
)


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("everyday") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here: Path = tmp_path_factory.mktemp("ws") / "ws"
    for name in _FILES:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("x\n")
    (here / ".gitignore").write_text(".env\n.env.*\n!.env.example\nnode_modules/\n")
    (here / "l").symlink_to("src")
    subprocess.run(["git", "init", "-q", str(here)], check=True)
    return here


@pytest.mark.parametrize("command", _LEAVE_IT)
def test_a_command_that_leaves_a_file_out_is_not_denied_for_it(
    command: str, generation: policy.Generation, workspace: Path
) -> None:
    assert allows(generation, command, workspace)


def test_a_search_for_folders_finds_those_that_are_there(
    tmp_path_factory: pytest.TempPathFactory, workspace: Path
) -> None:
    file: Path = tmp_path_factory.mktemp("found") / "global.policy"
    file.write_text('policy for every agent\n\ndefault allow\ndeny * when writes "**/.git/**"\n')
    generation = policy.load(file)
    clear = "find . -name {} -type d -prune -exec rm -rf {{}} +"
    assert allows(generation, clear.format("node_modules"), workspace)
    assert allows(generation, clear.format("__pycache__"), workspace)
    assert not allows(generation, clear.format("hooks"), workspace)
    assert not allows(generation, clear.format(".git"), workspace)


@pytest.mark.parametrize("command", _READ_IT)
def test_a_command_that_may_read_a_file_is_denied(
    command: str, generation: policy.Generation, workspace: Path
) -> None:
    assert not allows(generation, command, workspace)
