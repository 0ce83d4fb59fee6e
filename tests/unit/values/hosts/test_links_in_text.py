"""Links in free text: written, separated and disguised in various ways."""

from __future__ import annotations

import pytest

from policy.values import Endpoint, Unreadable, links_in, read_endpoint


@pytest.mark.parametrize(
    ("text", "links"),
    [
        # prose
        ("see https://a.example/x, and (http://b.example/(y)).",
         ("https://a.example/x", "http://b.example/(y)")),
        ("https://a.example/x_(y) https://a.example/x...", ("https://a.example/x_(y)", "https://a.example/x")),
        ("https://a.example https://a.example", ("https://a.example",)),
        ("HTTPS://A.example! WSS://b.example? ftp://c.example;",
         ("HTTPS://A.example", "WSS://b.example", "ftp://c.example")),
        ("ssh://git@a.example/x slack://open gopher://a.example",
         ("ssh://git@a.example/x", "slack://open", "gopher://a.example")),
        ("done.https://a.example", ("https://a.example",)),
        ("“https://a.example”, «https://b.example»", ("https://a.example", "https://b.example")),
        ("看https://a.example/x。", ("https://a.example/x",)),
        ("'https://a.example'. `https://b.example`", ("https://a.example", "https://b.example")),
        ('{"u":"https://a.example","n":"x.y"}', ("https://a.example",)),
        ("http:// nothing, www. nothing, http: nothing", ()),
        ("", ()),
        # without a scheme
        ("www.a.example! mail@www.b.example", ("www.a.example",)),
        ("go to evil.com, sub.evil.co.uk or bücher.de.",
         ("evil.com", "sub.evil.co.uk", "bücher.de")),
        ("evil.unusual/x evil.unusual:8080 localhost:3000/x localhost/x",
         ("evil.unusual/x", "evil.unusual:8080", "localhost:3000/x", "localhost/x")),
        ("10.0.0.1:80 10.0.0.1/x version 1.2.3.4", ("10.0.0.1:80", "10.0.0.1/x")),
        ("main.py README.md node.js e.g. i.e. log.info(x) a.b.c 3.5 done.It", ()),
        ("a@b.example <c@d.com> mailto:e@f.org", ()),
        ("a@evil.com/x", ("a@evil.com/x",)),
        ("evil[.]com evil(.)com/x evil[dot]com", ("evil[.]com", "evil(.)com/x", "evil[dot]com")),
        ("hxxp://evil.com/x hxxps://evil[.]com", ("hxxp://evil.com/x", "hxxps://evil[.]com")),
        # markdown
        ("[click](https://a.example/?q=1)", ("https://a.example/?q=1",)),
        ("[https://good.example/x](https://evil.example/)",
         ("https://good.example/x", "https://evil.example/")),
        ("[https://good.example](https://evil.example)",
         ("https://good.example", "https://evil.example")),
        ("[good.com](https://evil.example 'good.com')", ("good.com", "https://evil.example")),
        ("[x]: https://a.example/x 'title'\n[y]:<https://b.example/y>",
         ("https://a.example/x", "https://b.example/y")),
        ("![x](data:image/png;base64,AA//BB==)", ()),
        ("[x][1]\n\n[1]: //evil.example/a?d=s", ("//evil.example/a?d=s",)),
        ("[x][1]\n\n[1]:\n  //evil 'x'\n[2]://evil.unusual", ("//evil", "//evil.unusual")),
        ("![x](//evil.example/p.png) [x](\\\\evil.example)",
         ("//evil.example/p.png", "\\\\evil.example")),
        ("<https://a.example/x> <a@b.example>", ("https://a.example/x",)),
        # HTML
        ('<a href="HTTPS://a.example">x</a>', ("HTTPS://a.example",)),
        ("<img src=//evil.example/x><a href='//b.example'>", ("//evil.example/x", "//b.example")),
        ('<a href="https:evil.example">', ("https:evil.example",)),
        ('<a href="https:/evil.example">', ("https:/evil.example",)),
        ('<a href="https:\\\\evil.example">', ("https:\\\\evil.example",)),
        ("https&#x3a;//evil&#x2e;example/", ("https://evil.example/",)),
        ("&#104;ttps:&#x2f;&sol;evil.example", ("evil.example", "https://evil.example")),
        ('<a href="https://a.example/?x=1&amp;y=2">', ("https://a.example/?x=1&amp;y=2",)),
        ("url(https://a.example/x.png)", ("https://a.example/x.png",)),
        ("<script>//comment, a = b//c</script>", ()),
        ("javascript:alert(1)", ()),
        # without a scheme, but with slashes
        (">//evil.example/x< //evil.example, //10.0.0.1 //[::1]/x //evil.unusual:80",
         ("//evil.example/x", "//evil.example", "//10.0.0.1", "//[::1]/x", "//evil.unusual:80")),
        ("Open \\\\evil.example\\share\\x.docx", ("\\\\evil.example\\share\\x.docx",)),
        ("\\\\10.0.0.1\\s \\\\server\\share \\\\evil@SSL\\x \\\\?\\UNC\\evil\\x",
         ("\\\\10.0.0.1\\s", "\\\\server\\share", "\\\\evil@SSL\\x", "\\\\?\\UNC\\evil\\x")),
        ("a//b x//y.z/foo C:\\dir C:\\\\dir\\\\x // comment //TODO x = a //b.c", ()),
        ("//console.log(1)", ()),
        ("5 // 2.5, //src/main:app, \\\\d+\\\\w, \\\\begin{x}, s/a\\.b//g", ()),
        # other scripts, and data that is a page
        ("中国.中国 看 президент.рф now", ("中国.中国", "президент.рф")),
        ("你好。中国 Ура.Да", ()),
        ("देखें उदाहरण.भारत और हिन्दी.संगठन/पृष्ठ। मिठाई.இந்தியா:80",
         ("उदाहरण.भारत", "हिन्दी.संगठन/पृष्ठ।", "मिठाई.இந்தியா:80")),
        ("एक वाक्य।भारत नमस्ते.दोस्तों", ()),
        ("data:text/html;base64,PHNjcmlwdD4= (data:image/svg+xml,x)",
         ("data:text/html;base64,PHNjcmlwdD4=", "data:image/svg+xml,x")),
        ("data: text/html; data:text/plain,x; data:image/png;base64,AA==", ()),
        # links inside links
        ("https://a.example/?u=https://b.example/x",
         ("https://a.example/?u=https://b.example/x", "https://b.example/x")),
        ("https://user:https://@evil.example",
         ("https://user:https://@evil.example", "https://@evil.example")),
    ],
)  # fmt: skip
def test_links_are_found_in_free_text(text: str, links: tuple[str, ...]) -> None:
    assert links_in(text) == links


@pytest.mark.parametrize(
    "text",
    [
        "ht\u200btps://evil.example",
        "https://ev\u00adil.exam\u2060ple/",
        "https:\u200b//evil.example",
        "www\u200b.evil.example",
        "ev\u200bil.example/x",
        '<a href="ht\ntps://ev\til.example">',
        "<img src='\r\n//evil.example/x'>",
        '<a href="ht&#10;tps://evil.example">',
        "<a href='&Tab;https://evil&period;example'>",
        "https&colon;//evil.example",
    ],
)
def test_a_hidden_link_is_found(text: str) -> None:
    assert {"https://evil.example", "https://evil.example/", "www.evil.example",
            "evil.example/x", "//evil.example/x"} & set(links_in(text))  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "https://good.example\\@evil.example/",
        "https://good.example\\.evil.example/",
        "https://good.example'@evil.example/",
        "https://good.example`.evil.example/",
        "https://good.example{.evil.example/",
        'https://good.example".evil.example/',
        "'https://good.example\".evil.example/'",
        "https://good.example%2f@evil.example",
        "https://good.example。evil.example/",
        "(https://good.example).evil.example/",
        "https://good.example,evil.example",
        "https://good.example>.evil.example",
        "https://good.example\x01@evil.example",
        "https://good.example\u00a0@evil.example",
        "https://good.example@evil.example://",
    ],
)
def test_a_link_is_never_cut_to_another_host(text: str) -> None:
    link = links_in(text)[0]
    read = read_endpoint(link)
    assert isinstance(read, Unreadable) or read.host.endswith("evil.example")


def test_a_link_behind_many_others_is_found() -> None:
    many = "https://a.example/" * 50 + "?https://evil.example"
    hosts = {read.host for read in map(read_endpoint, links_in(many)) if isinstance(read, Endpoint)}
    assert hosts == {"a.example", "evil.example"}
    assert sum(map(len, links_in(many))) < 2 * len(many)
