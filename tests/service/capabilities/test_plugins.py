"""Plugins of a governed service: their declarations, their grants, and which capabilities work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy import NotFound, PermissionDenied, PolicyStore, build_tool_service
from policy.audit import MemorySink
from policy.capabilities import KINDS, Grants, PluginManifest, PluginRefused, manifest_of
from policy.plugins import (
    PluginChange,
    PluginRegistered,
    PluginRegistry,
    PluginRegranted,
    PluginUnregistered,
    configured_grants,
    fixed_grants,
)
from policy.service import GovernedService
from policy.tools import ExecutionContext, tool
from tests.service.capabilities.test_declarations import EXAMPLES

RULES = """
policy for every agent

default deny

let-in: allow ext__weather__*
never:  deny ext__weather__storm because "storms are not ours to make"
"""
GRANTS = '[plugins.weather]\ngrant = ["tool:forecast", "tool:storm", "http_route:*", "cli:gone"]\n'

CAPABILITIES: list[dict[str, Any]] = [
    {"type": "tool", "name": "forecast", "description": "Tell the weather."},
    {"type": "tool", "name": "storm"},
    {"type": "tool", "name": "history"},
    {"type": "http_route", "name": "hook", "path": "/weather", "methods": ["POST"]},
    {"type": "skill", "name": "umbrella", "path": "umbrella.md"},
]


@tool
def forecast(city: str, ctx: ExecutionContext) -> dict[str, Any]:
    """Tell the weather of a city."""
    return {"city": city, "may": sorted(ctx.capabilities)}


@tool
def storm(city: str) -> str:
    """Make a storm."""
    return city


@tool
def history(city: str) -> str:
    """Tell the weather of old."""
    return city


TOOLS: dict[str, Any] = {"forecast": forecast, "storm": storm, "history": history}


def weather(**changes: Any) -> PluginManifest:
    return manifest_of({"id": "weather", "version": "1.0", "capabilities": CAPABILITIES, **changes})


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "global.policy").write_text(RULES)
    (folder / "placet.toml").write_text(GRANTS)
    return folder


@pytest.fixture
def store(rules: Path) -> PolicyStore:
    return PolicyStore(rules)


@pytest.fixture
def sink() -> MemorySink:
    return MemorySink()


@pytest.fixture
def service(store: PolicyStore, sink: MemorySink) -> GovernedService:
    built = build_tool_service(store, audit=sink)
    store.reload()
    return built


@pytest.fixture
def plugins(service: GovernedService, store: PolicyStore) -> PluginRegistry:
    return PluginRegistry(service, configured_grants(store), reloads=store)


async def test_a_granted_tool_is_governed_like_any_other(
    plugins: PluginRegistry, service: GovernedService, sink: MemorySink
) -> None:
    plugins.register(weather(), tools=TOOLS)
    names = [definition.name for definition in service.list()]
    assert "ext__weather__forecast" in names
    # Denied by the policy for every input, and withheld: neither is shown.
    assert "ext__weather__storm" not in names and "ext__weather__history" not in names
    output = await service.execute("ext__weather__forecast", {"city": "Ulm"})
    assert output.value == {
        "city": "Ulm",
        "may": ["http_route:hook", "tool:forecast", "tool:storm"],
    }
    assert output.metadata.source == "extension"
    with pytest.raises(PermissionDenied, match="storms are not ours"):
        await service.execute("ext__weather__storm", {"city": "Ulm"})
    assert [record.source for record in sink.records] == ["extension", "extension"]


async def test_what_is_declared_but_not_granted_cannot_be_used(
    plugins: PluginRegistry, service: GovernedService
) -> None:
    found = plugins.register(weather(), tools=TOOLS)
    assert found.active == ("tool:forecast", "tool:storm", "http_route:hook")
    assert found.withheld == ("tool:history", "skill:umbrella")
    with pytest.raises(NotFound):
        await service.execute("ext__weather__history", {"city": "Ulm"})
    assert service.describe("ext__weather__history") is None
    assert plugins.active("skill") == ()
    assert [one.declaration.name for one in plugins.active("http_route")] == ["hook"]
    withheld = plugins.get("weather", "tool:history")
    assert withheld is not None and not withheld.active


def test_the_difference_is_shown_and_vain_grants_are_a_warning(plugins: PluginRegistry) -> None:
    plugins.register(weather(wants=["tool:*"]), tools=TOOLS)
    found = plugins.difference("weather")
    assert found is not None
    assert found.undeclared == ("cli:gone",)
    (warning,) = found.warnings
    assert "`cli:gone`" in warning
    assert plugins.table().splitlines() == [
        "weather  http_route:hook  granted",
        "weather  skill:umbrella   withheld: not granted, and not requested",
        "weather  tool:forecast    granted",
        "weather  tool:history     withheld: not granted",
        "weather  tool:storm       granted",
        "weather  cli:gone         granted, but not declared",
    ]
    assert plugins.difference("other") is None


async def test_grants_follow_every_edit_of_the_configuration(
    plugins: PluginRegistry, service: GovernedService, store: PolicyStore, rules: Path
) -> None:
    heard: list[PluginChange] = []
    plugins.subscribe(heard.append)
    plugins.register(weather(), tools=TOOLS)
    (rules / "placet.toml").write_text('[plugins.weather]\ngrant = ["tool:history"]\n')
    store.reload()
    assert (await service.execute("ext__weather__history", {"city": "Ulm"})).value == "Ulm"
    with pytest.raises(NotFound):
        await service.execute("ext__weather__forecast", {"city": "Ulm"})
    assert plugins.active("http_route") == ()
    (rules / "placet.toml").write_text("")
    store.reload()
    assert service.list() == []
    assert [type(change) for change in heard] == [
        PluginRegistered,
        PluginRegranted,
        PluginRegranted,
    ]
    assert [change.revision for change in heard] == [1, 2, 3]


async def test_a_configuration_that_cannot_be_read_grants_nothing_new(
    plugins: PluginRegistry, service: GovernedService, store: PolicyStore, rules: Path
) -> None:
    plugins.register(weather(), tools=TOOLS)
    (rules / "placet.toml").write_text('[plugins.weather]\ngrant = ["tools:*"]\n')
    outcome = store.reload()
    assert [problem.code for problem in outcome.diagnostics] == ["bad-settings"]
    with pytest.raises(NotFound):
        await service.execute("ext__weather__history", {"city": "Ulm"})


def test_a_plugin_is_registered_and_unregistered_whole(
    plugins: PluginRegistry, service: GovernedService
) -> None:
    heard: list[PluginChange] = []
    plugins.subscribe(heard.append)
    before = service.registry.list()
    plugins.register(weather(), tools=TOOLS)
    with pytest.raises(PluginRefused, match="registered already"):
        plugins.register(weather(), tools=TOOLS)
    assert plugins.plugins() == ("weather",)
    assert plugins.unregister("weather") == weather()
    assert plugins.unregister("weather") is None
    assert service.registry.list() == before
    assert plugins.plugins() == () and plugins.table() == "no plugins\n"
    assert [type(change) for change in heard] == [PluginRegistered, PluginUnregistered]


@pytest.mark.parametrize(
    ("tools", "targets", "why"),
    [
        ({"forecast": forecast, "storm": storm}, {}, "`history` has no handler"),
        ({**TOOLS, "snow": storm}, {}, "`snow` is not declared"),
        (TOOLS, {"channel:mail": object()}, "`channel:mail` is not declared"),
        ({**TOOLS, "storm": 3}, {}, "not a tool"),
    ],
)
def test_parts_that_do_not_fit_the_manifest_change_nothing(
    plugins: PluginRegistry, service: GovernedService, tools: Any, targets: Any, why: str
) -> None:
    before = service.registry.list()
    with pytest.raises(PluginRefused, match=why):
        plugins.register(weather(), tools=tools, targets=targets)
    assert service.registry.list() == before
    assert plugins.plugins() == ()


def test_where_one_tool_cannot_be_registered_none_is(
    plugins: PluginRegistry, service: GovernedService, make_ext: Callable[[str, str], Any]
) -> None:
    service.register(make_ext("weather", "storm"))
    before = service.registry.list()
    with pytest.raises(PluginRefused, match="registered already"):
        plugins.register(weather(), tools=TOOLS)
    assert service.registry.list() == before


def test_a_plugin_with_whose_tools_the_policy_is_invalid_is_refused_whole(
    plugins: PluginRegistry, service: GovernedService, store: PolicyStore, rules: Path
) -> None:
    (rules / "global.policy").write_text(
        RULES.replace("ext__weather__storm", 'ext__weather__storm when input.town == "Ulm"')
    )
    generation, before = store.reload().generation, service.registry.list()
    assert generation is not None
    with pytest.raises(PluginRefused, match=r"`ext__weather__storm` has no field `input\.town`"):
        plugins.register(weather(), tools=TOOLS)
    assert service.registry.list() == before and plugins.plugins() == ()
    assert store.current is generation and not store.status.stale
    assert store.catalog.get("ext__weather__forecast") is None


@pytest.fixture
def make_ext() -> Callable[[str, str], Any]:
    from policy.capabilities import ToolCapability
    from policy.plugins.extension import ExtensionHandler

    return lambda plugin, name: ExtensionHandler(plugin, ToolCapability(name=name), storm)


def test_two_plugins_cannot_have_the_same_route_or_command(plugins: PluginRegistry) -> None:
    plugins.register(weather(), tools=TOOLS)
    route = {"type": "http_route", "name": "other", "path": "/weather", "methods": ["POST", "GET"]}
    second = manifest_of({"id": "second", "version": "1", "capabilities": [route]})
    with pytest.raises(PluginRefused, match="the route `POST /weather`"):
        plugins.register(second)
    skill = {"type": "skill", "name": "umbrella", "path": "x.md"}
    third = manifest_of({"id": "third", "version": "1", "capabilities": [skill]})
    with pytest.raises(PluginRefused, match="skill:umbrella"):
        plugins.register(third)
    same_tool = [{"type": "tool", "name": "forecast"}]
    fourth = manifest_of({"id": "fourth", "version": "1", "capabilities": same_tool})
    assert plugins.register(fourth, tools={"forecast": forecast}).withheld == ("tool:forecast",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            {"type": "http_route", "name": "a", "path": "/q/{city}"},
            {"type": "http_route", "name": "b", "path": "/q/{town}"},
        ),
        (
            {"type": "command", "name": "sun", "aliases": ["s"]},
            {"type": "command", "name": "s"},
        ),
        (
            {"type": "command", "name": "sun"},
            {"type": "command", "name": "rain", "aliases": ["sun"]},
        ),
    ],
)
def test_another_spelling_takes_no_route_or_command_of_another_plugin(
    first: dict[str, Any], second: dict[str, Any], plugins: PluginRegistry
) -> None:
    plugins.register(manifest_of({"id": "one", "version": "1", "capabilities": [first]}))
    with pytest.raises(PluginRefused, match="by the plugin `one` already"):
        plugins.register(manifest_of({"id": "two", "version": "1", "capabilities": [second]}))


def test_a_grant_taken_back_while_another_plugin_is_refused_is_withdrawn(
    service: GovernedService,
) -> None:
    granted = {"weather": Grants(("tool:*",))}
    registry: list[PluginRegistry] = []

    def grants(plugin: str) -> Grants:
        if plugin == "late":
            granted.clear()
            registry[0].regrant()
            raise PluginRefused("not now")
        return granted.get(plugin, Grants())

    registry.append(plugins := PluginRegistry(service, grants))
    plugins.register(weather(), tools=TOOLS)
    assert "ext__weather__forecast" in service.registry.snapshot()
    with pytest.raises(PluginRefused, match="not now"):
        plugins.register(manifest_of({"id": "late", "version": "1"}))
    assert "ext__weather__forecast" not in service.registry.snapshot()
    assert plugins.active("tool") == ()


async def test_grants_can_be_given_in_python_and_without_any_nothing_is_granted(
    service: GovernedService,
) -> None:
    given = PluginRegistry(service, fixed_grants({"weather": ["tool:f*"]}))
    assert given.register(weather(), tools=TOOLS).active == ("tool:forecast",)
    assert (await service.execute("ext__weather__forecast", {"city": "Ulm"})).value["may"] == [
        "tool:forecast"
    ]
    given.unregister("weather")
    nothing = PluginRegistry(service, fixed_grants({}))
    assert nothing.register(weather(), tools=TOOLS).active == ()
    with pytest.raises(PluginRefused, match="weather: "):
        fixed_grants({"weather": ["everything"]})


def test_the_target_of_a_capability_is_handed_to_who_serves_it(plugins: PluginRegistry) -> None:
    endpoint = object()
    plugins.register(weather(), tools=TOOLS, targets={"http_route:hook": endpoint})
    (route,) = plugins.active("http_route")
    assert route.target is endpoint


async def test_the_page_shows_a_plugin_that_works(
    service: GovernedService, store: PolicyStore
) -> None:
    page = (Path(__file__).parents[3] / "docs/capabilities.md").read_text()
    manifest = json.loads(re.findall(r"```json\n(.*?)```", page, re.S)[0])
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.S)[0], names)
    plugins = names["install"](service, store, manifest, object())
    assert plugins.difference("weather").withheld == ()
    output = await service.execute("ext__weather__forecast", {"city": "Ulm"})
    assert output.value == "fine in Ulm"
    rows = set(re.findall(r"^\| `([a-z_]+)` \|", page, re.M))
    assert rows - {"type"} == set(KINDS)


def test_all_twelve_kinds_are_registered_each_in_its_own_way(
    service: GovernedService,
) -> None:
    declared = [{"type": kind, **example} for kind, example in EXAMPLES.items()]
    manifest = manifest_of({"id": "all", "version": "1.0", "capabilities": declared})
    plugins = PluginRegistry(service, fixed_grants({"all": [f"{kind}:*" for kind in KINDS]}))
    plugins.register(manifest, tools={"my_tool": forecast})
    entries = {kind: plugins.active(kind) for kind in KINDS}
    assert all(len(found) == 1 for found in entries.values())
    assert len({type(found[0]) for found in entries.values()}) == len(KINDS)
    for kind, (entry,) in entries.items():
        shown = json.loads(entry.declaration.model_dump_json())
        assert (shown["type"], shown["name"]) == (kind, EXAMPLES[kind]["name"])
    assert service.registry.get("ext__all__my_tool") is not None
