"""Colours the rule files on the site; the keywords are those of the grammar."""

from __future__ import annotations

import re
from pathlib import Path

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

_GRAMMAR = Path(__file__).parents[1] / "grammar" / "terminals.lark"
# A keyword's terminal is a word, or several in parentheses, and what may not follow it.
_TERMINAL = re.compile(r"^\w+(?:\.\d)?: /\(?([a-z|]+)\)?\(\?!", re.MULTILINE)


def keywords() -> tuple[str, ...]:
    """Return the one-word keywords of the language, sorted."""
    found = _TERMINAL.findall(_GRAMMAR.read_text(encoding="utf-8"))
    return tuple(sorted({word for choice in found for word in choice.split("|")}))


class PolicyLexer(RegexLexer):
    """Tokens of a rule file, as far as colours need them."""

    name = "Placet policy"
    aliases = ("policy",)
    filenames = ("*.policy",)
    tokens = {  # noqa: RUF012 - pygments reads the attribute of the class
        "root": [
            (r"#[^\n]*", Comment.Single),
            (r'"[^"\\\n]*(\\.[^"\\\n]*)*"', String),
            (r"\b(allow|ask|deny)\b(?![.-])", Keyword.Type),
            (
                r"^([ \t]*)([a-z][a-z0-9]*(?:-[a-z0-9]+)*)([ \t]*)(:)",
                bygroups(Whitespace, Name.Label, Whitespace, Punctuation),
            ),
            (words(keywords(), prefix=r"(?<![.\w-])", suffix=r"(?![\w-])"), Keyword),
            (r"(?<=[ (])/(?![ /])([^/\\\n]|\\.)+/", String.Regex),
            (r"[0-9]+(_[0-9]+)*(\.[0-9]+)?(ms|s|m|h|d|w)?", Number),
            (r"[A-Za-z_*?][\w.*?-]*", Name),
            (r"->|[=!<>]=?|\+|-", Operator),
            (r"[\[\]{}(),:|/.]", Punctuation),
            (r"\s+", Whitespace),
        ],
    }
