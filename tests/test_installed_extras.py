"""The wheel with each of its extras, installed into an environment that has nothing else.

Nothing is downloaded: the distributions that the wheel requires are linked from the environment of
the tests, and pip, without an index, installs the wheel beside them. What a command needs and no
requirement names is therefore missing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from email import message_from_bytes
from functools import cache
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import TypeAlias

import pytest
from packaging.requirements import Requirement

from tests.test_built_package import ROOT, build

pytest.importorskip("pip", reason="the environment of the tests has no pip to install with")

# Returns the environment with an extra, none for "".
Environments: TypeAlias = Callable[[str], "Environment"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


def required(wheel: Path, extra: str) -> Mapping[str, Distribution]:
    """Return the distributions that the wheel with an extra requires, and those that they do."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        own = message_from_bytes(archive.read(name)).get_all("Requires-Dist") or []
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [("placet", frozenset({extra}), own)]
    while waiting:
        name, extras, lines = waiting.pop()
        for needed in _applying(lines, extras):
            asked = (needed.name, frozenset(needed.extras))
            if asked in seen:
                continue
            seen.add(asked)
            if needed.name == "placet":
                waiting.append(("placet", asked[1], own))
                continue
            found[needed.name] = distribution(needed.name)
            waiting.append((needed.name, asked[1], found[needed.name].requires or []))
    return found


def _applying(lines: Iterable[str], extras: frozenset[str]) -> Iterator[Requirement]:
    for line in lines:
        needed = Requirement(line)
        markers = ({"extra": extra} for extra in extras or {""})
        if needed.marker is None or any(needed.marker.evaluate(each) for each in markers):
            yield needed


class Environment:
    """A virtual environment with the wheel, an extra, and what they require."""

    def __init__(self, folder: Path, wheel: Path, extra: str) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=True)
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        site = folder / "lib" / version / "site-packages"
        for each in required(wheel, extra).values():
            _link(each, site)
        named = f"placet[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
        command = ["--python", str(folder / "bin" / "python"), "install", "--no-index"]
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "--isolated",
                "--no-cache-dir",
                *command,
                "--no-compile",
                named,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def environ(self) -> dict[str, str]:
        """Return the variables of a process in the environment, and nothing of ours."""
        state = str(self.folder / "state")
        return {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "XDG_STATE_HOME": state,
            "XDG_RUNTIME_DIR": state,
        }

    def run(
        self, *words: str, stdin: str = "", timeout: float = 150
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / "bin" / words[0]), *words[1:]],
            cwd=self.folder,
            env=self.environ(),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def succeeds(self, *words: str, stdin: str = "") -> str:
        done = self.run(*words, stdin=stdin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _link(each: Distribution, site: Path) -> None:
    """Link the files of an installed distribution, compiled as they are, without its scripts."""
    for file in each.files or ():
        source = Path(str(each.locate_file(file)))
        if ".." in file.parts or not source.exists():
            continue
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(source)


@pytest.fixture(scope="module")
def environments(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environments:
    """Return what makes the environment with an extra, each once."""

    @cache
    def made(extra: str) -> Environment:
        folder = tmp_path_factory.mktemp("extra") / (extra or "nothing")
        environment = Environment(folder, wheel, extra)
        (folder / "work").mkdir()
        environment.succeeds("placet", "init", "rules")
        return environment

    return made


@pytest.mark.long
def test_policies_are_checked_and_calls_decided_without_an_extra(
    environments: Environments,
) -> None:
    environment = environments("")
    assert environment.succeeds("placet", "--version").startswith("placet, version ")
    assert environment.succeeds("placet", "check", "rules").startswith("fine: ")
    environment.succeeds("placet", "test", "rules")
    environment.succeeds("placet", "fmt", "--check", "rules")
    call = json.dumps({"tool": "bash_exec", "input": {"command": "git status"}})
    record = json.loads(environment.succeeds("placet", "decide", "rules", stdin=call + "\n"))
    assert record["verdict"] == "allow"
    assert "allow  bash_exec" in environment.succeeds("placet", "explain", "rules", stdin=call)


@pytest.mark.long
def test_a_hook_answers_without_an_extra(environments: Environments) -> None:
    environment = environments("")
    call = {
        "session_id": "s1",
        "cwd": str(environment.folder),
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": "/etc/passwd"},
    }
    said = environment.succeeds(
        "placet", "hook", "claude-code", "--policy", "rules", "--no-daemon", stdin=json.dumps(call)
    )
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "deny"


TOOL = """
import asyncio
import policy

def double(number: int) -> int:
    "Double a number."
    return number * 2

async def main() -> None:
    from policy.service import tool
    store = policy.PolicyStore("double.policy")
    service = policy.build_tool_service(store, workspace="work", tools=[tool(double)])
    print((await service.execute("double", {"number": 21})).value)

asyncio.run(main())
"""


@pytest.mark.long
def test_a_tool_of_ones_own_runs_without_an_extra(environments: Environments) -> None:
    environment = environments("")
    rule = "policy for every agent\n\ndefault deny\ndouble: allow double\n"
    (environment.folder / "double.policy").write_text(rule)
    assert environment.succeeds("python", "-c", TOOL) == "42\n"


@pytest.mark.long
def test_sql_is_read_with_its_extra(environments: Environments) -> None:
    made = environments("").run("placet", "init", "data", "--for", "data")
    assert made.returncode == 2
    assert "install placet[sql]" in made.stderr
    environments("sql").succeeds("placet", "init", "data", "--for", "data")
    checked = environments("sql").succeeds("placet", "check", "data", "--strict")
    assert checked.startswith("fine: ")


@pytest.mark.long
def test_tools_are_served_on_stdio_with_their_extra(environments: Environments) -> None:
    command = ("placet", "serve", "rules", "--workspace", "work")
    done = environments("").run(*command)
    assert (done.returncode, done.stderr) == (
        2,
        "placet: serving needs the extra `mcp`: install placet[mcp]\n",
    )
    done = environments("mcp").run(*command)
    assert done.returncode == 0, done.stderr
    assert "serving on stdio" in done.stderr


@pytest.mark.long
def test_tools_are_served_over_http_with_their_extra(environments: Environments) -> None:
    environment = environments("server")
    words = ("serve", "rules", "--workspace", "work", "--http", "127.0.0.1:0")
    process = subprocess.Popen(
        [str(environment.folder / "bin" / "placet"), *words],
        cwd=environment.folder,
        env=environment.environ(),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if "serving on http://127.0.0.1:" in line:
                break
        else:
            pytest.fail("".join(said))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


FETCH = """
import asyncio, http.server, threading
import policy

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"a page")
    def log_message(self, *_):
        pass

async def main() -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    store = policy.PolicyStore("fetch.policy")
    service = policy.build_tool_service(store, workspace="work")
    output = await service.execute("web_fetch", {"url": f"http://127.0.0.1:{server.server_port}/"})
    print(output.value)
    server.shutdown()

asyncio.run(main())
"""


@pytest.mark.long
def test_pages_are_fetched_with_their_extra(environments: Environments) -> None:
    rule = "policy for every agent\n\ndefault deny\nfetch: allow web_fetch\n"
    for extra in ("", "web"):
        (environments(extra).folder / "fetch.policy").write_text(rule)
    done = environments("").run("python", "-c", FETCH)
    assert done.returncode == 1
    assert "fetching needs the extra `web`: placet[web]" in done.stderr
    assert "a page" in environments("web").succeeds("python", "-c", FETCH)


@pytest.mark.long
def test_the_extra_redis_is_needed_for_a_history_there(environments: Environments) -> None:
    for extra, said in (("", "install placet[redis]"), ("redis", "Connection refused")):
        environment = environments(extra)
        environment.succeeds("placet", "init", f"kept{extra}")
        refused = environment.run(
            "placet", "sessions", "list", f"kept{extra}", "--store", "redis://127.0.0.1:1"
        )
        assert refused.returncode == 2
        assert said in refused.stderr


MASKED = """
import asyncio
import policy
from policy.plugins import configured_plugins

async def main():
    store = policy.PolicyStore("masking")
    service = policy.build_tool_service(store, workspace="work", tools=[])
    async with configured_plugins(service, store) as plugins:
        print(plugins.report()["mask"].problem)
        print((await service.execute("ext__mask__mask_digits", {"text": "12"})).value)

asyncio.run(main())
"""


@pytest.mark.long
def test_plugins_in_webassembly_run_with_their_extra(environments: Environments) -> None:
    plugin = ROOT / "docs" / "samples" / "mask"
    for extra in ("", "wasm"):
        folder = environments(extra).folder
        for name in ("masking", "work"):
            (folder / name).mkdir(exist_ok=True)
        rule = "policy for every agent\n\ndefault deny\nmask: allow ext mask/*\n"
        (folder / "masking" / "global.policy").write_text(rule)
        shown = environments(extra).succeeds("placet", "plugins", "--rules", "masking", str(plugin))
        (folder / "masking" / "placet.toml").write_text(shown.partition("toml:\n\n")[2])
    assert "pip install 'placet[wasm]'" in environments("").run("python", "-c", MASKED).stdout
    assert "{'text': '##'}" in environments("wasm").succeeds("python", "-c", MASKED)


@pytest.mark.long
def test_claims_with_arithmetic_are_proved_with_the_extra_analysis(
    environments: Environments,
) -> None:
    for extra in ("", "analysis"):
        folder = environments(extra).folder
        (folder / "paid.policy").write_text(
            "policy for every agent\n\ndefault deny\n"
            "pay: allow bash_exec when input.timeout + 2 * length(input.command) <= 90\n"
            "  and 2 * input.timeout + length(input.command) <= 90\n"
        )
    # Bounds of the two fields, one by one, do not decide it.
    claim = "never allow bash_exec when input.timeout + length(input.command) > 60"
    command = ("placet", "prove", "paid.policy", "--claim", claim)
    done = environments("").run(*command)
    assert done.returncode == 1
    assert "needs the solver z3, which is not installed" in done.stdout
    assert environments("analysis").succeeds(*command).startswith("holds ")


@pytest.mark.long
def test_everything_together_runs_the_demo(environments: Environments) -> None:
    without = environments("").run("placet", "demo")
    assert without.returncode == 2
    assert "install placet[mcp,web]" in without.stderr
    assert "all as expected" in environments("all").succeeds("placet", "demo")


def test_each_extra_is_tried_here() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert set(settings["project"]["optional-dependencies"]) == {
        "analysis", "mcp", "redis", "server", "wasm", "web", "sql", "all",
    }  # fmt: skip
