"""Readings of commands for `bench.resources`: taken apart, and decided by about ten rules."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import policy
from bench.resources import Reading, fresh_reading
from policy import Caller
from policy.environment import Disk
from policy.generation import shipped_profiles
from policy.generation.shipped import shipped_profile_texts
from policy.model import Facts, Resolvers
from policy.programs import Profiles, analyse_script

# Each is filled in with a number, so that no command was seen before.
_COMMANDS = (
    "git status -u {}",
    "git log --oneline -n {}",
    "ls -la src{}",
    "cat a{}.txt | head -5",
    "cd src{} && grep -rn TODO . | sort | uniq -c",
    "find . -name '*{}.py' -not -path './.git/*'",
    'git commit -m "fix: thing {}"',
    "npm test {}",
    "python3 -m pytest -q tests/x{}.py",
    'echo "$HOME" > out{}.txt',
)
_EACH = 60.0
RULES = """policy for every agent

default deny

no-secrets: deny * when reads ["~/.ssh/**", "**/.env", "/etc/shadow"]
no-system: deny * when writes ["/etc/**", "/usr/**", "~/.*"]
no-root: deny bash_exec when runs ["sudo *", "su *", "doas *"]
no-private: deny * when connects to ["private", "metadata"]
no-force: deny bash_exec when runs ["git push --force *", "git reset --hard *"]
pushes: ask bash_exec when runs ["git push *", "npm publish *"]
looks: allow bash_exec when runs only ["ls *", "cat *", "head *", "grep *", "sort *", "uniq *",
  "find *", "wc *", "cd *", "echo *"] and reads only workspace and writes only workspace
tests: allow bash_exec when runs only ["npm test *", "python3 -m pytest *", "pytest *"]
git: allow bash_exec when runs only ["git status *", "git log *", "git diff *", "git commit *"]
"""


_reading = partial(fresh_reading, beside="`shlex.split`", beside_do=shlex.split)


def command_readings() -> Iterator[Reading]:
    """Yield readings of commands that were never seen before, and decisions on some."""
    profiles = shipped_profiles()
    for form in _COMMANDS:
        # A command in a pipe is one of its own.
        target = _EACH * (1 + form.count("|") + form.count("&&"))
        name = f"`{form.replace('{}', '1').replace('|', chr(92) + '|')}`"
        yield _reading(name, target, form, lambda text: analyse_script(text, profiles))
    yield from _first_uses()
    yield from _decisions()


def _first_uses() -> Iterator[Reading]:
    shipped = shipped_profile_texts()
    for program, form in (("git", "git status -u {}"), ("ls", "ls -la src{}")):
        name = f"{program}.toml"

        def read(text: str, name: str = name) -> Any:
            # Its profile, like the command, was never seen before.
            return analyse_script(text, Profiles.of({name: f"{shipped[name]}\n# {text}"}))

        yield _reading(f"the first `{program}`", 10_000.0, form, read)


def _decisions() -> Iterator[Reading]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "bench.policy")
        file.write_text(RULES)
        generation = policy.load(file)
    caller = Caller(agent="coder")
    plain = Facts(cwd="/tmp", workspace="/tmp", home="/root")
    disk = Disk()

    def decided(facts: Facts) -> Callable[[str], Any]:
        def decide(text: str) -> Any:
            return generation.answer("bash_exec", {"command": text}, caller=caller, facts=facts)

        return decide

    def linked(text: str) -> Any:
        seen = disk.resolvers()
        resolvers = Resolvers(path=seen.path, folds=seen.folds, other_names=seen.other_names)
        return decided(replace(plain, resolvers=resolvers))(text)

    for form in ("git log --oneline -n {}", "cat a{}.txt | head -5"):
        name = f"`{form.replace('{}', '1').replace('|', chr(92) + '|')}`"
        yield _reading(f"{name}, decided by nine rules", 400.0, form, decided(plain))
        yield _reading(f"{name}, decided with links", 500.0, form, linked)
