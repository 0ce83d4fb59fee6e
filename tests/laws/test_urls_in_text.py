"""A URL in text is found whatever surrounds it, and never taken for another host."""

from __future__ import annotations

import re

import ada_url
from hypothesis import given
from hypothesis import strategies as st

from policy.values import Endpoint, Unreadable, links_in, read_endpoint

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
# Words and marks of prose, of markup, and of other links.
AROUND = st.lists(
    st.sampled_from(
        ["see ", "(", ")", "[x](", "](", "<a href=", '"', "'", "<", ">", ", ", ". ", "!", "`", "*",
         "**", "\n", "https://good.example/", "www.good.example ", "a@b.example ", "&amp;", "//",
         "https://", "e.g. ", "url(", "|", "{", "}", "\\ ", "。", "\u200b ", "x=", "?"]
    ),
    max_size=5,
).map("".join)  # fmt: skip
LINKS = st.sampled_from(
    ["https://evil.example/x", "HTTP://evil.example", "https://u:p@evil.example:8443/?q=a",
     "www.evil.example/x", "https://evil。example/", "https://evil.example#f"]
)  # fmt: skip
SETTING = st.sampled_from(
    [" {} ", "({}) ", '"{}" ', "<{}> ", "[x]({}) ", "<a href='{}'> ", "\n{}\n"]
)


@given(any_text, AROUND)
def test_any_text_has_links_or_none(text: str, around: str) -> None:
    for link in links_in(around + text):
        assert link and link.strip() == link
        read_endpoint(link)


@given(AROUND, LINKS, SETTING, AROUND)
def test_a_link_is_found_whatever_stands_around_it(
    before: str, link: str, setting: str, after: str
) -> None:
    found = links_in(f"{before} {setting.format(link)} {after}")
    read = [read_endpoint(each) for each in found]
    hosts = {each.host.removeprefix("www.") for each in read if isinstance(each, Endpoint)}
    assert "evil.example" in hosts


@given(st.text("aé.:/@\\'\"`{}|^()[]<>~,!&;#?-_%\u00a0\x01", max_size=24), st.booleans())
def test_no_url_parser_finds_a_host_that_was_missed(junk: str, scheme: bool) -> None:
    text = f"https://good.example{junk}" + ("https://x.example" if scheme else "")
    # What chat rooms make a link of, which the browser then reads.
    word = re.split(r"[ \n<]", text)[0].rstrip("?!.,:*_~'\"")
    try:
        browser = read_endpoint(f"https://{ada_url.URL(word).host}/")
    except ValueError:
        return
    found = [read_endpoint(link) for link in links_in(text)]
    doubtful = any(isinstance(each, Unreadable) for each in (browser, *found))
    assert doubtful or browser.host in {each.host for each in found}  # type: ignore[union-attr]
