"""Laws of sets that are prepared: looked up, they answer as when each pattern is tried in turn."""

from __future__ import annotations

from hypothesis import assume, example, given
from hypothesis import strategies as st

from policy.values import (
    Path,
    PathContext,
    PathPattern,
    PreparedPaths,
    Unreadable,
    read_path,
    read_path_pattern,
)

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
def test_a_path_is_in_a_prepared_set_as_it_is_in_one_pattern_or_another(
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
        path = Path(
            lexical=read.lexical,
            resolved=read.resolved,
            tree=tree,
            folds=read.folds,
            names=names if tree else "",
            walked=read.walked,
        )
        assert prepared.meets(path, context) is prepared.slowly(path, context, meets=True)
        assert prepared.within(path, context) is prepared.slowly(path, context, meets=False)


def test_where_links_lead_is_asked_in_every_call() -> None:
    links = {"/w": "/w"}
    prepared = PreparedPaths(_patterns(["/w/**"]), ())

    def answer() -> bool | None:
        context = PathContext(resolve=lambda path: path.replace("/w", links["/w"]))
        path = read_path("/x/a", context)
        assert isinstance(path, Path)
        return prepared.meets(path, context)

    assert answer() is False
    links["/w"] = "/x"
    assert answer() is None
    links["/w"] = "/w"
    assert answer() is False
