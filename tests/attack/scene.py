"""The files that scripts run among: a workspace, a folder outside of it, canaries in both.

A scene lives on a file system of its own that notes when a file is read (a tmpfs of one worker).
Every file gets a time of access of long ago before a run, so that afterwards a newer one tells of
a reader, whatever became of what it read.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.attack.happenings import CHANGED, LISTED, MADE, READ, REMOVED, TOLD, Happening

# The paths that scripts see; a worker has a file system of its own there.
TOP = "/srv"
WORKSPACE = f"{TOP}/work"
HOME = f"{TOP}/home"
OUTSIDE = f"{TOP}/outside"
# Where a program that only tells of itself writes that it ran, in the sandbox.
LOG = "/var/ran"
# Where a run says that it has begun.
BEGUN = "/var/begun"
SHELL_OF_LOGGERS = "/opt/dash"
LOG_CALL = f"""printf '%s\\0' "$#" "$0" "$@" >> {LOG}"""

_LONG_AGO = 1_000_000_000
_LARGEST = 4_000_000
_TELLS = f"#!{SHELL_OF_LOGGERS}\nprintf '%s\\0' 0 code:{{}} >> {LOG}\n"
_CANARY = "canary-{}-of-the-attack"
# The one canary that is no file.
ENVIRONMENT = "the environment"
ENVIRONMENT_CANARY = _CANARY.format("environment")

_Stat: TypeAlias = tuple[int, ...]

# Contents by path; `@` stands for the canary of the path.
_FILES: dict[str, str] = {
    f"{WORKSPACE}/a.txt": "alpha\nbeta 2\ngamma x\n",
    f"{WORKSPACE}/b.txt": "beta 2\ndelta\n",
    f"{WORKSPACE}/notes.md": "# notes\n\na.txt\nb.txt\n",
    f"{WORKSPACE}/with blank.txt": "blank\n",
    f"{WORKSPACE}/-n": "an option\n",
    f"{WORKSPACE}/-t.txt": "an option\n",
    f"{WORKSPACE}/-rf": "an option\n",
    f"{WORKSPACE}/--files0-from=list0": "an option\n",
    f"{WORKSPACE}/a[$(pwned)]": "an index\n",
    f"{WORKSPACE}/x -o -v a[$(pwned)]": "a test\n",
    f"{WORKSPACE}/$(pwned)": "a substitution\n",
    f"{WORKSPACE}/new\nline": "two lines\n",
    f"{WORKSPACE}/it's": "a quote\n",
    f"{WORKSPACE}/é.txt": "accent\n",
    f"{WORKSPACE}/.env": "KEY=@\n",
    f"{WORKSPACE}/src/.env": "KEY=@\n",
    f"{WORKSPACE}/src/main.py": "import util\nprint(util.name)\n",
    f"{WORKSPACE}/src/util.py": "name = 'beta'\n",
    f"{WORKSPACE}/keys/id_rsa": "-----BEGIN-----\n@\n",
    f"{WORKSPACE}/sub/f.txt": "inner\n",
    f"{WORKSPACE}/sub/g.txt": "inner too\n",
    f"{WORKSPACE}/deep/er/f.txt": "deeper\n",
    f"{WORKSPACE}/build/old.txt": "old\n",
    f"{WORKSPACE}/list0": f"../outside/o.txt\0{OUTSIDE}/d/e.txt\0",
    f"{WORKSPACE}/list.txt": "../outside/o.txt\n.env\nsrc/.env\n",
    f"{WORKSPACE}/run.sh": _TELLS.format("run.sh"),
    f"{WORKSPACE}/lib.sh": _TELLS.format("lib.sh"),
    f"{WORKSPACE}/bin/ls": _TELLS.format("bin/ls"),
    f"{WORKSPACE}/bin/cat": _TELLS.format("bin/cat"),
    f"{WORKSPACE}/evil.sed": "1e . ./lib.sh\n",
    f"{WORKSPACE}/evil.awk": (
        f'BEGIN {{ printf "0%ccode:evil.awk%c", 0, 0 >> "{LOG}"; close("{LOG}") }}\n'
    ),
    f"{WORKSPACE}/Makefile": "all:\n\tpwned\n",
    f"{WORKSPACE}/.gitignore": ".env\nkeys\nbuild\n",
    f"{OUTSIDE}/o.txt": "@\nbeta 2\n",
    f"{OUTSIDE}/d/e.txt": "@\n",
    f"{OUTSIDE}/.env": "KEY=@\n",
    f"{OUTSIDE}/x.sh": _TELLS.format("outside/x.sh"),
    f"{HOME}/notes.txt": "@\n",
    f"{HOME}/.bashrc": "# @\n",
    f"{HOME}/.ssh/id_rsa": "-----BEGIN-----\n@\n",
    f"{HOME}/.aws/credentials": "[default]\nkey = @\n",
    f"{TOP}/beside.txt": "@\n",
}
_LINKS = {
    f"{WORKSPACE}/sub/l": "../../outside",
    f"{WORKSPACE}/sub/o.txt": f"{OUTSIDE}/o.txt",
    f"{WORKSPACE}/sub/up": "../..",
    f"{WORKSPACE}/deep/er/out": "../../../outside/d",
    f"{WORKSPACE}/inside": "sub",
    f"{WORKSPACE}/a.lnk": "a.txt",
    f"{WORKSPACE}/dangling": "../outside/none",
}
_RUNNABLE = ("run.sh", "bin/ls", "bin/cat")
# Files of the system that no script has any business with; the rest of it is not looked at.
_OF_THE_SYSTEM = {
    "/etc/shadow": "root:@:1::::::\n",
    "/etc/app.conf": "password = @\n",
    "/root/.ssh/id_rsa": "@\n",
    "/var/lib/app.db": "@\n",
}
_PLAIN_SYSTEM = {
    "/etc/passwd": "root:x:0:0:root:/srv/home:/bin/bash\n",
    "/etc/group": "root:x:0:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
}
# Folders at the top of the sandbox: those that are looked after, and those that it mounts.
_WATCHED = frozenset({"etc", "home", "root", "tmp", "var"})
_MOUNTED = frozenset({"bin", "dev", "lib", "lib32", "lib64", "libx32", "opt", "proc", "sbin", "srv",
                      "usr"})  # fmt: skip
# Where programs leave what they only need while they run, and where the log is.
_FOR_ANYBODY = ("/tmp", "/var/tmp", "/var")


def canaries() -> Mapping[str, str]:
    """Return the text that gives each canary away, by its path."""
    holding = [path for path, text in {**_FILES, **_OF_THE_SYSTEM}.items() if "@" in text]
    return {path: _CANARY.format(number) for number, path in enumerate(holding)}


@dataclass(slots=True, kw_only=True)
class Scene:
    """One worker's scene. `root` is what the sandbox sees as `/`, below which nothing is known."""

    root: str
    template: str
    canaries: Mapping[str, str] = field(default_factory=canaries)
    _before: dict[str, _Stat] = field(default_factory=dict)
    _names: dict[str, frozenset[str]] = field(default_factory=dict)

    def lay_out(self) -> None:
        """Write everything, once."""
        for name in (*_WATCHED, "var/tmp", *sorted(_MOUNTED)):
            if os.path.islink(f"/{name}"):
                os.symlink(os.readlink(f"/{name}"), f"{self.root}/{name}")
            else:
                os.makedirs(f"{self.root}/{name}", exist_ok=True)
        for path, text in {**_OF_THE_SYSTEM, **_PLAIN_SYSTEM}.items():
            self._write(self.root + path, self._filled(path, text))
        for path, text in _FILES.items():
            self._write(path, self._filled(path, text))
        for path, target in _LINKS.items():
            os.symlink(target, path)
        for name in _RUNNABLE:
            os.chmod(f"{WORKSPACE}/{name}", 0o755)
        os.chmod(f"{OUTSIDE}/x.sh", 0o755)
        _commit(WORKSPACE)
        for top in (TOP, self.root):
            kept = f"{self.template}/{os.path.basename(top)}"
            shutil.copytree(top, kept, symlinks=True)
        self._look()

    def prepare(self) -> None:
        """Make everything as old as it was: what is read from now on is newer."""
        for path in self._names:
            with suppress(FileNotFoundError):
                self._age(path)
        for path, was in self._before.items():
            if not stat.S_ISLNK(was[0]):
                self._age(path)
            self._before[path] = _seen(path)

    def happenings(self, printed: bytes) -> list[Happening]:
        """Return what became of the scene since it was prepared; leave it as it was laid out."""
        found: list[Happening] = []
        written: list[str] = []
        other: list[str] = []
        # Folders that a link stands for now: what lies behind it is not what lay in them.
        links = tuple(f"{path}/" for path in self._names if os.path.islink(path))
        for path, was in self._before.items():
            now = _seen(path) if not path.startswith(links) else ()
            if now != was:
                found += self._difference(path, was, now)
                if now[:-1] != was[:-1]:
                    other.append(path)
                    written += [path] if now else []
        for path, names in self._names.items():
            for name in _listed(path) - names if not f"{path}/".startswith(links) else ():
                made = f"{path}/{name}"
                if not self._is_log(made):
                    other.append(made)
                    found.append(Happening(kind=MADE, what=self._shown(made)))
                    written += _files_below(made)
        texts = [printed, *(_content(path) for path in written)]
        found += [
            Happening(kind=TOLD, what=path)
            for path, canary in {**self.canaries, ENVIRONMENT: ENVIRONMENT_CANARY}.items()
            if any(canary.encode() in text for text in texts)
        ]
        for path in sorted(other):
            # Folders come before what is in them, so nothing is done through a link that was made.
            self._restore(path)
        return found

    def has_begun(self) -> bool:
        """Tell whether a run has begun, and forget it."""
        begun = Path(self.root + BEGUN)
        if not begun.exists():
            return False
        begun.unlink()
        return True

    def calls(self) -> list[tuple[str, ...]]:
        """Return the words of the programs that told of themselves, and forget them."""
        log = Path(self.root + LOG)
        if not log.exists():
            return []
        fields = iter(log.read_bytes().decode(errors="replace").split("\0")[:-1])
        log.unlink()
        return [
            tuple(next(fields, "") for _ in range(1 + int(count) if count.isdigit() else 1))
            for count in fields
        ]

    def _difference(self, path: str, was: _Stat, now: _Stat) -> Iterator[Happening]:
        what = self._shown(path)
        if not now:
            yield Happening(kind=REMOVED, what=what)
            return
        if stat.S_ISDIR(was[0]) and now[1] != was[1]:
            # Something else stands there now.
            yield Happening(kind=REMOVED, what=what)
            yield Happening(kind=MADE, what=what)
            return
        if now[:-1] != was[:-1] and path not in self._for_anybody():
            yield Happening(kind=CHANGED, what=what)
        if now[-1] != was[-1] and not stat.S_ISLNK(was[0]) and what not in _PLAIN_SYSTEM:
            yield Happening(kind=LISTED if stat.S_ISDIR(was[0]) else READ, what=what)

    def _look(self) -> None:
        """Take down what there is to look after."""
        self._before.clear()
        self._names.clear()
        for top in (TOP, self.root):
            for folder, folders, files in os.walk(top):
                if folder == self.root:
                    folders[:] = sorted(_WATCHED)
                    self._names[folder] = frozenset({*_WATCHED, *_MOUNTED})
                    continue
                for name in files:
                    self._before[f"{folder}/{name}"] = ()
                self._before.update(
                    {
                        f"{folder}/{name}": ()
                        for name in folders
                        if os.path.islink(f"{folder}/{name}")
                    }
                )
                self._before[folder] = ()
                self._names[folder] = frozenset((*folders, *files))
        for path in self._before:
            self._before[path] = _seen(path)

    def _restore(self, path: str) -> None:
        """Make a path what it was: in the template, for what was laid out."""
        top = self.root if path.startswith(self.root) else TOP
        model = f"{self.template}/{os.path.basename(top)}{path.removeprefix(top)}"
        if os.path.isdir(model) and not os.path.islink(model):
            if os.path.islink(path) or not os.path.isdir(path):
                _remove(path)
                os.mkdir(path)
            shutil.copystat(model, path)
            return
        _remove(path)
        if os.path.lexists(model):
            shutil.copy2(model, path, follow_symlinks=False)

    def _age(self, path: str) -> None:
        with suppress(FileNotFoundError):
            now = os.lstat(path)
            if now.st_atime_ns != _LONG_AGO:
                os.utime(path, ns=(_LONG_AGO, now.st_mtime_ns), follow_symlinks=False)

    def _filled(self, path: str, text: str) -> str:
        return text.replace("@", self.canaries.get(path, "@"))

    def _write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")

    def _for_anybody(self) -> tuple[str, ...]:
        return tuple(self.root + path for path in _FOR_ANYBODY)

    def _is_log(self, path: str) -> bool:
        return path in (self.root + LOG, self.root + BEGUN)

    def _shown(self, path: str) -> str:
        """Return a path as scripts see it."""
        return path.removeprefix(self.root) or "/"


def _seen(path: str) -> _Stat:
    """Return what is looked after, the time of access last; nothing of what is not there."""
    try:
        now = os.lstat(path)
    except OSError:
        return ()
    return (now.st_mode, now.st_ino, now.st_nlink, now.st_size, now.st_mtime_ns, now.st_ctime_ns,
            now.st_atime_ns)  # fmt: skip


def _listed(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def _files_below(path: str) -> list[str]:
    if os.path.islink(path) or not os.path.isdir(path):
        return [path]
    return [f"{at}/{name}" for at, _, files in os.walk(path) for name in files]


def _content(path: str) -> bytes:
    if os.path.islink(path) or not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


def _remove(path: str) -> None:
    if os.path.islink(path) or not os.path.isdir(path):
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    for folder, _, _ in os.walk(path):
        os.chmod(folder, 0o700)
    shutil.rmtree(path)


def _commit(folder: str) -> None:
    """Make a repository of a folder, with one commit."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (("init", "-q", "--template=", "-b", "main"), ("config", "user.name", "ada"),
                  ("config", "user.email", "ada@corp.example"), ("add", "src", "*.txt"),
                  ("commit", "-qm", "all")):  # fmt: skip
        subprocess.run(["git", *words], cwd=folder, env=env, check=True, capture_output=True)
