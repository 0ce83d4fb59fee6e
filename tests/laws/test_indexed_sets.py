"""A look-up in an indexed set answers as trying each of its patterns in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from policy.catalog import builtin_catalog
from policy.checks import checked
from policy.evaluation import Evaluation
from policy.evaluation.set_tests import Extent, SetTest
from policy.model import Caller, Facts, FoldsCase, ResolveHost, ResolvePath, Resolvers
from policy.programs import NO_PROFILES
from policy.values import (
    REDIRECTED,
    Endpoint,
    HostPattern,
    MayBeRedirected,
    Path,
    PathContext,
    PathPattern,
    PreparedHosts,
    PreparedPaths,
    Unreadable,
    host_in,
    read_endpoint,
    read_host_pattern,
    read_path,
    read_path_pattern,
)

_FOUND = builtin_catalog().get("file_read")
assert _FOUND is not None
_TOOL = _FOUND
_EXTENTS: tuple[Extent, ...] = ("some", "all")
_NAMES = st.sampled_from(["a", "b", "A", ".env", "k.pem", "etc", "é", "a\u200bb", "home", "w"])
_SEGMENTS = _NAMES | st.sampled_from(["*", "**", "a*", "*.pem", ".e*", "?", "*e*", "[a]", "\\*"])
_ITEMS = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["/", "", "~/", "**/", "/home/", "/w/"]),
    st.lists(_SEGMENTS, max_size=3),
    st.sampled_from(["", "/**", "/*"]),
)
_PATHS = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(["/", "", "~/", "/home/u/", "/w/", "/links/"]),
    st.lists(_NAMES, max_size=4),
)
_ELSEWHERE = MayBeRedirected(reason="`curl` may follow a redirect to another host")
# Where folders of this world lead.
_LINKS = {"/links": "/w", "/w/a": "/etc", "/home": "/Home", "/etc": None}


def _patterns(texts: list[str]) -> tuple[PathPattern, ...]:
    read = [read_path_pattern(text) for text in texts]
    return tuple(pattern for pattern in read if isinstance(pattern, PathPattern))


def _led(path: str) -> str | None:
    for link, target in _LINKS.items():
        if path == link or path.startswith(link + "/"):
            return None if target is None else target + path[len(link) :]
    return path


_CONTEXTS = st.builds(
    PathContext,
    cwd=st.just("/w/cwd"),
    home=st.sampled_from(["/home/u", "/home", None]),
    workspace=st.sampled_from(["/w", "/", "/links", None]),
    resolve=st.sampled_from([None, _led, lambda path: path]),
    folds=st.sampled_from([None, lambda path: True, lambda path: path.startswith("/w")]),
)


@given(
    included=st.lists(_ITEMS, max_size=6),
    excluded=st.lists(_ITEMS, max_size=3),
    texts=st.lists(_PATHS, min_size=1, max_size=4),
    context=_CONTEXTS,
    tree=st.booleans(),
    names=st.sampled_from(["", "", "*.pem", ".e*", "a/*"]),
    workspaces=st.tuples(st.booleans(), st.booleans()),
)
@example(["/w/a/*"], [], ["/"], PathContext(), True, "", (False, False))
@example(["**/*"], ["/**"], ["/", "/a"], PathContext(), False, "", (False, False))
def test_a_path_is_in_an_indexed_set_if_some_pattern_matches(
    included: list[str],
    excluded: list[str],
    texts: list[str],
    context: PathContext,
    tree: bool,
    names: str,
    workspaces: tuple[bool, bool],
) -> None:
    here, not_here = workspaces
    prepared = PreparedPaths(
        _patterns(included), _patterns(excluded), workspace=here, without_workspace=not_here
    )
    for text in texts:
        read = read_path(text, context, tree=tree)
        assume(not isinstance(read, Unreadable))
        assert isinstance(read, Path)
        path = replace(read, names=names if tree else "")
        assert prepared.overlaps(path, context) is prepared.without_index(path, context, meets=True)
        assert prepared.within(path, context) is prepared.without_index(path, context, meets=False)


def test_links_are_resolved_anew_in_every_call() -> None:
    links = {"/w": "/w"}
    prepared = PreparedPaths(_patterns(["/w/**"]), ())

    def answer() -> bool | None:
        context = PathContext(resolve=lambda path: path.replace("/w", links["/w"]))
        path = read_path("/x/a", context)
        assert isinstance(path, Path)
        return prepared.overlaps(path, context)

    assert answer() is False
    links["/w"] = "/x"
    assert answer() is None
    links["/w"] = "/w"
    assert answer() is False


# ------------------------------------------------------------------ hosts

_HOSTS = st.sampled_from(
    "a.example b.a.example example x.b.a.example localhost db.localhost metadata.google.internal"
    " 10.0.0.3 127.0.0.1 [::1] 169.254.169.254 8.8.8.8".split()
)
_ENDPOINTS = st.builds(
    lambda scheme, host, port, path: f"{scheme}{host}{port}{path}",
    st.sampled_from(["", "https://", "http://"]),
    _HOSTS,
    st.sampled_from(["", ":8080", ":443"]),
    st.sampled_from(["", "/", "/v1/a", "/v1/%2e/a"]),
)
_HOST_ITEMS = st.builds(
    lambda scheme, host, port, path: f"{scheme}{host}{port}{path}",
    st.sampled_from(["", "", "https://"]),
    _HOSTS | st.sampled_from(["*.example", "*.a.example", "*", "*.localhost", "10.0.0.0/8"]),
    st.sampled_from(["", "", ":8080"]),
    st.sampled_from(["", "", "/v1/**"]),
) | st.sampled_from(["private", "loopback", "metadata", "link_local"])
_ANSWERS: st.SearchStrategy[ResolveHost | None] = st.sampled_from(
    [None, {}.get, {"a.example": ("10.0.0.1",), "example": ("10.0.0.1", "8.8.8.8")}.get]
)


@given(
    included=st.lists(_HOST_ITEMS, max_size=5),
    excluded=st.lists(_HOST_ITEMS, max_size=3),
    texts=st.lists(_ENDPOINTS, min_size=1, max_size=4),
    resolve=_ANSWERS,
)
def test_an_endpoint_is_in_an_indexed_set_if_some_pattern_matches(
    included: list[str], excluded: list[str], texts: list[str], resolve: ResolveHost | None
) -> None:
    patterns, exceptions = _host_patterns(included), _host_patterns(excluded)
    prepared = PreparedHosts(patterns, exceptions)
    for text in texts:
        endpoint = read_endpoint(text)
        assume(isinstance(endpoint, Endpoint))
        assert isinstance(endpoint, Endpoint)
        slow = host_in(endpoint, patterns, exceptions, resolve)
        assert prepared.contains(endpoint, resolve) is slow


def _host_patterns(texts: list[str]) -> tuple[HostPattern, ...]:
    read = [read_host_pattern(text) for text in texts]
    return tuple(pattern for pattern in read if isinstance(pattern, HostPattern))


# ------------------------------------------------------------------ sets in sets


def _nested(kind: checked.SetKind, items: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    plain: st.SearchStrategy[Any] = items | st.just(checked.InlineCodeItem())
    if kind == "paths":
        plain |= st.just(checked.WorkspaceItem())
    return st.recursive(
        st.builds(
            checked.ValueSet,
            kind=st.just(kind),
            included=st.lists(plain, max_size=3).map(tuple),
            excluded=st.lists(plain, max_size=2).map(tuple),
        ),
        lambda inner: st.builds(
            checked.ValueSet,
            kind=st.just(kind),
            included=st.lists(plain | inner, max_size=3).map(tuple),
            excluded=st.lists(plain | inner, max_size=2).map(tuple),
        ),
        max_leaves=4,
    )


def _hosts(*included: Any, without: tuple[Any, ...] = ()) -> checked.ValueSet:
    return checked.ValueSet(kind="hosts", included=included, excluded=without)


def _readable(text: object) -> bool:
    return not isinstance(text, str) or not isinstance(read_path_pattern(text), Unreadable)


@given(
    values=_nested("paths", _ITEMS.filter(_readable)),
    texts=st.lists(_PATHS, min_size=1, max_size=3),
    home=st.sampled_from(["/home/u", None]),
    workspace=st.sampled_from(["/w", None]),
    resolve=st.sampled_from([None, _led]),
    folds=st.sampled_from([None, lambda path: path.startswith("/w")]),
    tree=st.booleans(),
    names=st.sampled_from(["", "", "*.pem"]),
)
def test_nested_sets_contain_a_path_if_one_of_them_does(
    values: checked.ValueSet,
    texts: list[str],
    home: str | None,
    workspace: str | None,
    resolve: ResolvePath | None,
    folds: FoldsCase | None,
    tree: bool,
    names: str,
) -> None:
    facts = Facts(
        cwd="/w/cwd",
        home=home,
        workspace=workspace,
        resolvers=Resolvers(path=resolve, folds=folds),
    )
    call = Evaluation(_TOOL, {}, caller=Caller(), facts=facts, slots=0)
    quick = SetTest(values, NO_PROFILES)
    slow = SetTest(values, NO_PROFILES, prepared=False)
    for text in texts:
        read = read_path(text, call.paths, tree=tree)
        assume(isinstance(read, Path))
        assert isinstance(read, Path)
        path = replace(read, names=names if tree else "")
        for extent in _EXTENTS:
            answers = [each.holds(path, call, call.paths, extent=extent) for each in (quick, slow)]
            assert answers[0] is answers[1], extent


@given(
    values=_nested("hosts", _HOST_ITEMS | st.just(REDIRECTED)),
    texts=st.lists(_ENDPOINTS | st.none(), min_size=1, max_size=3),
    resolve=_ANSWERS,
)
@example(_hosts(_hosts("a.example"), _hosts(REDIRECTED)), [None], None)
@example(_hosts(REDIRECTED, without=(_hosts("a.example"),)), [None], None)
def test_nested_sets_contain_an_endpoint_if_one_of_them_does(
    values: checked.ValueSet, texts: list[str | None], resolve: ResolveHost | None
) -> None:
    """None stands for a host that a program may be redirected to."""
    facts = Facts(resolvers=Resolvers(host=resolve))
    call = Evaluation(_TOOL, {}, caller=Caller(), facts=facts, slots=0)
    quick = SetTest(values, NO_PROFILES)
    slow = SetTest(values, NO_PROFILES, prepared=False)
    for text in texts:
        endpoint = _ELSEWHERE if text is None else read_endpoint(text)
        for extent in _EXTENTS:
            answers = [
                each.holds(endpoint, call, call.paths, extent=extent) for each in (quick, slow)
            ]
            assert answers[0] is answers[1], extent
