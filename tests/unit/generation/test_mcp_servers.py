"""MCP servers as the configuration and the files of other clients describe them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policy.generation import (
    HttpServer,
    McpServer,
    OAuthClient,
    SecretReference,
    StdioServer,
    WebSocketServer,
    load,
    read_server_file,
    read_settings,
)
from policy.model import PolicyInvalid, Source

ROOT = "/srv/rules"


def configured(text: str) -> tuple[McpServer, ...]:
    settings, problems = read_settings(Source(name="placet.toml", text=text), root=ROOT)
    assert problems == ()
    return settings.mcp_servers


def test_every_part_of_a_server_is_read() -> None:
    files, web, socket = configured("""
[mcp.servers.files]
command = "server"
args = ["--root", "/srv"]
env = { MODE = "quiet", KEY = { env = "FILES_KEY" }, CERT = { file = "cert" } }
cwd = "work"
isolation = "caller"
start = "5s"
listing = "6s"
idle = "7m"
check = 8
sessions = 9

[mcp.servers.web]
url = "https://mcp.example.com/mcp"
headers = { X-Team = "red", X-Key = { env = "KEY" } }
oauth = { client_id = "placet", client_secret = { file = "secret" }, issuer = "https://login.example.com", scope = "a b" }

[mcp.servers.socket]
url = "ws://localhost:9/mcp"
token = { env = "TOKEN" }
""")  # noqa: E501 - a table in one line stays in one line
    assert files == McpServer(
        name="files",
        transport=StdioServer(
            command=("server", "--root", "/srv"),
            env={
                "MODE": "quiet",
                "KEY": SecretReference(env="FILES_KEY"),
                "CERT": SecretReference(file="/srv/rules/cert"),
            },
            folder="/srv/rules/work",
        ),
        isolation="caller",
        start=5,
        listing=6,
        idle=420,
        check=8,
        sessions=9,
    )
    assert web.isolation == "session"
    assert web.transport == HttpServer(
        url="https://mcp.example.com/mcp",
        headers={"X-Team": "red", "X-Key": SecretReference(env="KEY")},
        oauth=OAuthClient(
            client_id="placet",
            client_secret=SecretReference(file="/srv/rules/secret"),
            issuer="https://login.example.com",
            scope="a b",
        ),
    )
    assert socket.transport == WebSocketServer(
        url="ws://localhost:9/mcp", token=SecretReference(env="TOKEN")
    )


def test_a_list_of_servers_is_read_like_tables() -> None:
    tables = configured('[mcp.servers.a]\ncommand = "x"\n[mcp.servers.b]\ncommand = "y"')
    listed = configured(
        '[[mcp.servers]]\nname = "a"\ncommand = "x"\n[[mcp.servers]]\nname = "b"\ncommand = "y"'
    )
    assert tables == listed


def in_file(value: Any) -> tuple[tuple[McpServer, ...], list[str]]:
    source = Source(name="servers.json", text=json.dumps(value))
    servers, problems = read_server_file(source, root=ROOT)
    return servers, [problem.message for problem in problems]


def test_files_of_other_clients_are_read() -> None:
    entry = {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "server"],
        "env": {"TOKEN": "${TOKEN}", "KEY": "${env:KEY}", "MODE": "a ${x}"},
    }
    servers, problems = in_file({"mcpServers": {"one": entry, "off": {"disabled": True}}})
    assert problems == []
    assert servers == (
        McpServer(
            name="one",
            transport=StdioServer(
                command=("npx", "-y", "server"),
                env={
                    "TOKEN": SecretReference(env="TOKEN"),
                    "KEY": SecretReference(env="KEY"),
                    "MODE": "a ${x}",
                },
            ),
        ),
    )
    listed, problems = in_file({"mcp": {"servers": [{**entry, "name": "one"}]}})
    assert (listed, problems) == (servers, [])


def test_a_bearer_token_of_a_variable_is_a_reference() -> None:
    headers = {"authorization": "Bearer ${TOKEN}", "X-Team": "red"}
    (server,), _ = in_file({"mcpServers": {"web": {"url": "https://h/mcp", "headers": headers}}})
    assert server.transport == HttpServer(
        url="https://h/mcp", headers={"X-Team": "red"}, token=SecretReference(env="TOKEN")
    )


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"url": "https://h/mcp", "headers": {"Authorization": "Bearer s"}}, "not written into"),
        ({"url": "https://h/mcp", "type": "stdio"}, "`type` is one of http, "),
        ({"url": "https://h/mcp", "type": "sse"}, "is not supported"),
        ({"url": "ftp://h/mcp"}, "`url` is an address such as"),
        ({"url": "https://h:x/mcp"}, "`url` is an address such as"),
        ({"url": "https://u:p@h/mcp"}, "no user name or password in it"),
        ({"url": "http://h/mcp", "token": {"env": "T"}}, "over an encrypted connection only"),
        ({"url": "ws://h/mcp", "headers": {"X": "${T}"}}, "over an encrypted connection only"),
        ({"url": "https://h/mcp", "env": {}}, "`env` is for a server with a `command`"),
        ({"command": "a", "token": {"env": "T"}}, "`token` is for a server with a `url`"),
        ({"command": "a", "env": {"A B": "c"}}, "is not the name of an environment variable"),
        ({"command": "a", "env": {"A": {"env": "$B"}}}, "not the name of an environment variable"),
        ({"command": "a", "env": {"A": {"env": "B", "file": "c"}}}, "named by where it stands"),
        ({"command": "a\0b"}, "cannot hold a NUL character"),
        ({"command": "a", "isolation": "none"}, "should be 'session', 'caller' or 'shared'"),
        ({"command": "a", "start": "soon"}, "a duration is written like"),
        ({"command": "a", "sessions": 0}, "greater than or equal to 1"),
        ({"command": ["a"]}, "valid string"),
        ([], "a server is an object"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(entry: Any, said: str) -> None:
    servers, problems = in_file({"mcpServers": {"one": entry, "two": {"command": "b"}}})
    assert [server.name for server in servers] == ["two"]
    (problem,) = problems
    assert said in problem


@pytest.mark.parametrize(
    "name", ["ext", "a__b", "_a", "a_", "a b", "a/b", "", "a.b", "é", "a\n", "x" * 33]
)
def test_names_that_no_tool_could_begin_with_are_refused(name: str) -> None:
    servers, problems = in_file({"mcpServers": {name: {"command": "a"}}})
    assert servers == ()
    assert len(problems) == 1


def test_a_problem_is_reported_where_it_stands() -> None:
    text = '{"mcpServers": {\n  "one": {"command": "a"},\n  "two": {"comand": "b"}}}'
    _, problems = read_server_file(Source(name="servers.json", text=text), root=ROOT)
    (problem, *_) = problems
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (3, 11)


def test_a_generation_has_the_servers_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text("policy for every agent\n\ndefault deny\n")
    (tmp_path / "placet.toml").write_text('[mcp]\nfiles = ["more.json"]\n')
    (tmp_path / "more.json").write_text('{"mcpServers": {"one": {"command": "a", "cwd": "."}}}')
    (server,) = load(tmp_path).settings.mcp_servers
    assert server.transport == StdioServer(command=("a",), folder=str(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"mcpServers": {"\xff": {"command": "a"}}}', "is not UTF-8 text"),
        (b'{"mcpServers": ' + b"[" * 10_000, "nested"),
        (b'{"mcpServers": {"one": {"command": "a"}, "one": {"command": "b"}}}', "occurs twice"),
        (b'{"mcpServers": {"../x": {"command": "a"}}}', "`../x` cannot name a server"),
        (b" " * 5_000_001, "bytes"),
    ],
    ids=range(5),
)
def test_a_bad_file_of_servers_is_an_error_with_its_place(
    content: bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / "global.policy").write_text("policy for every agent\n\ndefault deny\n")
    (tmp_path / "placet.toml").write_text('[mcp]\nfiles = ["more.json"]\n')
    (tmp_path / "more.json").write_bytes(content)
    with pytest.raises(PolicyInvalid) as caught:
        load(tmp_path)
    (problem,) = caught.value.diagnostics
    assert said in problem.message
    assert (problem.file if problem.span is None else problem.span.file) == "more.json"
    assert problem.help
