"""The settings in `placet.toml`: their defaults, and errors at their position."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import tomlkit
from hypothesis import example, given
from hypothesis import strategies as st

from policy.catalog import Resource
from policy.diagnostics import Diagnostic
from policy.generation import (
    ApprovalSettings,
    PythonSettings,
    SecretReference,
    Settings,
    read_settings,
)
from policy.generation.toml_positions import positions_of
from policy.model import Caller, Source


def read(text: str) -> tuple[Settings, tuple[Diagnostic, ...]]:
    return read_settings(Source(name="placet.toml", text=text), root="/srv/rules")


def good(text: str) -> Settings:
    settings, diagnostics = read(text)
    assert not diagnostics
    return settings


def only(text: str) -> tuple[str, str, str]:
    _, diagnostics = read(text)
    (diagnostic,) = diagnostics
    return diagnostic.code, str(diagnostic.span), diagnostic.help


def test_an_empty_file_gives_the_defaults() -> None:
    assert good("") == Settings()


def test_everything_can_be_said() -> None:
    settings = good(
        """
        [context]
        flights = "object"
        [catalogue]
        files = ["tools.json"]
        complete = true
        servers.github = "mcp/github.json"
        [tools.send_message]
        requires_confirmation = true
        exec_class = false
        timeout = "2m"
        category = "mail"
        read_only = false
        sends = ["input.to", "cc.*"]
        complete = true
        [timeouts]
        default = "1500ms"
        tools = { bash_exec = 5, send_message = "1m" }
        [binders]
        agents = ["agent"]
        "." = ["every"]
        [service]
        workspace = "../work"
        audit = "/var/log/placet.jsonl"
        [service.bash]
        output = 10
        [service.web]
        [serve]
        agent = "desk"
        role = "guest"
        groups = ["a"]
        """
    )
    assert settings.context == {"flights": "object"}
    assert settings.catalogue.files == ("tools.json",)
    assert settings.catalogue.servers == {"github": "mcp/github.json"}
    assert settings.catalogue.complete is True
    tool = settings.tools["send_message"]
    assert tool.requires_confirmation
    assert tool.exec_class is False
    assert tool.resources == (
        Resource(verb="sends", steps=("to",)),
        Resource(verb="sends", steps=("cc", "*")),
    )
    assert tool.complete
    assert settings.timeout == 1.5
    assert settings.timeout_of("bash_exec") == 5
    assert settings.timeout_of("send_message") == 60  # the shorter of its two
    assert settings.timeout_of("other") == 1.5
    assert settings.binders == {"agents": ("agent",), ".": ("every",)}
    assert settings.service.workspace == "/srv/work"
    assert settings.service.audit == "/var/log/placet.jsonl"
    assert settings.service.home is None
    assert settings.service.bash.output == 10
    assert settings.caller == Caller(agent="desk", role="guest", groups=("a",))


def test_packages_of_python_come_from_where_the_operator_says() -> None:
    assert good("").service.python == PythonSettings()
    text = """
    [service.python]
    enabled = true
    index = "https://packages.example/simple/"
    hosts = ["packages.example", "*.files.packages.example:8443"]
    wheels = "../wheels"
    packages = ["Zope.Interface", "numpy"]
    keep = "12h"
    timeout = "1m"
    """
    python = good(text).service.python
    assert python.hosts == ("packages.example", "*.files.packages.example:8443")
    assert (python.wheels, python.packages) == ("/srv/wheels", ("numpy", "zope-interface"))
    assert (python.keep, python.timeout) == (timedelta(hours=12), 60)


@pytest.mark.parametrize(
    "text",
    [
        'index = "https://packages.example/simple/"',
        'hosts = ["packages.example"]',
        'index = "https://ann:secret@packages.example/"\nhosts = ["packages.example"]',
        'index = "file:///srv/simple"\nhosts = ["packages.example"]',
        'index = "--index-url"\nhosts = ["packages.example"]',
        'index = "https://packages.example/ --pre"\nhosts = ["packages.example"]',
        'index = "https://packages.example/"\nhosts = ["packages.example/simple"]',
        'interpreter = "bin/python3"',
        'interpreter = "-c"',
        'packages = ["numpy>=2"]',
        'packages = ["-r"]',
        'keep = "10s"',
        "size = 0",
        "installations = 0",
        "builds = true",
    ],
)
def test_other_sources_of_packages_are_errors(text: str) -> None:
    only(f"[service.python]\n{text}\n")


def test_a_history_is_kept_in_memory_in_a_file_or_in_a_redis_server() -> None:
    assert good("").history.store is None
    in_file = good('[history]\nstore = "../state/history.sqlite"').history
    assert (in_file.store, in_file.file) == ("/srv/state/history.sqlite",) * 2
    text = '[history]\nstore = "rediss://placet@cache.example:6380/2"\npassword = { file = "key" }'
    served = good(text).history
    assert (served.store, served.file) == ("rediss://placet@cache.example:6380/2", None)
    assert served.password == SecretReference(file="/srv/rules/key")
    local = good('[history]\nstore = "unix:///run/redis.sock?db=1"').history
    assert local.file == "/run/redis.sock"


@pytest.mark.parametrize(
    "text",
    [
        'store = "redis://user:secret@host"',
        'store = "redis://host?password=secret"',
        'store = "postgres://host/db"',
        'store = "redis://host/name"',
        'store = "redis://host/0?socket_timeout=100"',
        'store = "redis://host:port"',
        'store = "redis:///0"',
        'store = "unix://"',
        'store = "rediss://[host"',
        'store = "redis://host"\npassword = "secret"',
        'store = "history.sqlite"\npassword = { env = "KEY" }',
    ],
)
def test_a_store_that_cannot_be_meant_is_an_error(text: str) -> None:
    _, diagnostics = read(f"[history]\n{text}")
    assert [one.code for one in diagnostics] == ["bad-settings"]
    assert "secret@" not in str(diagnostics[0])


def test_rules_are_kept_as_written() -> None:
    tables = good('[permissions.tools]\nbash = "deny"\n[policies.tool_permissions]\n').tables
    assert tables == {
        "permissions": {"tools": {"bash": "deny"}},
        "policies": {"tool_permissions": {}},
    }


@pytest.mark.parametrize(
    ("text", "place", "help"),
    [
        ('[servic]\nworkspace = "."', "placet.toml:1:2", "did you mean `service`?"),
        ('[service]\nwork_space = "."', "placet.toml:2:1", "did you mean `workspace`?"),
        ("service.bash.timout = 3", "placet.toml:1:14", "did you mean `timeout`?"),
        ("service = { web = { bodi = 3 } }", "placet.toml:1:21", "did you mean `body`?"),
        ('[tools."a b"]\ncomplet = true', "placet.toml:2:1", "did you mean `complete`?"),
        ('[permissions.toolz]\nx = "ask"', "placet.toml:1:14", "did you mean `tools`?"),
        ('[permissions.agents.a.tool]\nx = "ask"', "placet.toml:1:23", "did you mean `tools`?"),
        ('[serve]\nagents = "a"', "placet.toml:2:1", "did you mean `agent`?"),
    ],
)
def test_an_unknown_key_is_found_at_its_place(text: str, place: str, help: str) -> None:
    code, span, said = only(text)
    assert (code, span) == ("unknown-setting", place)
    assert help == said


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[timeouts]\n  default = "soon"', "placet.toml:2:13"),
        ("[timeouts]\ndefault = -1", "placet.toml:2:11"),
        ("[timeouts]\ndefault = nan", "placet.toml:2:11"),
        ("[timeouts]\ndefault = true", "placet.toml:2:11"),
        ('[context]\nx = "set"', "placet.toml:2:5"),
        ("[catalogue]\nfiles = 'a.json'", "placet.toml:2:9"),
        ("[catalogue]\nfiles = ['../a.json']", "placet.toml:2:9"),
        ("[catalogue]\nservers.x = '/etc/a.json'", "placet.toml:2:13"),
        ("[service.web]\nbody = 1.5", "placet.toml:2:8"),
        ("[tools]\nbash_exec = 3", "placet.toml:2:13"),
        ("[binders]\na = ['everyone']", "placet.toml:2:5"),
        ("service = 3", "placet.toml:1:11"),
    ],
)
def test_a_value_that_cannot_be_used_is_found_at_its_place(text: str, place: str) -> None:
    code, span, help = only(text)
    assert (code, span) == ("bad-settings", place)
    assert help


def test_all_mistakes_of_a_file_are_said() -> None:
    _, diagnostics = read("a = 1\n[service]\nb = 2\n[timeouts]\ndefault = 'x'\n")
    assert [d.code for d in diagnostics].count("unknown-setting") == 2
    assert [d.code for d in diagnostics].count("bad-settings") == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x = [", "placet.toml:1:6"),
        ("[context]\nx = 'a'\nx = 'b'", "placet.toml:3:8"),
        ("\n\0", "placet.toml:2:1"),
        ("x = " + "[" * 100_000, "placet.toml:1:1"),
        ("x = " + "9" * 5_000, "placet.toml:1:1"),
        ("x = 2026-13-40", "placet.toml:1:9"),
    ],
)
def test_text_that_is_no_toml_is_one_located_error(text: str, place: str) -> None:
    code, span, help = only(text)
    assert (code, span) == ("bad-settings", place)
    assert help


@given(st.text())
def test_any_text_gives_settings_or_located_errors(text: str) -> None:
    settings, diagnostics = read(text)
    assert isinstance(settings, Settings)
    assert all(d.span is not None for d in diagnostics)


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5)
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.integers(-(2**40), 2**40), st.booleans(), KEYS, st.lists(KEYS, max_size=3)
)
TABLES = st.recursive(
    st.dictionaries(KEYS, SCALARS, max_size=4),
    lambda inner: st.dictionaries(KEYS, st.one_of(SCALARS, inner), max_size=4),
    max_leaves=8,
)


def paths(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = {(*above, key) for key in table}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found |= paths(value, (*above, key))
    return found


@given(TABLES)
def test_every_key_of_a_toml_file_has_a_place(table: dict[str, Any]) -> None:
    text = tomlkit.dumps(table)
    found = positions_of(Source(name="x.toml", text=text))
    assert paths(table) <= set(found)
    for path, place in found.items():
        spelled = text[place.key.start : place.key.end]
        assert spelled == path[-1] or spelled[0] in "\"'"


@example('"\\1"')
@given(st.text(alphabet="ab.=[]{}\"'#,\\ \n1", max_size=40))
def test_places_of_any_text_end(text: str) -> None:
    found = positions_of(Source(name="x.toml", text=text))
    assert all(place.key.end <= len(text) for place in found.values())


def test_where_requests_wait_and_who_is_who_can_be_configured() -> None:
    assert good("").approvals is None
    settings = good(
        """
        [approvals]
        store = "../state/approvals.sqlite"
        timeout = "10m"
        per_session = 5
        [approvals.groups]
        finance = ["ada", "bob", "ada"]
        secops = ["bob"]
        """
    )
    approvals = settings.approvals
    assert approvals is not None
    assert (approvals.store, approvals.timeout) == ("/srv/state/approvals.sqlite", 600.0)
    assert approvals.per_session == 5
    assert approvals.groups["finance"] == ("ada", "bob")
    assert approvals.groups_of("bob") == ("finance", "secops")
    assert approvals.groups_of("Bob ") == approvals.groups_of("eve") == ()
    assert good("[approvals]").approvals == ApprovalSettings()


@pytest.mark.parametrize(
    "text",
    [
        '[approvals]\nstore = ""',
        "[approvals]\nper_session = -1",
        '[approvals]\ntimeout = "0s"',
        '[approvals.groups]\nfinance = "ada"',
        '[approvals.groups]\nfinance = ["ada "]',
        '[approvals.groups]\nfinance = ["a\\u200bda"]',
        '[approvals.groups]\n"" = ["ada"]',
    ],
)
def test_what_is_no_approvals_table_is_refused(text: str) -> None:
    assert only(text)[0] == "bad-settings"


def test_a_service_has_one_workspace_or_one_for_each_session() -> None:
    service = good('[service]\nworkspaces = "~/all"\nworkspaces_keep = "1w"').service
    assert (service.workspaces, service.workspaces_keep) == ("~/all", timedelta(weeks=1))
    service = good(
        '[service]\nworkspaces = "all"\nworkspaces_size = 5\nworkspaces_files = 6'
    ).service
    assert (service.workspaces_size, service.workspaces_files) == (5, 6)
    assert good('[service]\nworkspaces = "../all"').service.workspaces == "/srv/all"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('workspaces = "all"\nworkspace = "one"', "name one of the two"),
        ('workspaces_keep = "7d"', "is for `workspaces`"),
        ("workspaces_size = 1", "is for `workspaces`"),
        ('workspaces = "all"\nworkspaces_files = 0', "greater than or equal to 1"),
        ('workspaces = "all"\nworkspaces_keep = "47h"', '"2d"` at least'),
        ('workspaces = ""', "at least 1 character"),
    ],
)
def test_what_does_not_fit_workspaces_is_refused(text: str, said: str) -> None:
    _, (found,) = read(f"[service]\n{text}")
    assert found.code == "bad-settings"
    assert said in found.message


def test_two_stores_are_not_one_file() -> None:
    text = '[service]\naudit = "state/a"\n[history]\nstore = "{}"'
    _, (found,) = read(text.format("state/../state/a"))
    assert found.code == "bad-settings"
    assert found.message == "`[service] audit` and `[history] store` are the same file: name two"
    assert good(text.format("state/b")).history.store == "/srv/rules/state/b"
