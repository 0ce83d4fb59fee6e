"""Policies to attack, each with an independent statement of what allowed scripts may do.

The words here are those of the scene and not of the engine: which programs may run, which files may
be read and changed. They are what the policy says, and no stricter.
"""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import policy
from tests.attack.happenings import CHANGED, LISTED, REMOVED, Happening
from tests.attack.scene import ENVIRONMENT, HOME, TOP, WORKSPACE

# Tells of a path whether something may be done to it.
Place: TypeAlias = Callable[[str], bool]

SHIPPED = Path(__file__).resolve().parents[2] / "rules"
# A program that no policy allows, whatever else: what is hidden in scripts and names of files.
NEVER = "pwned"
# Programs that change nothing about what they run, and shells, which are judged by their scripts.
WRAPPERS = frozenset(
    "bash chrt dash env ionice nice nohup setsid sh stdbuf taskset time timeout".split()
)
SILENT = frozenset("cd false pwd test true : [".split())
# What they do is not in their words: where everything may run, they may.
CODE_RUNNERS = frozenset("make npm perl pytest python python3 ruby node php pip cargo go".split())
CONNECTING = frozenset(
    "curl ftp mail nc ncat rsync scp sendmail sftp socat ssh telnet wget".split()
)
_WILDCARDS = frozenset("*?[")
_WITHOUT_WORKSPACE = Happening(kind=CHANGED, what=TOP)
_SECRET_NAMES = frozenset({".env", "id_rsa"})


def anywhere(path: str) -> bool:
    """Tell of any path that it is one."""
    return True


def nowhere(path: str) -> bool:
    """Tell of no path that it is one."""
    return False


def own_index(path: str) -> bool:
    """Tell whether a path is where git keeps what it last saw of the files; looking renews it."""
    return path in (f"{WORKSPACE}/.git", f"{WORKSPACE}/.git/index")


def inside(path: str) -> bool:
    """Tell whether a path is in the workspace; so is what a script can say of its variables."""
    return path in (WORKSPACE, ENVIRONMENT) or path.startswith(WORKSPACE + "/")


def no_environment(path: str) -> bool:
    """Tell whether a path is none that stands for the environment of the script."""
    return path != ENVIRONMENT


def in_build(path: str) -> bool:
    """Tell whether a path is in the folder `build` of the workspace."""
    return path.startswith(f"{WORKSPACE}/build")


def no_secret(path: str) -> bool:
    """Tell whether a path is none of those that float in the tree."""
    return posixpath.basename(path) not in _SECRET_NAMES


def no_credential(path: str) -> bool:
    """Tell whether a path is none of what the pack for secrets guards."""
    return no_secret(path) and path not in {
        f"{HOME}/.aws/credentials", "/etc/shadow", "/root/.ssh/id_rsa", ENVIRONMENT,
    }  # fmt: skip


def no_system(path: str) -> bool:
    """Tell whether a path is none of the system's, nor one that shells read at their start."""
    guarded = ("/etc/", "/var/lib/", f"{HOME}/.ssh/", f"{HOME}/.aws/", "/root/.ssh/")
    return path != f"{HOME}/.bashrc" and not path.startswith(guarded) and no_secret(path)


def both(one: Place, two: Place) -> Place:
    """Return where both are true."""
    return lambda path: one(path) and two(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a script may do. `programs` are those that may run, None any but `never`.

    `code` says whether files of the workspace may run, `connects` whether anything may go out.
    """

    reads: Place
    writes: Place
    lists: Place = anywhere
    programs: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    code: bool = False
    connects: bool = False

    def forbidden(self, script: str, happenings: Iterable[Happening]) -> list[Happening]:
        """Return what should not have happened.

        The names that a wildcard finds are the shell's own business, and whose they were cannot
        be told from what a program lists.
        """
        globs = bool(_WILDCARDS.intersection(script))
        happened = tuple(happenings)
        # The workspace belongs to itself; taking it away changes the folder that it lies in.
        taken_away = Happening(kind=REMOVED, what=WORKSPACE) in happened
        return [
            one
            for one in happened
            if not (
                (one.kind == LISTED and globs)
                or (one == _WITHOUT_WORKSPACE and taken_away)
                or self._may(one)
            )
        ]

    def runs(self, program: str) -> bool:
        """Tell whether a program may run."""
        if program == NEVER or program in self.never:
            return False
        return self.programs is None or program in self.programs | WRAPPERS | SILENT

    def _may(self, one: Happening) -> bool:
        match one.kind:
            case "read" | "told":
                return self.reads(one.what)
            case "listed":
                return self.lists(one.what)
            case "changed" | "made" | "removed":
                return self.writes(one.what)
            case "ran":
                return self._may_run(one.what.split(" "))
            case "code":
                return self.code
            case _:
                return self.connects

    def _may_run(self, words: list[str]) -> bool:
        program = posixpath.basename(words[0])
        if program == words[0] and self.code:
            # A shell runs it as a script that it was given: bash looks for that in `PATH` too.
            return True
        if not self.runs(program):
            return False
        if program in CONNECTING:
            return self.connects or all(word.startswith("-") for word in words[1:])
        return self.code or program not in CODE_RUNNERS


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """A policy by its name: text, or a folder, and the bounds of what it allows."""

    name: str
    bounds: Bounds
    text: str = ""
    folder: Path | None = None

    def load(self) -> policy.Generation:
        """Return the policy as it decides."""
        if self.folder is not None:
            return policy.load(self.folder)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "global.policy"
            file.write_text(self.text)
            return policy.load(file)


_HEAD = "policy for every agent\n\ndefault {}\n\n"
_FLOATING = """\
no-secrets: deny * when reads ["**/.env", "**/id_rsa"]
no-planted: deny * when writes ["**/.env", "**/id_rsa"]
"""
_ALL = """\
inside: allow bash_exec when runs only anything and reads only workspace
    and writes only workspace and connects only to nothing and sends only to nothing
"""
_TOOLS = tuple(
    """awk base64 basename cat cmp comm cut date diff dirname du echo expr find fold grep head join
    ls nl od paste printf readlink realpath rev sed seq sort stat tac tail test tr uniq wc
    xargs""".split()
)
# Programs that are given a program of another language, and what feeds them.
_WITH_LANGUAGES = frozenset(
    "awk busybox cat echo env find gawk jq mawk original-awk sed sh sqlite3 xargs".split()
)
_LANGUAGES = ", ".join(f'"{name} *"' for name in sorted(_WITH_LANGUAGES - {"busybox", "sh"}))
_PATTERNS = ", ".join(f'"{name} *"' for name in (*_TOOLS, "["))

RULE_SETS: tuple[RuleSet, ...] = (
    RuleSet(
        name="shipped",
        folder=SHIPPED,
        bounds=Bounds(
            reads=no_credential, writes=own_index, programs=frozenset({"git", "ls", "wc", "date"})
        ),
    ),
    RuleSet(
        name="inside",
        text=_HEAD.format("deny") + _ALL,
        bounds=Bounds(reads=inside, writes=inside, lists=inside),
    ),
    RuleSet(
        name="inside without secrets",
        text=_HEAD.format("deny") + _ALL + _FLOATING,
        bounds=Bounds(reads=both(inside, no_secret), writes=both(inside, no_secret), lists=inside),
    ),
    RuleSet(
        name="patterns",
        text=_HEAD.format("deny")
        + f"look: allow bash_exec when runs only [{_PATTERNS}]\n"
        + _FLOATING,
        bounds=Bounds(reads=no_secret, writes=nowhere, programs=frozenset({*_TOOLS, "["})),
    ),
    RuleSet(
        name="patterns inside",
        text=_HEAD.format("deny")
        + f'look: allow bash_exec when runs only [{_PATTERNS}, "mkdir *", "tee *", "cp *"]\n'
        '  and reads only workspace and writes only "build/**"\n' + _FLOATING,
        bounds=Bounds(
            reads=both(inside, no_secret),
            writes=both(in_build, no_secret),
            lists=inside,
            programs=frozenset({*_TOOLS, "[", "mkdir", "tee", "cp"}),
        ),
    ),
    RuleSet(
        name="languages",
        text=_HEAD.format("deny") + f"look: allow bash_exec when runs only [{_LANGUAGES}]\n"
        "  and reads only workspace and writes only workspace\n" + _FLOATING,
        bounds=Bounds(
            reads=both(both(inside, no_environment), no_secret),
            writes=both(inside, no_secret),
            lists=inside,
            programs=_WITH_LANGUAGES,
        ),
    ),
    RuleSet(
        name="denials",
        text=_HEAD.format("allow")
        + 'no-touch: deny * when runs ["touch *", "rm *", "pwned *"]\n'
        + _FLOATING
        + "no-way-out: deny * when writes outside workspace\n"
        "no-net: deny * when connects to anything\n",
        bounds=Bounds(
            reads=no_secret,
            writes=both(inside, no_secret),
            never=frozenset({"touch", "rm"}),
            code=True,
        ),
    ),
    RuleSet(
        name="packs",
        text=_HEAD.format("allow").replace(
            "default",
            'use "placet:secrets"\nuse "placet:shell"\nuse "placet:git"\nuse "placet:network"\n'
            "default",
        )
        + 'no-pwned: deny * when runs "pwned *"\n',
        bounds=Bounds(reads=no_credential, writes=no_system, code=True, connects=True),
    ),
)
BY_NAME = MappingProxyType({one.name: one for one in RULE_SETS})
