"""Readings of URLs for `bench.resources`: read, and compared with five items."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from bench.resources import Reading, fresh_reading
from policy.values import Endpoint, HostPattern, host_in, links_in, read_endpoint, read_host_pattern

_reading = partial(fresh_reading, beside="`urlsplit`", beside_do=urlsplit)

_PATTERNS = (
    "private",
    "10.0.0.0/8",
    "*.corp.example",
    "api.example/v1/public/**",
    "https://a.b:8443",
)
_MAIL = (
    "Dear Ada, see https://docs.corp.example/a/b?c=d and www.corp.example/x, e.g. main.py. " * 12
)


def url_readings() -> Iterator[Reading]:
    """Yield readings of URLs that were never seen before, by how much there is to settle."""
    cases = [
        ("a URL", 10.0, "https://docs{}.corp.example/a/b?c=d"),
        ("a URL of a host known", 10.0, "https://docs.corp.example/a/b{}?c=d"),
        ("a bare host and port", 10.0, "docs{}.corp.example:8443"),
        ("a URL with an encoded path", 10.0, "https://docs{}.corp.example/a%20b/../%7Ec"),
        ("a URL with an address", 10.0, "http://10.1.2.3:8080/x{}"),
        ("an address in hexadecimal", 60.0, "http://0x7f.{}/x"),
        ("an international name", 90.0, "https://bücher{}.example/x"),
    ]
    patterns = tuple(_pattern(text) for text in _PATTERNS)

    def judge(text: str) -> Any:
        read = read_endpoint(text)
        assert isinstance(read, Endpoint)
        return host_in(read, patterns, (), None)

    for what, target, form in cases:
        yield _reading(what, target, form, judge)
    yield _reading("the links of 1 kB of text", 1_000.0, _MAIL + "{}", links_in)


def _split(text: str) -> str | None:
    return urlsplit(text).hostname


def _pattern(text: str) -> HostPattern:
    read = read_host_pattern(text)
    assert isinstance(read, HostPattern)
    return read
