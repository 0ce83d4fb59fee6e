"""A mistyped name is compared with a few tools, whatever their number is."""

from __future__ import annotations

import pytest

from policy.catalog import Catalog, read_listing
from policy.diagnostics import nearest

_VERBS = ("read", "write", "fetch", "query", "push")


@pytest.fixture(scope="module")
def crowd() -> Catalog:
    names = [f"srv{i:03d}__{verb}_{k}" for i in range(200) for verb in _VERBS for k in range(4)]
    listed = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    return Catalog(specs=read_listing(listed, reviewed=True).specs)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("srv103__wirte_0", "srv103__write_0"),
        ("rsv103__write_0", "srv103__write_0"),
        ("srv103__fecth_1", "srv103__fetch_1"),
        ("srv103__query_22", "srv103__query_2"),
        ("SRV103__PUSH_3", "srv103__push_3"),
        ("read_2__srv044", "srv044__read_2"),
    ],
)
def test_the_name_that_was_meant_is_among_the_few(crowd: Catalog, slip: str, meant: str) -> None:
    assert meant in crowd.near(slip)
    assert nearest(slip, crowd.near(slip)) == meant


@pytest.mark.parametrize("word", ["", "x", "srv103", "unknown12__tool", "srv103__write_0" * 2_000])
def test_what_is_no_slip_of_anything_is_compared_with_few(crowd: Catalog, word: str) -> None:
    assert len(crowd.near(word)) <= 8
    assert nearest(word, crowd.near(word)) is None


def test_a_few_tools_are_all_compared() -> None:
    listed = [{"name": n, "inputSchema": {"type": "object"}} for n in ("file_read", "file_write")]
    catalog = Catalog(specs=read_listing(listed, reviewed=True).specs)
    assert set(catalog.near("file_raed")) == {"file_read", "file_write"}
    assert Catalog().near("anything") == ()
