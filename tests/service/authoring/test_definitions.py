"""A call runs only the tool whose definition the policy was checked against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest

from policy import PolicyStore
from policy.catalog import CatalogError, Reads
from policy.model import PermissionDenied
from policy.service import GovernedService, build_tool_service
from policy.tools import Traits, tool

RULES = """
policy for every agent

default deny

read: allow fetch when reads only workspace
"""


@tool(name="fetch", traits=Traits(complete=True))
def marked(path: Annotated[str, Reads()]) -> str:
    """Fetch a file."""
    return path


@tool(name="fetch", traits=Traits(complete=True))
def unmarked(path: str) -> str:
    """Fetch something from a folder of its own."""
    return path


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(RULES)
    (tmp_path / "work").mkdir()
    return PolicyStore(tmp_path / "rules")


def service_of(store: PolicyStore, tmp_path: Path, *tools: Any) -> GovernedService:
    return build_tool_service(store, tools=tools, workspace=tmp_path / "work")


async def refused(service: GovernedService) -> str:
    with pytest.raises(PermissionDenied) as caught:
        await service.execute("fetch", {"path": "/etc/passwd"})
    assert caught.value.decision is not None
    return caught.value.code


async def test_a_tool_of_another_service_does_not_stand_for_ours(
    store: PolicyStore, tmp_path: Path
) -> None:
    ours = service_of(store, tmp_path, marked)
    assert (await ours.execute("fetch", {"path": "a.txt"})).value == "a.txt"
    assert await refused(ours) == "not-allowed"
    with pytest.raises(CatalogError, match="`resources` differs"):
        service_of(store, tmp_path, unmarked)
    assert await refused(ours) == "not-allowed"


async def test_a_tool_put_past_the_policy_does_not_run(store: PolicyStore, tmp_path: Path) -> None:
    service = service_of(store, tmp_path, unmarked)
    service.unregister("fetch")
    entry = service.registry.register_known(marked)
    assert await refused(service) == "policy-unavailable"
    entry.dispose()
    service.register(marked)
    assert await refused(service) == "not-allowed"
    assert (await service.execute("fetch", {"path": "a.txt"})).value == "a.txt"


async def test_services_that_share_a_store_share_equal_tools(
    store: PolicyStore, tmp_path: Path
) -> None:
    services = [
        service_of(store, tmp_path, tool(name="fetch", traits=Traits(complete=True))(written))
        for written in (_fetch, _fetch)
    ]
    for service in services:
        assert (await service.execute("fetch", {"path": "a.txt"})).value == "a.txt"


async def test_what_the_configuration_adds_makes_no_other_tool(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(RULES)
    said = 'category = "files"\nread_only = true\nreads = ["path"]\n'
    (rules / "placet.toml").write_text(f"[tools.fetch]\n{said}")
    (tmp_path / "work").mkdir()
    store = PolicyStore(rules)
    service = service_of(store, tmp_path, marked)
    assert not store.status.diagnostics
    assert (await service.execute("fetch", {"path": "a.txt"})).value == "a.txt"


def _fetch(path: Annotated[str, Reads()]) -> str:
    """Fetch a file."""
    return path
