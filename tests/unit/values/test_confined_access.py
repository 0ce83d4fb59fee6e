"""Single accesses judged by a confinement."""

from __future__ import annotations

from typing import Literal

import pytest

from policy.model import Bound, Confinement, NamedResources, ResourceItem, ResourceSet
from policy.values import PathContext, host_violation, path_violation
from policy.values.plain_paths import PlainPath, plain_bound, plain_paths

_WORK = PathContext(cwd="/w", workspace="/w", home="/home/ann")


def _named(
    rule: str, *items: ResourceItem, without: tuple[ResourceItem, ...] = ()
) -> NamedResources:
    return NamedResources(rule=rule, resources=ResourceSet(included=items, excluded=without))


def _reads(
    *unions: tuple[NamedResources, ...], without: tuple[NamedResources, ...] = ()
) -> Confinement:
    return Confinement(reads=Bound(within=unions, without=without))


def _connects(*items: str, without: tuple[NamedResources, ...] = ()) -> Confinement:
    return Confinement(connects=Bound(within=((_named("net", *items),),), without=without))


def test_what_no_rule_bounds_is_free() -> None:
    assert path_violation(_connects(), "writes", "/etc/passwd", _WORK) is None
    assert host_violation(_reads(), "a.example", 443) is None


def test_a_path_is_inside_if_every_union_covers_it() -> None:
    confined = _reads((_named("a", "/w/**"), _named("b", "/srv/x/**")), (_named("c", "/srv/**"),))
    assert path_violation(confined, "reads", "/srv/x/y", _WORK) is None
    outside = path_violation(confined, "reads", "a.txt", _WORK)
    assert outside is not None
    assert outside.rules == ("c",)
    both = path_violation(confined, "reads", "/etc/passwd", _WORK)
    assert both is not None
    assert both.rules == ("a", "b")


def test_an_empty_union_covers_nothing() -> None:
    confined = _reads((_named("none"),))
    assert confined.reads is not None
    assert confined.reads.is_nothing
    assert path_violation(confined, "reads", "/w/a", _WORK) is not None


def test_what_a_rule_denies_is_outside() -> None:
    confined = _reads((_named("a", "/w/**"),), without=(_named("no-keys", "**/.env"),))
    assert path_violation(confined, "reads", "/w/a.py", _WORK) is None
    denied = path_violation(confined, "reads", "/w/sub/../.env", _WORK)
    assert denied is not None
    assert denied.rules == ("no-keys",)


def test_exceptions_of_nested_sets_count() -> None:
    inner = ResourceSet(included=("/w/**",), excluded=("/w/secret/**",))
    confined = _reads((_named("a", inner, "/srv/**", without=("/srv/no/**",)),))
    verdicts = {
        path: path_violation(confined, "reads", path, _WORK) is None
        for path in ("/w/a", "/w/secret/a", "/srv/a", "/srv/no/a", "/w/secretive")
    }
    assert verdicts == {
        "/w/a": True,
        "/w/secret/a": False,
        "/srv/a": True,
        "/srv/no/a": False,
        "/w/secretive": True,
    }


def test_a_link_out_of_the_bound_is_outside() -> None:
    leads = PathContext(resolve=lambda path: path.replace("/w/link", "/etc"))
    found = path_violation(_reads((_named("a", "/w/**"),)), "reads", "/w/link/passwd", leads)
    assert found is not None
    assert found.why


def test_a_path_without_one_meaning_is_outside() -> None:
    found = path_violation(_reads((_named("a", "/**"),)), "reads", "/proc/self/cwd/a", _WORK)
    assert found is not None
    assert "different place" in found.why


@pytest.mark.parametrize(
    ("host", "port", "scheme", "inside"),
    [
        ("a.test", 443, None, True),
        ("A.TEST.", 80, None, True),
        ("b.test", 443, None, False),
        ("x.a.test", 443, None, False),
        ("deep.b.corp", 22, None, True),
        ("b.corp", 22, None, True),
        ("ported.test", 8443, None, True),
        ("ported.test", 443, None, False),
        ("tls.test", 443, None, True),
        ("tls.test", 8443, None, False),
        ("tls.test", 8443, "https", False),
        ("10.1.2.3", 5432, None, True),
        ("169.254.169.254", 80, None, False),
        ("bad host", 80, None, False),
    ],
)
def test_hosts_are_judged_by_name_port_and_scheme(
    host: str, port: int, scheme: str | None, *, inside: bool
) -> None:
    items = ("a.test", "*.corp", "ported.test:8443", "https://tls.test:443", "10.0.0.0/8")
    found = host_violation(_connects(*items), host, port, scheme=scheme)
    assert (found is None) is inside


def test_a_rule_about_a_url_path_denies_the_host() -> None:
    denied = (_named("no-admin", "https://a.test/admin/**"),)
    found = host_violation(_connects("*", without=denied), "a.test", 443)
    assert found is not None
    assert found.why
    assert host_violation(_connects("*", without=denied), "a.test", 80) is None


@pytest.mark.parametrize(
    ("items", "plain"),
    [
        (
            ("/srv/x/**", "/etc/hosts"),
            (PlainPath(path="/srv/x", tree=True), PlainPath(path="/etc/hosts", tree=False)),
        ),
        ((ResourceSet(included=("/a/**",)),), (PlainPath(path="/a", tree=True),)),
        (("**/*.md",), None),
        (("/srv/*/x",), None),
        ((ResourceSet(included=("/a/**",), excluded=("/a/b",)),), None),
        ((), ()),
    ],
)
def test_plain_folders_are_recognised(
    items: tuple[ResourceItem, ...], plain: tuple[PlainPath, ...] | None
) -> None:
    assert plain_paths(ResourceSet(included=items)) == plain


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        (("/w/**",), ("/w/src/**", "/etc/**"), (("/w/src", True),)),
        (("/w/a",), ("/w/**",), (("/w/a", False),)),
        (("/w/**",), ("/ww/**",), ()),
        (("/**",), ("/w/**", "/w/x/**"), (("/w", True),)),
    ],
)
def test_unions_of_folders_are_intersected(
    first: tuple[str, ...], second: tuple[str, ...], shared: tuple[tuple[str, bool], ...]
) -> None:
    bound = Bound(within=((_named("a", *first),), (_named("b", *second),)))
    assert plain_bound(bound) == tuple(PlainPath(path=path, tree=tree) for path, tree in shared)


def test_a_confinement_is_shown_as_json() -> None:
    verb: Literal["connects"] = "connects"
    confined = Confinement(
        connects=Bound(
            within=((_named("net", "a.test", without=("http://a.test",)),),),
            without=(_named("no", "b.test"),),
        ),
        relied_on=(verb,),
    )
    assert confined.as_json() == {
        "reads": None,
        "writes": None,
        "connects": {
            "within": [[{"rule": "net", "items": ["a.test"], "except": ["http://a.test"]}]],
            "without": [{"rule": "no", "items": ["b.test"]}],
        },
        "relied_on": ["connects"],
    }
