"""What wrapping does to a client's file, unwrapping undoes, however the file is written."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policy.cli.agent_settings.json_text import read
from policy.cli.wrapping.client_file import ClientFile
from policy.cli.wrapping.json_servers import JsonServers
from policy.cli.wrapping.settings_block import with_table, without_table
from policy.cli.wrapping.toml_servers import TomlServers
from policy.cli.wrapping.wrapping import moves_of, unwrapped, wrapped
from policy.config_edit import write_key, write_value

POLICY = "/srv/rules"
NAMES = st.from_regex(r"[a-z]{1,6}(-[a-z]{1,3})?", fullmatch=True).filter(lambda n: n != "ext")
TEXTS = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="$%:="), max_size=8)
SERVERS = st.fixed_dictionaries(
    {"command": TEXTS.map(lambda text: f"run-{text}")},
    optional={
        "args": st.lists(TEXTS.map(lambda text: f"a{text}"), max_size=3),
        "env": st.dictionaries(st.sampled_from(["KEY", "LOG", "PATH"]), TEXTS, max_size=2),
        "disabled": st.booleans(),
    },
)
LISTS = st.dictionaries(NAMES, SERVERS, max_size=4)
FLAGS: st.SearchStrategy[bool] = st.booleans()
BLANKS = st.sampled_from(["", " ", "\n", "\n\n  ", "\r\n\t", " // of mine\n", "/* a */", "\n# b\n"])


@st.composite
def json_files(draw: st.DrawFn) -> str:
    """JSON with comments, blanks and trailing commas wherever they may be."""

    def blank() -> str:
        return draw(BLANKS.filter(lambda text: "#" not in text))

    def written(value: Any) -> str:
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=draw(FLAGS))
        parts = [
            f"{blank()}{json.dumps(k)}{blank()}:{blank()}{written(v)}{blank()}"
            for k, v in value.items()
        ]
        comma = "," if draw(FLAGS) and parts else ""
        return f"{{{','.join(parts)}{comma}{blank()}}}"

    whole = {
        "before": 1,
        draw(st.sampled_from(["mcpServers", "servers"])): draw(LISTS),
        "after": [],
    }
    return f"{blank()}{written(whole)}{blank()}"


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    """The tables of Codex, with comments and other tables between them."""
    parts = ['model = "x"', *draw(st.lists(st.just("[mcp_servers]"), max_size=1))]
    for name, server in draw(LISTS).items():
        parts.append(draw(BLANKS.filter(lambda text: "/" not in text)))
        parts.append(f"[mcp_servers.{write_key((name,))}]  # {name}")
        parts += [f"{key} = {write_value(value)}" for key, value in server.items()]
        parts += draw(st.sampled_from([[], [f"[profiles.{name}]", "speed = 1"]]))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(parts).replace("\r\n", "\n").replace("\t", " ").replace("\n", ending)
    return text + draw(st.sampled_from(["", ending]))


def check(file: ClientFile, edit: Any, value_of: Any) -> None:
    """Wrapping leaves the other servers, is done once, and is undone to the byte."""
    moves = moves_of(file)
    assert not moves.problems
    if not moves.servers:
        return
    once = wrapped(file, moves.servers, POLICY)
    assert set(once.servers) == {*moves.left, "placet"}
    assert unwrapped(once, file, POLICY).text == file.text
    assert wrapped(unwrapped(once, file, POLICY), moves.servers, POLICY).text == once.text
    edited = unwrapped(edit(once), file, POLICY)
    assert value_of(edited.text) == value_of(edit(file).text)


@given(json_files())
def test_a_json_file_is_unwrapped_to_the_byte(text: str) -> None:
    def edit(file: Any) -> Any:
        return JsonServers.read(file.text.replace('"before"', '"edited"', 1))

    check(JsonServers.read(text), edit, lambda text: read(text).value)


@given(toml_files())
def test_a_toml_file_is_unwrapped_to_the_byte(text: str) -> None:
    def edit(file: Any) -> Any:
        return TomlServers.read(file.text.replace('"x"', '"edited"', 1))

    if "mcp_servers" in tomllib.loads(text):
        check(TomlServers.read(text), edit, tomllib.loads)


@given(LISTS, st.sampled_from(["", "[pins]", "[pins]\n", "# mine\r\n[pins]\r\n", "\n\n"]))
def test_tables_are_taken_out_of_the_settings_to_the_byte(
    servers: dict[str, Any], text: str
) -> None:
    whole = text
    for name, table in servers.items():
        whole = with_table(whole, name, table)
    assert tomllib.loads(whole).get("mcp", {"servers": {}})["servers"] == servers
    for name, table in reversed(servers.items()):
        smaller = without_table(whole, name, table)
        assert smaller is not None
        whole = smaller
    assert whole == text
