"""What languages say of the texts of URLs is what the engine finds, for each text and set."""

from __future__ import annotations

from itertools import product

import pytest

from policy.checks import checked
from policy.solving import contains
from policy.symbolic.patterns.url_texts import readable_urls, settled_urls, texts_of_hosts
from policy.values import HostPattern, Unreadable, host_in, read_endpoint, read_host_pattern

_STARTS = ("", "https://", "HTTP://")
_HOSTS = (
    "a.test", "A.TEST", "x.a.test", "a.test.", "10.0.0.1", "[::1]", "localhost", "user@a.test",
    "a%2etest", "a.test\u200b", "x--y.test", "a..test", "\u0430.test", "0x7f.1", "http", "-a.test",
    "a" * 64 + ".test", "a_b.test", "b.test", f"{'a.' * 130}test",
)  # fmt: skip
_ENDS = (
    "", "/x", ":8080/x", ":0", ":99999/", "?q=@b.test", "#b.test", "/ ", "/\\b.test", ":", "\n",
    ":80@b.test/", "/" + "x" * 400,
)  # fmt: skip
_TEXTS = tuple(map("".join, product(_STARTS, _HOSTS, _ENDS)))
_ADDRESSES = {"a.test": ("10.0.0.1",), "b.test": ("8.8.8.8", "10.0.0.1")}


@pytest.mark.parametrize(
    ("items", "excluded"),
    [
        (("a.test",), ()),
        (("*.test", "com"), ("x.a.test",)),
        (("https://a.test", "http://b.test"), ()),
        (("a.test:8080", "b.test"), ()),
        (("*.a.test", "https://a.test/x/**"), ()),
        (("a.test", "10.0.0.0/8"), ()),
        (("*.test",), ("10.0.0.0/8",)),
    ],
)
def test_languages_say_of_texts_what_the_engine_does(
    items: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    said = texts_of_hosts(checked.ValueSet(kind="hosts", included=items, excluded=excluded))
    assert said is not None
    patterns, left_out = (tuple(map(_pattern, texts)) for texts in (items, excluded))
    for text in _TEXTS:
        if not contains(settled_urls(), text):
            assert not contains(readable_urls(), text)
            continue
        endpoint = read_endpoint(text)
        truths: set[bool | None] = {None}
        if not isinstance(endpoint, Unreadable):
            resolvers = (None, _ADDRESSES.get)
            truths = {host_in(endpoint, patterns, left_out, each) for each in resolvers}
        is_read = contains(readable_urls(), text)
        assert not (is_read and isinstance(endpoint, Unreadable)), text
        if said.surely is not None and contains(said.surely, text):
            assert truths == {True} if is_read else False not in truths, text
        if said.perhaps is not None and not contains(said.perhaps, text):
            assert truths == {False} if is_read else True not in truths, text


def test_everyday_urls_are_read() -> None:
    urls = ("https://a.test/x", "a.test", "http://localhost/", "https://api.a-b.test:8080/v1?q")
    assert [contains(settled_urls(), text) for text in urls] == [True] * 4
    assert [contains(readable_urls(), text) for text in urls] == [True, True, True, False]


def _pattern(text: str) -> HostPattern:
    found = read_host_pattern(text)
    assert isinstance(found, HostPattern)
    return found
