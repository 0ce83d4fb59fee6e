"""What can still be read from a statement or header that does not parse.

Later stages use it to tell an error of its own from a consequence of the statement that did not
parse: a name that this statement probably defines is not reported as unknown.
"""

from __future__ import annotations

import posixpath
import re

from policy.diagnostics import nearest
from policy.model import Span
from policy.syntax.tree import (
    Agents,
    Binding,
    BrokenStatement,
    EveryAgent,
    Header,
    PackHeader,
    PolicyHeader,
    Role,
)

STATEMENT_WORDS = (
    "policy", "pack", "use", "param", "tools", "paths", "hosts", "commands", "strings", "numbers",
    "addresses", "data", "let", "tool", "default", "delegate", "allow", "ask", "deny", "shadow",
    "rewrite", "redact", "limit", "label", "prove", "assume", "test",
)  # fmt: skip

# A statement with one of these words at its start defines no name.
_NAMELESS = frozenset(
    "policy pack default delegate allow ask deny shadow rewrite redact limit prove assume "
    "test".split()
)
# What comes before the first sign of a value: the name, perhaps with a keyword before it.
_HEAD = re.compile(r"[^=:({\[\n]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_QUOTED = re.compile(r'"([^"\n]*)"?')
_MOST_NAMES = 3


def broken_statement(text: str, span: Span) -> BrokenStatement:
    """Return what the text of a statement that did not parse shows."""
    head = _HEAD.match(text)
    assert head is not None
    words: list[str] = _WORD.findall(head[0])
    is_named = text[head.end() : head.end() + 1] == ":"
    after = _WORD.findall(text, head.end())
    word = _keyword((after if is_named and len(words) <= 1 else words)[:1])
    if word in _NAMELESS and not is_named:
        words = []
    aliases = _pack_names(text) if word == "use" else []
    return BrokenStatement(
        word=word, names=frozenset([*words[:_MOST_NAMES], *aliases]), text=text, span=span
    )


def _keyword(words: list[str]) -> str:
    """Return the keyword that a word is, or probably is; "" if it resembles none."""
    if not words:
        return ""
    word = words[0].lower()
    return word if word in STATEMENT_WORDS else nearest(word, STATEMENT_WORDS) or ""


def _pack_names(text: str) -> list[str]:
    """Return the names under which a broken `use` may have made its pack known."""
    written: list[str] = [*_QUOTED.findall(text), *re.findall(r"[^\s\",]+", text)[1:2]]
    stems = [posixpath.basename(path.split(":")[-1]).removesuffix(".policy") for path in written]
    return [name for stem in stems for name in (stem, stem.replace("-", "_"))]


def likely_header(text: str, span: Span, *, has_parameters: bool) -> Header:
    """Return the header that a file probably has, given its first statement.

    `has_parameters` is whether a statement of the file is a `param`, as only packs have them.
    """
    words = [word.lower() for word in _WORD.findall(text)] or [""]
    if has_parameters or words[0] == "pack":
        return PackHeader(name=(_names(text) or ["pack"])[0], span=span)
    return PolicyHeader(binding=_likely_binding(text, words, span), span=span)


def _likely_binding(text: str, words: list[str], span: Span) -> Binding:
    names = _names(text)
    if nearest(words[0], ["policy"]) is None and words[0] != "policy":
        return EveryAgent(span=span)
    if "role" in words and names:
        return Role(name=names[0], span=span)
    if {"agent", "agents"}.isdisjoint(words) or {"every", "all"} & set(words) or not names:
        return EveryAgent(span=span)
    return Agents(patterns=tuple(names), plural="agents" in words, span=span)


def _names(text: str) -> list[str]:
    """Return the names that a header gives, with or without quotes."""
    quoted: list[str] = _QUOTED.findall(text)
    if quoted:
        return quoted
    bare = re.search(r"\b(?:agents?|role|pack)\s+([\w*.-]+)", text)
    return [bare[1]] if bare else []
