"""A path set matches a tree exactly as it matches the files in it one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy.model import DiskAnswer, DiskQuery, FolderContents
from policy.values import (
    ContentsBelow,
    Path,
    PathContext,
    PathPattern,
    PreparedPaths,
    path_overlaps,
    read_path_pattern,
)

_NAMES = st.sampled_from((".env", "x.pem", "keys", "test", "a", ".ENV", "é.pem", ".git", "config"))
_FILES = st.lists(st.lists(_NAMES, min_size=1, max_size=3).map("/".join), max_size=5)
_ITEMS = st.sampled_from(
    ("**/.env", "**/*.pem", "**/keys/**", "**/test/*", "**/test/**", "**/.git/config",
     "**/a/**/.env",
     "/w/a/**", "/w/t/test/**", "**/.e*", "**/keys")
)  # fmt: skip
_SETS = st.lists(_ITEMS, min_size=1, max_size=3)
_CONTEXT = PathContext(cwd="/w", workspace="/w", home="/h")


def patterns(items: list[str]) -> tuple[PathPattern, ...]:
    found = [read_path_pattern(item) for item in items]
    return tuple(one for one in found if isinstance(one, PathPattern))


def tree(files: list[str], *, folds: bool, whole: bool = True) -> Path:
    """Return a tree that holds these files, with the folders that they stand in."""
    names: dict[str, list[str]] = {}
    for file in files:
        parts = file.split("/")
        for count in range(1, len(parts) + 1):
            way = "/".join(parts[:count])
            known = names.setdefault(parts[count - 1], [])
            if way not in known:
                known.append(way)
    held = FolderContents(lexical="/w/t", resolved="/w/t", names=names)
    below = ContentsBelow(
        DiskQuery(place="/w/t", spelled="/w/t", tree=True),
        lambda _: DiskAnswer(contents=(held,), complete=whole),
    )
    return Path(lexical="/w/t", tree=True, folds=folds, contents=below)


@given(files=_FILES, ins=_SETS, outs=st.lists(_ITEMS, max_size=2), folds=st.booleans())
def test_a_tree_intersects_a_set_if_one_of_its_files_is_in_it(
    files: list[str], ins: list[str], outs: list[str], folds: bool
) -> None:
    included, excluded = patterns(ins), patterns(outs)
    prepared = PreparedPaths(included, excluded)
    path = tree(files, folds=folds)
    found = prepared.overlaps(path, _CONTEXT)
    assert found == prepared.without_index(path, _CONTEXT, meets=True)
    each = [
        path_overlaps(
            Path(lexical=f"/w/t/{file}", folds=folds), included, excluded, context=_CONTEXT
        )
        for file in files
    ]
    if True in each:
        assert found is True
    elif None in each:
        assert found is not False


@given(files=_FILES, ins=_SETS, outs=st.lists(_ITEMS, max_size=2), folds=st.booleans())
def test_a_tree_is_within_a_set_only_if_every_file_is(
    files: list[str], ins: list[str], outs: list[str], folds: bool
) -> None:
    included, excluded = patterns(["/w/**", *ins]), patterns(outs)
    prepared = PreparedPaths(included, excluded)
    path = tree(files, folds=folds)
    found = prepared.within(path, _CONTEXT)
    assert found == prepared.without_index(path, _CONTEXT, meets=False)
    for file in files:
        one = Path(lexical=f"/w/t/{file}", folds=folds)
        if path_overlaps(one, excluded, (), context=_CONTEXT) is not False:
            assert found is not True


@given(files=_FILES, ins=_SETS)
def test_a_tree_listed_in_part_is_never_taken_to_be_outside_a_set(
    files: list[str], ins: list[str]
) -> None:
    floating = patterns([item for item in ins if item.startswith("**")])
    if floating:
        prepared = PreparedPaths(floating, ())
        assert prepared.overlaps(tree(files, folds=False, whole=False), _CONTEXT) is not False
