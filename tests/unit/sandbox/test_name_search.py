"""What rules name by wildcards is found on the disk before a program starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox.name_search import NamedPath, NameSearch, NotSearched, search_all
from policy.values import PathContext, path_violation, plain_paths
from tests.examples import examples
from tests.unit.sandbox.confining import as_nobody


def _found(folder: Path, *globs: str, without: tuple[str, ...] = (), most: int = 1000) -> list[str]:
    sets = [ResourceSet(included=globs, excluded=without)]
    found = (one.path for one in _named(folder, sets, most=most))
    return sorted(os.path.relpath(path, folder) for path in found)


def _named(folder: Path, sets: list[ResourceSet], *, most: int = 10_000) -> list[NamedPath]:
    search = NameSearch(sets, [str(folder)])
    search_all([search], most=most)
    return search.found


def _make(folder: Path, *files: str) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("globs", "found"),
    [
        (("**/.env",), [".env", "a/.env", "secrets/.env"]),
        (("**/*.pem",), ["a/deep/x.pem"]),
        (("**/secrets/**",), ["secrets"]),
        (("**/a/.env",), ["a/.env"]),
        (("**/k?y",), ["a/key"]),
        (("**/a", "**/.env"), [".env", "a", "secrets/.env"]),
        (("**/**",), ["."]),
        (("**/nothing",), []),
    ],
)
def test_wildcards_are_looked_for(tmp_path: Path, globs: tuple[str, ...], found: list[str]) -> None:
    _make(tmp_path, ".env", "a/.env", "a/deep/x.pem", "a/key", "secrets/s", "secrets/.env", "b/x")
    assert _found(tmp_path, *globs) == found


def test_an_absolute_item_is_looked_for_below_its_folder_alone(tmp_path: Path) -> None:
    _make(tmp_path, "a/x/k", "b/x/k", "a/y/k")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert _found(tmp_path, f"{tmp_path}/a/*/k") == ["a/x/k", "a/y/k"]
    assert _found(tmp_path, f"{tmp_path}/link/*/k") == ["a/x/k", "a/y/k"]
    # `b` and its contents are not looked at.
    assert _found(tmp_path, f"{tmp_path}/b/*/k", most=2) == ["b/x/k"]


def test_exceptions_are_left(tmp_path: Path) -> None:
    _make(tmp_path, ".env", ".env.example", "a/.env", "public/secrets/x/y", "secrets/x")
    assert _found(tmp_path, "**/.env*", without=("**/.env.example",)) == [".env", "a/.env"]
    without = (f"{tmp_path}/public/secrets", "**/y")
    assert _found(tmp_path, "**/secrets/**", without=without) == ["public/secrets/x", "secrets"]


def test_exceptions_of_a_set_within_a_set_count(tmp_path: Path) -> None:
    _make(tmp_path, "a/secrets/x", "secrets/x", "a/k.pem")
    inner = ResourceSet(
        included=("**/secrets/**", "**/*.pem"), excluded=(f"{tmp_path}/secrets", "**/lib/*.pem")
    )
    found = _named(tmp_path, [ResourceSet(included=(inner,))])
    assert sorted(os.path.relpath(one.path, tmp_path) for one in found) == [
        "a/k.pem", "a/secrets", "secrets/x"
    ]  # fmt: skip


def test_a_link_is_not_followed_and_what_it_leads_to_is_named_with_it(tmp_path: Path) -> None:
    _make(tmp_path, "real/deep/.env", "target")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / ".env").symlink_to("target")
    sets = [ResourceSet(included=("**/.env",))]
    found = {one.path: one.link for one in _named(tmp_path, sets)}
    link = f"{tmp_path}/.env"
    assert found == {f"{tmp_path}/real/deep/.env": None, f"{tmp_path}/target": link}


def test_other_spellings_of_a_name_are_found(tmp_path: Path) -> None:
    _make(tmp_path, "se\u0301cret", "a/.e\u200bnv", "a/.ENV")
    assert _found(tmp_path, "**/sécret", "**/.env") == ["a/.e\u200bnv", "se\u0301cret"]


def test_a_file_whose_name_depends_on_its_folders_is_found_there_alone(tmp_path: Path) -> None:
    _make(tmp_path, "a/k", "b/k")
    (found,) = _named(tmp_path, [ResourceSet(included=("**/a/k",))])
    assert found.path == f"{tmp_path}/a/k"


def test_too_much_is_an_error(tmp_path: Path) -> None:
    _make(tmp_path, *(f"f{number}" for number in range(11)))
    assert _found(tmp_path, "**/f10", most=11) == ["f10"]
    with pytest.raises(NotSearched, match="more than 10 files"):
        _found(tmp_path, "**/f10", most=10)


def test_a_path_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(20):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
        with pytest.raises(NotSearched, match="too long") as found:
            _found(tmp_path, "**/.env")
        assert found.value.remedy == "remove or rename the folder"
    finally:
        os.chdir(before)


def test_a_folder_that_cannot_be_listed_counts_as_named() -> None:
    def tried() -> list[str]:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            closed = _make(Path(folder), "closed/.env") / "closed"
            closed.chmod(0)
            try:
                return _found(Path(folder), "**/.env")
            finally:
                closed.chmod(0o700)

    tried()
    assert as_nobody(tried) == ["closed"]


def test_several_searches_share_one_walk(tmp_path: Path) -> None:
    _make(tmp_path, "a/x", "a/y", "x/y")
    folders = [str(tmp_path)]
    one, other = (NameSearch([ResourceSet(included=(f"**/{name}",))], folders) for name in "xy")
    search_all([one, other], most=5)
    assert sorted(each.path for each in one.found) == [f"{tmp_path}/a/x", f"{tmp_path}/x"]
    assert sorted(each.path for each in other.found) == [f"{tmp_path}/a/y", f"{tmp_path}/x/y"]


# ------------------------------------------------------------------ the law

_NAMES = ("a", "b", ".env", "x.pem", "y.pem")
_SEGMENTS = ("**", "*", "a", "b", ".env", "*.pem", "?", "a*")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("tree")
    for first in _NAMES:
        for second in _NAMES[:3]:
            _make(root, f"{first}/{second}/c/a", f"{first}/{second}/.env", f"{first}/f.pem")
    with suppress(OSError):
        yield root


@st.composite
def _sets(draw: st.DrawFn, root: str) -> ResourceSet:
    def glob() -> str:
        segments = draw(st.lists(st.sampled_from(_SEGMENTS), min_size=1, max_size=3))
        start = draw(st.sampled_from(("**", root)))
        return "/".join((start, *segments))

    included = tuple(glob() for _ in range(draw(st.integers(1, 2))))
    # Items without wildcards are no subject of a search.
    assume(all(plain_paths(ResourceSet(included=(each,))) is None for each in included))
    excluded = tuple(glob() for _ in range(draw(st.integers(0, 1))))
    inner = ResourceSet(included=included, excluded=excluded)
    return ResourceSet(included=(inner,)) if draw(st.booleans()) else inner


def test_what_a_rule_names_is_found_and_no_other_file(tree: Path) -> None:
    every = [
        path for folder, folders, files in os.walk(tree)
        for path in (folder, *(f"{folder}/{name}" for name in files))
    ]  # fmt: skip

    @settings(max_examples=examples(300))
    @given(_sets(str(tree)))
    def law(resources: ResourceSet) -> None:
        bound = Bound(without=(NamedResources(rule="r", resources=resources),))
        found = {
            one.path for one in _named(tree, [resources])
        }  # fmt: skip
        for path in every:
            named = path_violation(
                Confinement(reads=bound), "reads", path, PathContext(resolve=os.path.realpath)
            )
            hidden = any(path == each or path.startswith(f"{each}/") for each in found)
            assert hidden or named is None, path
            assert path not in found or named is not None, path

    law()
