"""What an approver is told a call would touch."""

from __future__ import annotations

from typing import Any

from policy.call import ToolCall
from policy.catalog import Resource
from policy.facts import Facts, Resolvers
from policy.service.resources import resource_lines
from tests.fakes import spec_of

FACTS = Facts(
    cwd="/work",
    home="/home/ada",
    workspace="/work",
    resolvers=Resolvers(path=lambda path: path.replace("/work/link", "/etc")),
)


def lines(resource: Resource, input: dict[str, Any]) -> tuple[str, ...]:
    call = ToolCall(tool="echo", input=input)
    return resource_lines(call, spec_of("echo", resources=(resource,)), FACTS)


def test_paths_are_shown_where_they_lead() -> None:
    path = Resource(verb="writes", steps=("path",))
    assert lines(path, {"path": "a/../b"}) == ("writes /work/b",)
    assert lines(path, {"path": "link/x"}) == ("writes /etc/x (by way of /work/link/x)",)
    assert lines(path, {}) == ()
    assert "cannot be read" in lines(path, {"path": "$HOME/x"})[0]


def test_trees_elements_and_odd_values_are_shown_as_what_they_are() -> None:
    tree = Resource(verb="reads", steps=("path",), tree_field="recursive")
    assert lines(tree, {"path": "a", "recursive": True}) == ("reads /work/a and all below",)
    each = Resource(verb="sends", steps=("to", "*"))
    plain, hidden = lines(each, {"to": ["a@b.example", "c\u202e"]})
    assert plain == "sends a@b.example"
    assert "\u202e" not in hidden
    assert lines(Resource(verb="runs", steps=("n",)), {"n": 5}) == ("runs 5",)


def test_hosts_are_shown_as_rules_read_them() -> None:
    url = Resource(verb="connects", steps=("url",))
    assert lines(url, {"url": "HTTP://Example.COM./a"}) == ("connects http://example.com:80/a",)
    assert "cannot be read" in lines(url, {"url": "http://a\\@b"})[0]


def test_many_are_cut_and_the_cut_is_counted() -> None:
    each = Resource(verb="sends", steps=("to", "*"))
    shown = lines(each, {"to": ["a"] * 60})
    assert len(shown) == 51
    assert shown[-1] == "and 10 more"
