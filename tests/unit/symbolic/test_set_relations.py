"""Relations of sets of paths, against the engine's own membership."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from policy.checks import checked
from policy.symbolic.set_relations import includes, shares_nothing
from policy.values import (
    Endpoint,
    HostPattern,
    compile_path_glob,
    host_in,
    read_endpoint,
    read_host_pattern,
)

SEGMENTS = st.sampled_from(("a", "b", "*", "a*", "?", "*b", "**", "A"))
GLOBS = st.lists(SEGMENTS, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
SETS = st.lists(GLOBS, min_size=1, max_size=3).map(
    lambda items: checked.ValueSet(kind="paths", included=tuple(items))
)
NAMES = st.sampled_from(("a", "b", "ab", "aa", "x", "A"))
PATHS = st.lists(NAMES, min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))


def _paths(*items: str, without: tuple[str, ...] = ()) -> checked.ValueSet:
    return checked.ValueSet(kind="paths", included=items, excluded=without)


def _holds(values: checked.ValueSet, path: str) -> bool:
    return any(compile_path_glob(str(item))(path) for item in values.included)


@given(SETS, SETS, PATHS)
@example(_paths("/a/*"), _paths("/a/**"), "/a/b/a")
@example(_paths("/?"), _paths("/*"), "/ab")
def test_what_a_set_includes_is_in_it(
    larger: checked.ValueSet, smaller: checked.ValueSet, path: str
) -> None:
    if includes(larger, smaller) and _holds(smaller, path):
        assert _holds(larger, path)


@given(SETS, SETS, PATHS)
def test_sets_that_share_nothing_have_no_path_in_common(
    one: checked.ValueSet, other: checked.ValueSet, path: str
) -> None:
    if shares_nothing(one, other):
        assert not (_holds(one, path) and _holds(other, path))
        assert not (_holds(one, path.swapcase()) and _holds(other, path))


HOSTS = st.sampled_from(
    (
        "a.example",
        "*.a.example",
        "*.b.a.example",
        "https://*.a.example",
        "10.0.0.0/8",
        "10.1.0.0/16",
        "10.1.2.3",
        "private",
        "loopback",
        "a.example:8443",
        "https://a.example/v1/**",
    )
)
URLS = st.sampled_from(
    (
        "https://a.example/",
        "http://x.a.example/",
        "https://x.b.a.example/v1/x",
        "https://10.1.2.3/",
        "http://10.9.9.9/",
        "https://a.example:8443/v1/a",
        "http://127.0.0.1/",
        "http://192.168.1.1/",
    )
)


@given(HOSTS, HOSTS, URLS)
def test_what_a_pattern_of_hosts_includes_is_matched_by_it(
    larger: str, smaller: str, url: str
) -> None:
    def one(text: str) -> checked.ValueSet:
        return checked.ValueSet(kind="hosts", included=(text,))

    endpoint = read_endpoint(url)
    assert isinstance(endpoint, Endpoint)
    if not includes(one(larger), one(smaller)):
        return
    wide, narrow = (read_host_pattern(text) for text in (larger, smaller))
    assert isinstance(wide, HostPattern)
    assert isinstance(narrow, HostPattern)
    if host_in(endpoint, (narrow,), (), None) is True:
        assert host_in(endpoint, (wide,), (), None) is True


def test_relations_that_proofs_rest_on_are_found() -> None:
    assert includes(_paths("/srv/**"), _paths("/srv/a/**", "/srv/b.txt"))
    assert includes(_paths("**/.env"), _paths("**/.env"))
    assert not includes(_paths("**/.git/**"), _paths("/srv/.git/**", "**/.git/hooks/**"))
    assert not includes(_paths("/srv/**", without=("/srv/a",)), _paths("/srv/a/**"))
    assert shares_nothing(_paths("/srv/**"), _paths("/etc/**", "/home/*/x"))
    assert not shares_nothing(_paths("/srv/**"), _paths("/*/a"))
    assert not shares_nothing(_paths("/srv/**"), _paths("**/.env"))


def test_sets_of_thousands_of_items_are_compared_as_far_as_that_is_quick() -> None:
    items = tuple(f"/srv/d{number}/**" for number in range(10_000))
    assert includes(_paths(*items, "/etc/**"), _paths(*items))
    # It is in one of them, but to find that out for many would take minutes.
    assert includes(_paths(*items), _paths("/srv/d77/x"))
    assert not includes(_paths(*items), _paths(*(f"{item}/x" for item in items)))
    assert not shares_nothing(_paths(*items), _paths(*(f"/etc{item}" for item in items)))
