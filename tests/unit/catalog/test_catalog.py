"""The catalogue: tools by name and origin, and which definition replaces which."""

from __future__ import annotations

from typing import Literal

import pytest

from policy.catalog import Catalog, CatalogError, Origin, ToolSpec, builtin_catalog

Kind = Literal["host", "mcp", "ext"]


def tool(kind: Kind, server: str, name: str, *, description: str = "") -> ToolSpec:
    origin = Origin(kind=kind, server=server, tool=name)
    return ToolSpec(name=origin.flat_name(), origin=origin, description=description)


def test_tools_are_found_by_flat_name_and_by_origin() -> None:
    spec = tool("mcp", "github", "create_issue")
    catalog = Catalog(specs=(spec, tool("ext", "plug", "go"), tool("host", "", "file_read")))
    assert catalog.get("github__create_issue") is spec
    assert catalog.find("mcp", "github/create_issue") is spec
    assert catalog.find("ext", "github/create_issue") is None
    assert catalog.find("host", "file_read") is catalog.get("file_read")
    assert catalog.servers == {"github"}
    assert catalog.plugins == {"plug"}


@pytest.mark.parametrize(
    "specs",
    [
        (tool("mcp", "a__b", "c"),),
        (tool("mcp", "ext", "x__y"),),
        (tool("mcp", "", "x"),),
        (tool("mcp", "a/b", "x"),),
        (tool("mcp", "a*", "x"),),
        (tool("mcp", "a b", "x"),),
        (tool("ext", "a__b", "c"),),
        (tool("mcp", "a", "b__c"), tool("host", "", "a__b__c")),
        (tool("mcp", "a_", "b"), tool("mcp", "a", "_b")),
        (tool("ext", "p", "t"), tool("host", "", "ext__p__t")),
        (tool("host", "", "x"), tool("host", "", "x")),
        (ToolSpec(name="file_read", origin=Origin(kind="mcp", server="evil", tool="file_read")),),
    ],
)
def test_a_name_that_two_origins_could_claim_is_refused(specs: tuple[ToolSpec, ...]) -> None:
    with pytest.raises(CatalogError) as caught:
        Catalog(specs=specs)
    assert specs[-1].name in str(caught.value) or specs[-1].origin.server in str(caught.value)


def test_a_host_tool_replaces_a_built_in_one_and_a_server_never_does() -> None:
    ours = tool("host", "", "file_read", description="ours")
    catalog = builtin_catalog().with_tools((ours,))
    assert catalog.get("file_read") is ours
    assert len(catalog.specs) == len(builtin_catalog().specs)
    with pytest.raises(CatalogError):
        catalog.with_tools((tool("host", "", "a__b"), tool("mcp", "a", "b")))


def test_a_server_listed_again_replaces_its_own_tools() -> None:
    new = tool("mcp", "s", "t", description="new")
    catalog = Catalog(specs=(tool("mcp", "s", "t"),), complete=True).with_tools((new,))
    assert catalog.specs == (new,)
    assert catalog.complete


def test_built_in_tools_say_what_they_do_to_which_argument() -> None:
    catalog = builtin_catalog()
    told = {
        spec.name: [(r.verb, r.steps, r.tree, r.tree_field) for r in spec.resources]
        for spec in catalog.specs
    }
    path = ("path",)
    assert told == {
        "file_read": [("reads", path, False, None)],
        "file_write": [("writes", path, False, None)],
        "file_list": [("reads", path, None, "recursive")],
        "file_delete": [("writes", path, True, None)],
        "file_mkdir": [("writes", path, False, None)],
        "file_chmod": [("writes", path, False, None)],
        "bash_exec": [("runs", ("command",), None, None)],
        "web_fetch": [("connects", ("url",), None, None)],
        "list_tools": [],
        "get_tool_schema": [],
        "mcp_read_resource": [
            ("reads", ("uri",), None, None),
            ("connects", ("uri",), None, None),
        ],
        "mcp_get_prompt": [],
        "mcp_complete": [],
        "mcp_elicit": [("connects", ("url",), None, None)],
        "mcp_sample": [],
        "mcp_list_roots": [],
        "sandbox_connect": [("connects", ("url",), None, None)],
    }
    assert all(spec.pinned for spec in catalog.specs)
    assert [spec.name for spec in catalog.specs if spec.unseen] == ["mcp_complete"]
    open = {"mcp_get_prompt", "mcp_sample", "mcp_list_roots"}
    assert {spec.name for spec in catalog.specs if not spec.complete} == open
    assert [spec.name for spec in catalog.specs if spec.exec_class] == ["bash_exec"]
    assert not catalog.complete
    assert set(catalog.categories) == {"file", "code", "web", "meta", "mcp", "sandbox"}
