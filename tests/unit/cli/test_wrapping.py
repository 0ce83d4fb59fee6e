"""`placet gateway --wrap` and `--unwrap`: the servers of clients, behind the gateway and back."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from policy.generation import configuration, read_folder
from tests.unit.cli.running import Ran, run

pytestmark = pytest.mark.people

RULES = "policy for every agent\n\ndefault deny\n\nlook: allow git__git_status\n"

CLAUDE = """\
{
  // the servers of this project
  "mcpServers": {
    "git": {"command": "uvx", "args": ["mcp-server-git"]}, // read only
    "github": {
      "type": "http",
      "url": "https://api.example.com/mcp",
      "headers": {"Authorization": "Bearer ghp_abcdefgh12345678", "X-Team": "red"}
    },
    "off": {"command": "x", "disabled": true},
    "files": {
      "command": "npx",
      "args": ["-y", "server-filesystem", "/srv"],
      "env": {"API_KEY": "${FILES_KEY}", "LOG": "warn"},
      "autoApprove": ["read"]
    }
  },
  "theme": "dark" /* mine */
}
"""
VSCODE = """\
{
\t"inputs": [{"type": "promptString", "id": "key", "password": true}],
\t"servers": {
\t\t"crm": {"type": "stdio", "command": "crm", "env": {"KEY": "${input:key}"}},
\t}
}
"""
GEMINI = """{"mcpServers": {"hub": {"httpUrl": "https://hub.example.com/mcp", "trust": true}}}"""
CODEX = """\
# my Codex
model = "x"

[mcp_servers.git]
command = "uvx"
args = ["mcp-server-git"]
startup_timeout_sec = 20

[mcp_servers.git.env]
KEY = "s3cret-of-git"

[mcp_servers.hub]
url = "https://hub.example.com/mcp"
bearer_token_env_var = "HUB_TOKEN"

# how I work
[profiles.fast]
model = "y"
"""
FILES = {
    ".mcp.json": CLAUDE,
    "vscode.json": VSCODE,
    "settings.json": GEMINI,
    "config.toml": CODEX,
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules and the files of four clients, as the current one."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(RULES)
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wrap(name: str, *more: str) -> Ran:
    return run("gateway", "rules", "--wrap", name, *more)


def unwrap(name: str, *more: str) -> Ran:
    return run("gateway", "rules", "--unwrap", name, *more)


def settings(place: Path) -> dict[str, Any]:
    return tomllib.loads((place / "rules" / "placet.toml").read_text())


def everything(place: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(place)): file.read_bytes()
        for file in place.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "toml", [None, "", "[pins]\nnew = 'deny'\n", "# mine\n[pins]", "[pins]\r\n"]
)
def test_what_was_wrapped_is_unwrapped_to_the_byte(
    name: str, ending: str, toml: str | None, place: Path
) -> None:
    (place / name).write_bytes(
        b"\xef\xbb\xbf" * (name != "config.toml") + FILES[name].replace("\n", ending).encode()
    )
    if toml is not None:
        (place / "rules" / "placet.toml").write_bytes(toml.encode())
    before = everything(place)
    first = wrap(name)
    assert first.code == 0, first.err
    once = everything(place)
    assert once[name] != before[name]
    assert not configuration(read_folder(place / "rules")).diagnostics
    again = wrap(name)
    assert (again.code, again.out) == (0, f"{name} is unchanged: there is no server to move\n")
    assert everything(place) == once
    assert unwrap(name).code == 0
    assert everything(place) == before
    assert unwrap(name).out == f"{name} is unchanged: there is no gateway in it\n"


def test_the_client_keeps_its_secrets_and_the_policy_refers_to_them(place: Path) -> None:
    done = wrap(".mcp.json")
    assert (place / ".mcp.json").read_text().count("ghp_") == 1
    kept = settings(place)["mcp"]["servers"]
    assert kept == {
        "git": {"command": "uvx", "args": ["mcp-server-git"]},
        "github": {
            "url": "https://api.example.com/mcp",
            "token": {"env": "PLACET_MCP_GITHUB_TOKEN"},
            "headers": {"X-Team": {"env": "PLACET_MCP_GITHUB_X_TEAM"}},
        },
        "files": {
            "command": "npx",
            "args": ["-y", "server-filesystem", "/srv"],
            "env": {
                "API_KEY": {"env": "PLACET_MCP_FILES_API_KEY"},
                "LOG": {"env": "PLACET_MCP_FILES_LOG"},
            },
        },
    }
    text = (place / ".mcp.json").read_text()
    assert "// the servers of this project" in text and "/* mine */" in text
    assert "// read only" in text and '"theme": "dark"' in text
    bare = "\n".join(line.partition("//")[0] for line in text.splitlines()).replace(
        "/* mine */", ""
    )
    entry = json.loads(bare)["mcpServers"]["placet"]
    assert entry["args"][-3:] == ["gateway", str(place / "rules"), "--policy-in-workspace"]
    assert entry["env"] == {
        "PLACET_MCP_GITHUB_TOKEN": "ghp_abcdefgh12345678",
        "PLACET_MCP_GITHUB_X_TEAM": "red",
        "PLACET_MCP_FILES_API_KEY": "${FILES_KEY}",
        "PLACET_MCP_FILES_LOG": "warn",
    }
    assert "ghp_" not in done.out + done.err
    assert "note: files: Placet has no autoApprove" in done.err
    assert "note: the policy is in the client's folder" in done.err
    assert "note: off stays: no rule is asked about it" in done.err
    assert "placet pin accept rules --server github --wrapped .mcp.json\n" in done.out
    assert (place / ".mcp.json.before-placet").stat().st_mode & 0o077 == 0


def test_a_review_takes_the_variables_from_the_client(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends at once, with what it was given as its last words."""
    monkeypatch.setenv("FROM_OUTSIDE", "filled-in")
    script = "import os, sys; sys.exit(' '.join(os.environ[k] for k in ('ONE', 'TWO')))"
    env = {"ONE": "kept-by-the-client", "TWO": "${FROM_OUTSIDE}"}
    entry = {"command": sys.executable, "args": ["-c", script], "env": env}
    (place / ".mcp.json").write_text(json.dumps({"mcpServers": {"says": entry}}))
    assert wrap(".mcp.json").code == 0
    words = ("pin", "review", "rules", "--server", "says")
    without = run(*words)
    assert "the environment variable `PLACET_MCP_SAYS_ONE` is not set" in without.err
    assert "--wrapped FILE" in without.err
    reached = run(*words, "--wrapped", ".mcp.json")
    assert "it wrote: kept-by-the-client filled-in" in reached.err
    assert "PLACET_MCP_SAYS_ONE" not in os.environ
    none = run(*words, "--wrapped", "vscode.json")
    assert none.code == 2 and "vscode.json has no gateway" in none.err


def test_what_a_client_fills_in_stays_with_the_client(place: Path) -> None:
    assert wrap("vscode.json").code == 0
    text = (place / "vscode.json").read_text()
    assert '"type": "stdio"' in text and '"PLACET_MCP_CRM_KEY": "${input:key}"' in text
    assert settings(place)["mcp"]["servers"]["crm"]["env"] == {"KEY": {"env": "PLACET_MCP_CRM_KEY"}}


def test_the_tables_of_codex_are_moved(place: Path) -> None:
    assert wrap("config.toml").code == 0
    text = (place / "config.toml").read_text()
    assert "# my Codex" in text and "# how I work" in text
    left = tomllib.loads(text)
    assert left["profiles"] == {"fast": {"model": "y"}}
    assert list(left["mcp_servers"]) == ["placet"]
    assert left["mcp_servers"]["placet"]["env"] == {"PLACET_MCP_GIT_KEY": "s3cret-of-git"}
    assert left["mcp_servers"]["placet"]["env_vars"] == ["HUB_TOKEN"]
    kept = settings(place)["mcp"]["servers"]
    assert kept["git"]["start"] == "20s"
    assert kept["hub"] == {"url": "https://hub.example.com/mcp", "token": {"env": "HUB_TOKEN"}}


@pytest.mark.parametrize("name", [".mcp.json", "config.toml"])
def test_what_was_edited_since_stays(name: str, place: Path) -> None:
    assert wrap(name).code == 0
    file, toml = place / name, place / "rules" / "placet.toml"
    edited = {'"dark"': '"light"', 'model = "x"': 'model = "z"'}
    text = file.read_text()
    for old, new in edited.items():
        text = text.replace(old, new)
    file.write_text(text)
    toml.write_text(
        toml.read_text().replace('"mcp-server-git"]\n', '"mcp-server-git"]\nisolation = "shared"\n')
    )
    done = unwrap(name)
    assert done.code == 0
    assert f"note: git stays in {toml}, as it was edited" in done.out
    assert list(settings(place)["mcp"]["servers"]) == ["git"]
    after = file.read_text()
    assert "placet" not in after
    assert ('"light"' in after) is (name == ".mcp.json")
    if name == "config.toml":
        wanted = tomllib.loads(CODEX)
        wanted["model"] = "z"
        assert tomllib.loads(after) == wanted
    else:
        assert '"args": ["-y", "server-filesystem", "/srv"],\n      "env"' in after


def test_a_server_that_is_added_later_is_moved_by_wrapping_again(place: Path) -> None:
    assert wrap("settings.json").code == 0
    toml = place / "rules" / "placet.toml"
    toml.write_text(toml.read_text() + 'isolation = "shared"\n')
    file = place / "settings.json"
    grown = json.loads(file.read_text())
    grown["mcpServers"]["git"] = {"command": "mcp-git"}
    file.write_text(json.dumps(grown))
    assert wrap("settings.json").code == 0
    assert list(json.loads(file.read_text())["mcpServers"]) == ["placet"]
    kept = settings(place)["mcp"]["servers"]
    assert kept == {
        "hub": {"url": "https://hub.example.com/mcp", "isolation": "shared"},
        "git": {"command": "mcp-git"},
    }
    assert unwrap("settings.json").code == 0
    assert list(json.loads(file.read_text())["mcpServers"]) == ["git", "hub"]


def test_what_follows_a_comment_does_not_become_a_part_of_it(place: Path) -> None:
    file = place / ".mcp.json"
    file.write_text('{"mcpServers": { // mine\n"a": {"command": "x"}}, "theme": "dark"}')
    before = file.read_bytes()
    assert wrap(".mcp.json").code == 0
    text = file.read_text()
    assert "// mine\n" in text and text.endswith('"theme": "dark"}')
    assert list(json.loads(text.replace("// mine", ""))["mcpServers"]) == ["placet"]
    assert unwrap(".mcp.json").code == 0
    assert file.read_bytes() == before


def test_a_dry_run_writes_nothing(place: Path) -> None:
    before = everything(place)
    shown = wrap(".mcp.json", "--dry-run")
    assert '[mcp.servers.git]\ncommand = "uvx"\n' in shown.out
    assert "would move 3 servers of .mcp.json to rules/placet.toml: git, github, files" in shown.out
    assert everything(place) == before
    assert wrap(".mcp.json").code == 0
    wrapped = everything(place)
    assert "would give back to .mcp.json" in unwrap(".mcp.json", "--dry-run").out
    assert everything(place) == wrapped


REFUSED = {
    "an old transport": ({"type": "sse", "url": "https://x.example/mcp"}, "not supported"),
    "the path of one": ({"url": "https://x.example/sse"}, "not supported"),
    "no command": ({"args": ["x"]}, "either a `command` that starts it, or a `url`"),
    "both": (
        {"command": "x", "url": "https://x.example"},
        "either a `command` that starts it, or a `url`",
    ),
    "not an object": (7, "not an object"),
    "a variable": ({"command": "${HOME}/x"}, "`command` has `${HOME}`"),
    "a folder": ({"command": "x", "args": ["${workspaceFolder}"]}, "only the client can fill in"),
    "a secret": ({"command": "x", "args": ["--api-key", "0123456789"]}, "looks like a secret"),
    "one in a URL": ({"command": "x", "args": ["postgres://u:pw@h/db"]}, "looks like a secret"),
    "one in an address": ({"url": "https://x.example/mcp?api_key=abcdefgh"}, "looks like a secret"),
    "a known form": ({"command": "x", "args": ["ghp_0123456789"]}, "looks like a secret"),
    "no encryption": (
        {"url": "http://x.example/mcp", "headers": {"Authorization": "Bearer abc"}},
        "encrypted connection only",
    ),
    "a file of variables": ({"command": "x", "envFile": ".env"}, "`envFile` is not read"),
    "a relative folder": ({"command": "x", "cwd": "sub"}, "`cwd` must be a full path"),
    "odd arguments": ({"command": "x", "args": [7]}, "`args.0`"),
    "odd variables": ({"command": "x", "env": {"A": ["b"]}}, "`A` is not a string"),
    "a password": (
        {"url": "https://x.example", "headers": {"Authorization": "Basic abc="}},
        "a token is not written into `headers`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_server_that_cannot_be_moved_is_named_and_nothing_is_changed(
    case: str, place: Path
) -> None:
    entry, said = REFUSED[case]
    servers = {"one": entry, "two": {"command": "y"}}
    (place / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    before = everything(place)
    refused = wrap(".mcp.json")
    assert refused.code == 1
    assert refused.err.startswith("placet: one: ") and said in refused.err
    assert "abcdefgh" not in refused.err and "0123456789" not in refused.err
    assert "--leave NAME" in refused.err
    assert everything(place) == before
    left = wrap(".mcp.json", "--leave", "one")
    assert left.code == 0 and "note: one stays" in left.err
    assert list(json.loads((place / ".mcp.json").read_text())["mcpServers"]) == ["one", "placet"]
    assert unwrap(".mcp.json").code == 0
    assert everything(place) == before


@pytest.mark.parametrize(
    ("name", "said"),
    [("../x", "cannot name a server"), ("a__b", "contains `__`"), ("é", "cannot name a server")],
)
def test_a_name_that_rules_could_not_write_is_refused(name: str, said: str, place: Path) -> None:
    (place / ".mcp.json").write_text(json.dumps({"mcpServers": {name: {"command": "x"}}}))
    refused = wrap(".mcp.json")
    assert refused.code == 1 and said in refused.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "cannot be edited"),
        (b"[]", "no list of MCP servers"),
        (b"{}", "no list of MCP servers"),
        (b'{"mcpServers": []}', "no list of MCP servers"),
        (b'{"mcpServers": {"a": {}, "a": {}}}', "a server is twice"),
        (b"\xff", "cannot be edited"),
        (b" " * 5_000_001, "has more than 5,000,000 bytes"),
        (b"[" * 10_000, "nested too deeply"),
    ],
    ids=range(8),
)
def test_a_file_that_is_no_list_of_servers_is_one_line(
    content: bytes, said: str, place: Path
) -> None:
    (place / ".mcp.json").write_bytes(content)
    refused = wrap(".mcp.json")
    assert refused.code in (1, 2) and said in refused.err and refused.err.count("\n") == 1


def test_a_server_of_the_same_name_is_not_replaced(place: Path) -> None:
    toml = place / "rules" / "placet.toml"
    toml.write_text('[mcp.servers.git]\ncommand = "another"\n')
    before = everything(place)
    refused = wrap(".mcp.json")
    assert "git: rules/placet.toml has another server of its name" in refused.err
    assert everything(place) == before
    toml.write_text('[mcp.servers.git]\ncommand = "uvx"\nargs = ["mcp-server-git"]\n')
    assert wrap(".mcp.json").code == 0
    assert list(settings(place)["mcp"]["servers"]) == ["git", "github", "files"]


def test_settings_that_cannot_hold_another_table_are_not_edited(place: Path) -> None:
    (place / "rules" / "placet.toml").write_text("mcp = {files = []}\n")
    before = everything(place)
    refused = wrap(".mcp.json")
    assert refused.code in (1, 2) and refused.err
    assert everything(place) == before


def test_moving_servers_is_for_people(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_CALL", "1")
    for refused in (wrap(".mcp.json"), unwrap(".mcp.json")):
        assert refused.code == 2 and "is for people only" in refused.err


def test_unwrapping_needs_no_policy_to_be_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's file names it, wherever the command runs."""
    before = everything(place)
    assert wrap(".mcp.json").code == 0
    monkeypatch.chdir("/")
    undone = run("gateway", "--unwrap", str(place / ".mcp.json"))
    assert undone.code == 0, undone.err
    assert everything(place) == before


def test_unwrapping_needs_the_file_as_it_was(place: Path) -> None:
    assert wrap(".mcp.json").code == 0
    (place / ".mcp.json.before-placet").unlink()
    refused = unwrap(".mcp.json")
    assert refused.code == 1 and "is missing, which has the servers as they were" in refused.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--wrap", ".mcp.json", "--unwrap", ".mcp.json"), "not both"),
        (("--leave", "x"), "--leave is for --wrap"),
        (("--dry-run",), "--dry-run is for"),
        (("--wrap", ".mcp.json", "--leave", "gti"), "has no server gti; did you mean `git`?"),
    ],
)
def test_options_that_do_not_fit_together(options: tuple[str, ...], said: str, place: Path) -> None:
    refused = run("gateway", "rules", *options)
    assert refused.code == 2 and said in refused.err
