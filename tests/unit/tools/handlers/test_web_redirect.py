"""The call that follows a redirect: its URL, method and headers."""

from __future__ import annotations

from typing import Any

import pytest

from policy.tools.handlers.web_redirect import next_call

HERE = "https://a.example/x/y?q"


def following(location: str | None, *, status: int = 302, **input: Any) -> dict[str, Any] | None:
    then = next_call({"url": HERE, **input}, HERE, status=status, location=location)
    return None if then is None else dict(then.input)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("https://b.example/", "https://b.example/"),
        ("//b.example/z", "https://b.example/z"),
        ("/z", "https://a.example/z"),
        ("z", "https://a.example/x/z"),
        ("../../z", "https://a.example/z"),
        ("?r", "https://a.example/x/y?r"),
        ("", "https://a.example/x/y?q"),
        ("z#part", "https://a.example/x/z"),
        ("HTTP://B.Example:80/", "http://b.example/"),
        # What a browser would make of it is what is judged and what is fetched.
        ("\\\\b.example\\z", "https://b.example/z"),
        ("ht\ttps://b.example/", "https://b.example/"),
        (" https://b.example/ ", "https://b.example/"),
        ("http:/\\/b.example", "http://b.example/"),
        ("https://2852039166/", "https://169.254.169.254/"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("https://u:p@b.example/", "https://u:p@b.example/"),
    ],
)
def test_a_redirect_leads_where_a_browser_would_go(location: str, url: str) -> None:
    assert following(location) == {"url": url}


@pytest.mark.parametrize("location", [None, "https://[", "http://a b/", "https://"])
def test_a_redirect_to_no_url_leads_nowhere(location: str | None) -> None:
    assert following(location) is None


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 399, 404])
def test_other_answers_lead_nowhere(status: int) -> None:
    assert following("/z", status=status) is None


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        (301, None, None),
        (301, "GET", "GET"),
        (302, "HEAD", "HEAD"),
        (303, "HEAD", "HEAD"),
        (301, "POST", None),
        (302, "POST", None),
        (303, "POST", None),
        (302, "DELETE", None),
        (307, "POST", "POST"),
        (308, "DELETE", "DELETE"),
    ],
)
def test_only_307_and_308_repeat_what_changes_something(
    status: int, method: str | None, then: str | None
) -> None:
    given = {} if method is None else {"method": method}
    found = following("/z", status=status, **given)
    assert found is not None
    assert found.get("method") == then


HEADERS = {"Authorization": "Bearer x", "X-Api-Key": "k", "Cookie": "c", "Accept": "text/html"}


def test_headers_go_along_to_the_same_origin() -> None:
    found = following("/z", headers=HEADERS)
    assert found is not None and found["headers"] == HEADERS


@pytest.mark.parametrize(
    "location",
    ["https://b.example/", "http://a.example/", "https://a.example:8443/", "https://sub.a.example/",
     "//a.example.evil.example/", "https://a.example@b.example/"],
)  # fmt: skip
def test_another_origin_is_told_no_secrets(location: str) -> None:
    found = following(location, headers=HEADERS)
    assert found is not None and found["headers"] == {"Accept": "text/html"}


def test_what_describes_a_body_stays_behind_with_it() -> None:
    headers = {"Content-Type": "text/plain", "X-Mine": "1"}
    found = following("/z", status=303, method="POST", headers=headers)
    assert found is not None and found["headers"] == {"X-Mine": "1"}
    found = following("/z", status=308, method="POST", headers=headers)
    assert found is not None and found["headers"] == headers
