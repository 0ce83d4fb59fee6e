"""Compare what scripts run with what was said of them: `python -m tests.attack.option_values`.

Each script has a word that only bash knows, as the value of an option or beside one. It is run with
programs that only record their words. Where rules allow it, they have to allow each command that
ran as well, with its words in quotes; and where they do not, nothing has to be shown. The exit
status is 1 if some script is allowed that runs a command which is not.
"""

from __future__ import annotations

import argparse
import itertools
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import policy
from policy.environment import Disk
from policy.generation import shipped_profile_texts
from policy.model import Facts, ToolCall, Verdict
from policy.programs import Profiles, analyse_script
from policy.values import Unreadable

# Programs that only record their words; the others then do their work, which is to run those.
_RECORDED = (
    "sort head tail grep git sed tar cp mv rm find curl ssh tee cat docker ls chmod ln less scp wc "
    "python make rsync dd touch wget npm diff cut"
).split()
_WRAPPERS = ("env", "timeout", "nice", "nohup", "xargs", "stdbuf", "setsid", "find")
# What they are given comes from elsewhere, so that their words alone are less than they do.
_GIVEN_MORE = frozenset({"xargs", "find"})
_FILES = ("a.txt", "b.py", "-rex.py", "-o", "-n", "-f", "-rf", "--output=o", "+main", "--", "-",
          "-delete", ".env", "sub/a.txt", "sub/-o", "out", "1", "-i", "-exec", "-C")  # fmt: skip
_RULES = {
    "programs": "allow bash_exec when runs only [{all}]",
    "values": """allow bash_exec when runs only ["sort -k *", "sort -n *", "head -n *", "tail -n *",
  "grep -m *", "grep -e *", "git log -n *", "git push *", "git log *", "sed -n *", "sed -e *",
  "find . -name *", "tar -tf *", "cp a.txt *", "curl -s *", "ls *", "cat *", "cut -d *", "wc *",
  "diff *", "ssh a.example *", "echo *", "timeout *", "nice *", "env *"]""",
    "denied": """deny bash_exec when runs ["sort -o *", "git push -f *", "git push origin +*",
  "rm *", "git log --output *", "find * -delete", "find * -exec *", "sed -i *", "tar -x *",
  "curl -o *", "grep -f *", "ssh -o *", "scp -o *", "git -c *", "git -C *", "rsync -e *",
  "head -c *", "ls -R *", "docker run -v *", "less -o *", "chmod -R *", "cp -r *", "make -f *",
  "npm publish *"]""",
    "paths": 'deny bash_exec when reads "**/.env"\n'
    'no: deny bash_exec when writes ["**/o", "**/out"]',
    "bounds": 'allow bash_exec when runs only [{all}] and reads only ["a.txt", "**/*.py", "1"] '
    'and writes only "**/out"',
}
_LITERALS = ("1", "2", "a.txt", "b.py", "-o", "-x", "-n", "-rf", "-f", "--output=o", "+main", "--",
             "-delete", ".env", "-", "o", "out", "x", "main", "origin", "-C", "''", "-i", "-1",
             "--force", "-exec", "~", "'1 -o'", "-oo", "-fa.txt", "-e")  # fmt: skip
_SETTINGS = (
    "x=<l>; ", "x='<l> <l>'; ", "set -- <l> <l>; ", "set -- <l>; ", "a=(<l> <l>); ", "a=(<l>); ",
    "x=1 y=<l>; ", "IFS=,; x='<l>,<l>'; ", "x=; ", "for x in <l> <l>; do break; done; ",
    "read -r x y <<< '<l> <l>'; ", "r=x; x=<l>; ", "", "shopt -s nullglob; ", "shopt -s dotglob; ",
    "set -f; ", "f() { <c>; }; x=<l>; f; ", "declare x=<l>; ", "printf -v x %s <l>; ",
)  # fmt: skip
_VALUES = (
    "$x", '"$x"', "${x}", "${x:-<l>}", "${x+<l>}", '"$@"', "$@", "$*", '"$*"', '"${a[@]}"',
    "${a[@]}", "${a[0]}", "${a[*]}", "$(echo <l>)", '"$(echo <l>)"', "`echo <l>`", "{<l>,<l>}",
    "{1..2}", "*", "*.py", "-*", "?", "[-]*", "*.txt", "sub/*", "~", "~/o", "$((1+1))", "$'<l>'",
    "<l>$x", "$x<l>", "${!r}", '"${a[@]/#/-}"', "${x#?}", "${x%?}", "${x//1/-o}", "<(echo a)",
    "$x$y", "$y", "*o", "*[of]", "-[of]*", "{-o,$x}", "a{,.txt}", "<l>", "<l>", '"$1"', "$1",
    '"${@:2}"', "${x:0:2}", "${x^^}", "*/", "./*", "${a[@]:1}", '"$x"*', "$x*", "+*", "--*",
)  # fmt: skip
_COMMANDS = (
    "sort -k <v> <l>", "sort -k<v> a.txt", "sort --key=<v> a.txt", "sort -nk<v> a.txt",
    "sort <v> -k 1", "sort <v>", "head -n <v> a.txt", "head -n<v>", "head -<v>", "head <v>",
    "grep -m <v> a", "grep -e <v> a.txt", "grep -rne<v> .", "grep <v> a.txt", "grep -- <v>",
    "git log -n <v>", "git log -n<v>", "git log --max-count=<v>", "git log <v>", "git <v> log",
    "git push <v>", "git push origin <v>", "git -C <v> log", "git log -- <v>", "sed -n <v> a.txt",
    "sed -e <v> a.txt", "sed <v>", "tar -tf <v>", "tar tf <v> <v>", "tar -tf a.txt -C <v>",
    "cp a.txt <v>", "cp -t <v> a.txt", "cp <v> <v>", "rm <v>", "find <v> -name a",
    "find . -name <v>", "find . -newer <v> -name a", "find . -maxdepth <v>", "curl -s <v>",
    "curl -so<v> a.example", "curl <v> a.example", "ssh <v> ls", "ssh a.example <v>",
    "ssh -p <v> a.example ls", "tee <v>", "cat <v>", "docker run <v> img", "docker run img <v>",
    "ls <v>", "ls --color=<v>", "less a.txt <v>", "scp <v> b:c", "wc <v>", "make <v>",
    "rsync <v> a b", "rsync a b <v>", "diff <v> a.txt", "cut -d <v> -f 1 a.txt", "cut -d<v> a.txt",
    "dd if=<v>", "dd <v>", "npm <v>", "chmod <v> a.txt", "ln <v> o", "touch <v>", "wget -O<v> a",
)  # fmt: skip
_LINES = (
    "<c>", "<c>", "<c>", "<c>", "timeout <v> <c>", "timeout -k <v> 5 <c>", "timeout 5 <c>",
    "nice -n <v> <c>", "nice <v> <c>", "nice -<v> <c>", "env <v> <c>", "env -u <v> <c>",
    "env A=<v> <c>", "env -S '<c>'", 'env -S "sort $x"', "env -S <v>", "stdbuf -o<v> <c>",
    "xargs <c> <<< <v>", "xargs -n 1 <c> <<< <v>", "xargs -I{} <c> {} <<< <v>", "nohup <c>",
    "xargs -I <v> <c> <<< 1", "xargs -n <v> <c> <<< 1", "echo <v> | xargs <c>", "<c> <<< <v>",
    "printf '%s\\n' <v> | xargs -d '\\n' <c>", "setsid <v> <c>", "<c> < a.txt", "<v> a.txt",
    "for f in <v>; do sort $f; done", 'for f in <v>; do head -n "$f"; done', "<c> > out",
    "find . -maxdepth 1 -name <v> -exec <c> {} +", "find . -maxdepth 0 -exec <c> ';'",
    "find . -maxdepth 1 -name 'a*' -exec head -n <v> {} ';'", "bash -c '<c>' <v> <v>",
    "bash -c 'sort \"$@\"' <v>", "eval '<c>'", "command <c>", "exec <c>", "A=<v> <c>",
    "while read -r f; do sort $f; done <<< <v>", "[ -n <v> ] && <c>", "case <v> in *) <c>;; esac",
)  # fmt: skip
_PROFILES = Profiles.of(shipped_profile_texts())


def main() -> int:
    """Compare, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.option_values")
    parser.add_argument("--scripts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="placet-options-") as folder:
        scene = OptionScene(Path(folder))
        found = allowed = 0
        for script in itertools.islice(scripts(chosen.seed), chosen.scripts):
            rules = scene.allowing(script)
            allowed += bool(rules)
            for name, words in scene.forbidden(script, rules):
                found += 1
                print(f"FOUND under `{name}`: {script!r} ran {words}", flush=True)
    print(f"{chosen.scripts} scripts, {allowed} allowed by some rules, {found} found")
    return 1 if found else 0


def scripts(seed: int) -> Iterator[str]:
    """Yield scripts without end, which follow from a number."""
    rng = Random(seed)
    while True:
        command = rng.choice(_COMMANDS)
        line = rng.choice(_SETTINGS) + rng.choice(_LINES)
        yield _filled(line.replace("<c>", command), rng)


def _filled(text: str, rng: Random) -> str:
    for place, choices in (("<v>", _VALUES), ("<l>", _LITERALS)):
        while place in text:
            text = text.replace(place, rng.choice(choices), 1)
    return text


class OptionScene:
    """A folder with files that are named like options, programs that record, and rules."""

    def __init__(self, top: Path) -> None:
        self._log = top / "log"
        self._programs = top / "programs"
        self._here = top / "here"
        self._home = top / "home"
        for folder in (self._programs, self._here / "sub", self._home):
            folder.mkdir(parents=True)
        self._restore()
        for name in (*_RECORDED, *_WRAPPERS):
            self._put(name)
        self._rules = {name: _loaded(text) for name, text in _RULES.items()}
        self._facts = Facts(
            cwd=str(self._here), workspace=str(self._here), home=str(self._home),
            resolvers=Disk().resolvers(),
        )  # fmt: skip

    def allowing(self, script: str) -> list[str]:
        """Return the rules that allow a script."""
        return [name for name in self._rules if self._allows(name, script)]

    def forbidden(self, script: str, rules: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """Run a script; yield commands that it ran and that rules deny which allow the script."""
        for words in self._ran(script) if rules else ():
            for name in rules:
                if _is_known(words) and not self._allows(name, shlex.join(words)):
                    yield name, words

    def _allows(self, name: str, script: str) -> bool:
        call = ToolCall(tool="bash_exec", input={"command": script})
        return self._rules[name].decide(call, facts=self._facts).verdict is Verdict.ALLOW

    def _ran(self, script: str) -> list[list[str]]:
        self._log.write_bytes(b"")
        path = str(self._programs)
        subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-c", script],
            cwd=self._here, env={"PATH": path, "HOME": str(self._home), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False,
        )  # fmt: skip
        self._restore()
        fields = iter(self._log.read_text(errors="replace").split("\0")[:-1])
        ran = [[next(fields, "") for _ in range(int(count))] for count in fields]
        return [[words[0].rpartition("/")[2], *words[1:]] for words in ran]

    def _restore(self) -> None:
        (self._here / "sub").mkdir(exist_ok=True)
        for name in _FILES:
            if not (self._here / name).exists():
                (self._here / name).write_text("a\n")
        (self._here / "out").write_text("a\n")

    def _put(self, name: str) -> None:
        works = name in _WRAPPERS
        then = f'exec /usr/bin/{name} "$@"' if works else "/bin/cat > /dev/null"
        record = f'printf \'%s\\0\' $(($# + 1)) "$0" "$@" >> {shlex.quote(str(self._log))}'
        program = self._programs / name
        program.write_text(f"#!/bin/dash\n{record}\n{then}\n")
        program.chmod(0o755)


def _is_known(words: Sequence[str]) -> bool:
    """Tell whether these are all the words of a program, and options that it has."""
    script = analyse_script(shlex.join(words), _PROFILES)
    substituted = any(word.startswith("/dev/fd/") for word in words)  # `<(echo a)`
    if substituted or words[0] in _GIVEN_MORE or isinstance(script, Unreadable):
        return False
    return not any(option.unknown for command in script.walk() for option in command.options)


def _loaded(rules: str) -> policy.Generation:
    every = ", ".join(f'"{name} *"' for name in (*_RECORDED, *_WRAPPERS, "echo", "printf"))
    default = "deny" if rules.startswith("allow") else "allow"
    text = f"policy for every agent\n\ndefault {default}\nr: {rules.replace('{all}', every)}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.policy"
        file.write_text(text)
        return policy.load(file)


if __name__ == "__main__":
    sys.exit(main())
