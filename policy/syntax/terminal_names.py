"""What the terminals of the grammar are called in messages, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable

from policy.syntax.tree import TYPE_NAMES

_CHOICES: dict[str, list[str]] = {
    "VERDICT": ["allow", "ask", "deny"],
    "SET_KIND": ["paths", "hosts", "commands", "strings", "numbers", "addresses"],
    "KIND": "tools paths hosts commands strings numbers addresses string number duration path "
    "host".split(),
    "TYPE": [*TYPE_NAMES],
    "_A": ["a", "an", *TYPE_NAMES],
    "UNIT": ["second", "minute", "hour", "day", "week"],
    "SCOPE": ["session", "agent", "user"],
    "DAYS": ["weekdays", "weekends", "mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    "TEXT_OPERATOR": ["contains"],
    "BOOLEAN": ["true", "false"],
}
# Words for terminals whose names in help are not what is written.
_SIGNS = {"COMMA": ",", "COLON": ":"}


def any_of(words: Iterable[str]) -> str:
    """Return words as a list that ends in `or`."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


_SAID = {
    "NAME": "a name",
    "FIELD": "the name of a field",
    "STRING": "a string in double quotes",
    "REGEX": "a regular expression",
    "NUMBER": "a number",
    "SPAN": "a duration such as `10m`",
    "TIME_OF_DAY": "a time of day such as `08:00`",
    "TOOL_PATTERN": "a tool",
    "RULE_NAME": "the name of a rule and a colon",
    "RULE_REFERENCE": "the name of a rule",
    "COMPARISON": "a comparison such as `==`",
    "VERDICT": "`allow`, `ask` or `deny`",
    "SET_KIND": "the type of a set",
    "KIND": "a type such as `string` or `paths`",
    "TYPE": any_of(f"`{name}`" for name in TYPE_NAMES),
    "UNIT": "a unit such as `minute`",
    "SCOPE": "`session`, `agent` or `user`",
    "DAYS": "days such as `weekdays`",
    "TEXT_OPERATOR": "`contains`, `starts with` or `ends with`",
    "BOOLEAN": "`true` or `false`",
    "HISTORY": "`results(…)` or `calls(…)`",
    "NOTHING_ELSE": "`and nothing else`",
    "EXTRA_FIELDS": "`extra fields allowed`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "_ARROW": "`->`",
    "OPEN_BRACKET": "`[`",
    "CLOSE_BRACKET": "`]`",
    "OPEN_BRACE": "`{`",
    "CLOSE_BRACE": "`}`",
    "CLOSE_PARENTHESIS": "`)`",
    "RPAR": "`)`",
    "LPAR": "`(`",
    "LSQB": "`[`",
    "COMMA": "a comma",
    "COLON": "a colon",
    "DOT": "`.`",
    "_EQUALS": "`=`",
    "__ANON_0": "`..`",
}
_MOST = 6
# Possible, but seldom what the author meant: left out where there is anything else.
_SELDOM = frozenset(
    {
        "PLUS", "MINUS", "STAR", "DOT", "LSQB", "LPAR", "OPEN_BRACKET", "OPEN_BRACE", "HISTORY",
        "EXT", "MCP", "AFTER", "AUDIT", "REMEMBER", "TWO_PEOPLE", "BY", "NAMED_BY_USER", "_FROM",
        "_RETURNING", "_WITHIN", "SPAN", "REMOVE", "REDACT", "ASSUME", "PROVE", "SHADOW",
    }
)  # fmt: skip
_NO_TOKENS = frozenset({"COMMENT", "_WHITE_SPACE", "$END", "<END-OF-FILE>"})
# Signs and values that nobody leaves out, and keywords that are not supported.
_NEVER_MISSING = frozenset(
    "PLUS MINUS STAR DOT LSQB LPAR OPEN_BRACE HISTORY BOOLEAN AFTER EXT MCP".split()
)


def described(terminal: str) -> str:
    """Return what a terminal is called."""
    if terminal in _SAID:
        return _SAID[terminal]
    return f"`{terminal.strip('_').lower().replace('_', ' ')}`"


def spellings(accepted: frozenset[str]) -> list[str]:
    """Return the keywords and signs that the parser would have accepted."""
    found: list[str] = []
    for terminal in sorted(accepted - _NO_TOKENS - _NEVER_MISSING):
        said = described(terminal)
        if terminal in _CHOICES:
            found += _CHOICES[terminal]
        elif terminal in _SIGNS:
            found.append(_SIGNS[terminal])
        elif said.startswith("`") and said.count("`") == 2 and "…" not in said:
            found.append(said[1:-1])
    return found


def keywords_among(accepted: frozenset[str]) -> tuple[str, ...]:
    """Return the keywords of one word that the parser would have accepted."""
    words: list[str] = []
    for terminal in sorted(accepted):
        said = described(terminal)
        words += _CHOICES.get(terminal) or ([said[1:-1]] if said[1:-1].isalpha() else [])
    return tuple(words)


def wanted(accepted: frozenset[str]) -> str:
    """Return what the parser would have accepted, as help."""
    possible = accepted - _NO_TOKENS
    said = sorted(map(described, possible - _SELDOM or possible))
    if not said:
        return "the statement is complete before it; begin the next one on a new line"
    if len(said) > _MOST:
        return f"expected {', '.join(said[:_MOST])} or another clause"
    complete = ", or the end of the statement" if "$END" in accepted else ""
    return f"expected {any_of(said)}{complete}"
