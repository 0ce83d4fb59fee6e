"""Finds the URLs and hosts in free text, as spelled, in linear time.

It finds more than a strict parser would: mail readers, chat clients and browsers find different
links in the same text, and a missed link would be unprotected. `read_endpoint` refuses what turns
out not to be a plain URL.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from operator import itemgetter

from policy.values.hosts.domain_endings import is_usual_ending
from policy.values.hosts.endpoint import read_endpoint
from policy.values.text import is_ordinary, without_invisible

# `scheme://`, a web scheme with fewer slashes or none, `//` where markup has an address.
_START = re.compile(
    r"[a-z][a-z0-9+.-]{0,15}://"
    r"|(?<![a-z0-9+.-])(?:https?|hxxps?|wss?|ftps?):(?=[^\s/:<>\"'`)\]},;!?])"
    r"|(?<![a-z0-9+.-])(?:https?|hxxps?|wss?|ftps?):[/\\]+(?=[^\s/\\])"
    r"|(?<=[\"'=(<\[])[/\\]{2}(?=[^\s/\\])"
    r"|(?<![\w.@/-])www[.。．｡]"
    # Of data, what a browser runs or shows as a page.
    r"|(?<![\w+.-])data:(?!(?:image/(?!svg)|audio/|video/|font/|text/plain))[a-z]+/[\w.+-]+[;,]",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"[a-z][a-z0-9+.-]*:(//)?|www", re.IGNORECASE)
_WEB = re.compile(r"(?:https?|wss?|ftps?|hxxps?)://\Z", re.IGNORECASE)
# Anything that some program may take for one link: some end a link only at a blank.
_WORD = re.compile(r"[^ \t\n\r\f\v<]+")
_HINT = re.compile(r"[.。．｡:]\w|//|\\|[\[(](?:\.|dot)[\])]|:/|localhost", re.IGNORECASE)
# Characters that end a link in a word. Backslashes count before the path: parsers disagree there.
_END = re.compile(r"[\"'`|\\^{}>\x00-\x1f\x7f]|\s|\]\(")
_QUOTES = {'"': '"', "'": "'", "`": "`", "<": ">"}
_PATH = re.compile(r"[/?#]")
_HOST_GOES_ON = re.compile(r"[^/?#]*(?:@|[.。．｡]\w)")
_DOT = r"(?:[.。．｡]|\[\.\]|\(\.\)|\[dot\]|\(dot\))"
# Marks that names of other scripts have besides letters: of Hindi and its relatives (without the
# full stop `।`), Thai, Lao, Burmese and Khmer, Hebrew and Arabic, and accents.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0df3"
    "\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
)
_BARE = re.compile(
    rf"(?<![\w{_MARKS}.。．｡@/\\-])"
    r"(?P<user>(?:[\w.+-]{1,64}@)?)"
    rf"(?:(?P<name>(?:[\w{_MARKS}-]{{1,63}}{_DOT}){{1,60}})"
    rf"(?P<ending>(?:[^\W\d_]|[{_MARKS}]){{2,63}}|xn--[\w-]{{2,59}})\.?"
    r"|localhost|(?:[0-9]{1,3}\.){3}[0-9]{1,3})"
    rf"(?![\w{_MARKS}@-])"
    r"(?P<more>(?::[0-9]{1,5}(?![0-9]))?(?:[/?#][^\s<>\"'`|\\^{}]*)?)(?!\()",
    re.IGNORECASE,
)
# `//host` or the `\\host` of a shared folder, where no scheme, path or name is in front of it.
_SLASHED = re.compile(
    r"(?:(?<![\w:/\\.@%-])|(?<=\]:))(?P<slashes>[/\\]{2,4}(?:\?\\UNC\\)?)(?:[^\s/\\?#@]{1,64}@)?"
    rf"(?:(?P<name>(?:[\w-]{{1,63}}{_DOT}){{1,60}})(?P<ending>[\w-]{{1,63}})\.?"
    r"|(?P<label>[\w-]{2,63})"
    r"|\[[0-9a-f:.]{2,45}\])(?P<more>[/\\?#]|:[0-9]|@[\w]+[\\/])?",
    re.IGNORECASE,
)
# What stands in front of the address of a Markdown definition, `[1]: //host`.
_DEFINED = re.compile(r"\]:\s{0,9}\Z")
_ATTRIBUTE = re.compile(
    r"(?:href|src|srcset|action|formaction|cite|data|poster|background)\s{0,9}=\s{0,9}"
    r"(?:\"([^\"]{0,4096})\"|'([^']{0,4096})')",
    re.IGNORECASE,
)
_LINE_ENDS = re.compile(r"[\t\r\n]")
_ENDINGS = frozenset(".,;:!?*_~。，、；：！？…”’»")
_CLOSING = {")": "(", "]": "[", "）": "（", "」": "「", "】": "【", "》": "《"}
# Links inside links are returned whole up to this number, then only as far as the next begins.
_MOST_INSIDE = 8


def links_in(text: str) -> tuple[str, ...]:
    """Return the links in free text, in order, each once, also those with hidden characters.

    These are URLs of any scheme, `//host`, shared folders (`\\\\host`), `www.` and bare hosts that
    have a port, a path or a common top-level domain, and pages in `data:`. The punctuation of
    the sentence around a link is not part of it.
    """
    found = dict.fromkeys(_found(text))
    for other in _other_readings(text):
        for link in _found(other):
            if link not in found and not _is_known(link, found):
                found[link] = None
    return tuple(found)


def _other_readings(text: str) -> Iterator[str]:
    """Yield the text without invisible characters, and with HTML entities resolved."""
    if not is_ordinary(text):
        yield without_invisible(text)
    if "&" in text:
        yield without_invisible(html.unescape(text))
    for match in _ATTRIBUTE.finditer(text):
        value = html.unescape(match[1] or match[2] or "")
        if _LINE_ENDS.search(value):
            # Browsers drop line ends inside an address.
            yield f'"{_LINE_ENDS.sub("", without_invisible(value)).strip()}"'


def _is_known(link: str, found: dict[str, None]) -> bool:
    """Return whether a link was already found, disregarding entities that change nothing of it."""
    spelled = link.replace("&", "&amp;")
    return spelled in found and read_endpoint(spelled) == read_endpoint(link)


def _found(text: str) -> list[str]:
    links: list[tuple[int, str]] = []
    for word in _WORD.finditer(text):
        # Few words contain a link, and this excludes most of the others.
        if _HINT.search(word[0]):
            links += sorted(_in_word(text, word), key=itemgetter(0))
    return [link for _, link in links]


def _in_word(text: str, word: re.Match[str]) -> list[tuple[int, str]]:
    """Return the links in a run of text without blanks, with their positions."""
    stop = word.end()
    starts = {_start(match) for match in _START.finditer(text, word.start(), stop)}
    slashed = _SLASHED.finditer(text, word.start(), stop)
    starts |= {match.start() for match in slashed if _is_slashed_link(match)}
    links = list(_from_starts(text, sorted(starts), stop))
    covered = [(start, start + len(link)) for start, link in links]
    place, end = 0, 0
    for match in _BARE.finditer(text, word.start(), stop):
        while place < len(covered) and covered[place][0] <= match.start():
            end = max(end, covered[place][1])
            place += 1
        if match.start() >= end and _is_bare_link(match):
            links.append((match.start(), _trim(match[0])))
    return links


def _from_starts(text: str, starts: list[int], stop: int) -> Iterator[tuple[int, str]]:
    """Yield the links that begin at these positions of a word."""
    ends = [stop] * len(starts) if len(starts) <= _MOST_INSIDE else [*starts[1:], stop]
    for start, end in zip(starts, ends, strict=True):
        link = _trim(_cut(text[start:end], text[start - 1 : start]))
        if not _NOTHING.fullmatch(link):
            yield start, link


def _start(match: re.Match[str]) -> int:
    """Return where the scheme begins: `done.https://` is a missing blank."""
    known = _WEB.search(match[0])
    return match.start() + known.start() if known else match.start()


def _cut(word: str, before: str) -> str:
    """Cut a word where its link ends; `before` is the character in front of it."""
    if before in _QUOTES:
        word = word.partition(_QUOTES[before])[0]
    scheme = word.find("//") + 2 if "//" in word else 0
    path = _PATH.search(word, scheme)
    authority = len(word) if path is None else path.start()
    end = _END.search(word)
    if end is None:
        return word
    if end.start() > authority or end[0] == "](":
        return word[: end.start()]
    # A host may contain unusual characters, or the text before them may be a user name.
    goes_on = end[0] == "\\" or _HOST_GOES_ON.match(word, end.start())
    return word if goes_on else word[: end.start()]


def _is_slashed_link(match: re.Match[str]) -> bool:
    """Return whether slashes are followed by a host, rather than by a comment or a name."""
    more = match["more"]
    before = match.string[max(match.start() - 12, 0) : match.start()]
    if _DEFINED.search(before):
        return True
    if match["label"]:
        return more == "\\" and "\\" in match["slashes"]
    ending = match["ending"]
    return bool(more or ending is None) or ending.isdigit() or is_usual_ending(ending)


def _is_bare_link(match: re.Match[str]) -> bool:
    if match["more"]:
        return True
    # Without a path `name@host` is an e-mail address.
    if match["user"] or match["ending"] is None:
        return False
    # In Chinese, a sentence may end between two words that could be names.
    is_sentence = not match["ending"].isascii() and match["name"][-1] in "。｡"
    return not is_sentence and is_usual_ending(match["ending"])


def _trim(link: str) -> str:
    """Remove closing punctuation that was not opened inside the link."""
    if link[-1:].isalnum() or link.endswith("/"):
        return link
    extra = {closing: link.count(closing) - link.count(opening)
             for closing, opening in _CLOSING.items()}  # fmt: skip
    stop = len(link)
    while stop:
        last = link[stop - 1]
        if last in _ENDINGS:
            stop -= 1
        elif extra.get(last, 0) > 0:
            extra[last] -= 1
            stop -= 1
        else:
            break
    return link[:stop]
