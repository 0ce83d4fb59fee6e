"""`Mistake`: one common mistake in the text of a statement, recognised where parsing fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from policy.diagnostics import did_you_mean

# Words of other languages, and the keywords that their authors mean.
SYNONYMS: dict[str, str] = {
    **dict.fromkeys(
        "permit permitted allowed grant granted accept accepted pass ok".split(),
        "allow",
    ),
    **dict.fromkeys(
        "forbid forbidden block blocked denied reject rejected refuse refused disallow prohibit "
        "drop fail error never".split(),
        "deny",
    ),
    **dict.fromkeys(
        "asked confirm confirmation prompt approval approve pending review require".split(),
        "ask",
    ),
    **dict.fromkeys("dryrun dry dry_run monitor simulate log_only".split(), "shadow"),
    **dict.fromkeys("if where while provided whenever given on".split(), "when"),
    **dict.fromkeys("otherwise ifnot".split(), "unless"),
    **dict.fromkeys("reason why message comment since description".split(), "because"),
    **dict.fromkeys("include import load require_pack source".split(), "use"),
    **dict.fromkeys("var const define def variable".split(), "let"),
    **dict.fromkeys(
        "path file files folder folders directory dir dirs glob globs".split(), "paths"
    ),
    **dict.fromkeys("domain domains url urls site sites network networks".split(), "hosts"),
    **dict.fromkeys("cmd cmds shell command".split(), "commands"),
    **dict.fromkeys("email emails recipient recipients".split(), "addresses"),
    **dict.fromkeys("parameter parameters arg argument".split(), "param"),
    **dict.fromkeys("tests testcase example examples".split(), "test"),
}


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A common mistake with its message and help.

    `found` must match at the token where parsing fails and `before` at the end of the text before
    it, both as regular expressions; the parser must have accepted one of the terminals in
    `expected`. The diagnostic points at what `found` matches, from the group `at` of `before` on if
    there is one. In message and help `{}` stands for that text, `{name}` for it as the name of a
    rule. The help suggests the nearest word of `near_to` if there is one.
    """

    example: str
    message: str
    help: str
    found: str = ""
    before: str = ""
    expected: frozenset[str] = frozenset()
    code: str = "syntax-error"
    near_to: tuple[str, ...] = ()

    @cached_property
    def _found(self) -> re.Pattern[str]:
        return re.compile(self.found)

    @cached_property
    def _before(self) -> re.Pattern[str]:
        return re.compile(rf"(?:{self.before})\Z")

    def place(self, text: str, at: int, *, start: int, accepted: frozenset[str]) -> Place | None:
        """Return the range of the mistake if it was made at this offset, else None.

        The text from `start` on is searched for what comes before it.
        """
        if self.expected and not self.expected & accepted:
            return None
        found = self._found.match(text, at)
        if found is None:
            return None
        first, last = at, found.end()
        if self.before:
            before = self._before.search(text, start, at)
            if before is None:
                return None
            if "at" in self._before.groupindex:
                first, end = before.span("at")
                last = last if last > at else end
        return first, max(last, first + 1)

    def said(self, written: str) -> tuple[str, str]:
        """Return the message and the help about this text."""
        near = meant(written, self.near_to) if self.near_to else ""
        return filled(self.message, written), near or filled(self.help, written)


Place = tuple[int, int]


def one_of(*terminals: str) -> frozenset[str]:
    """Return a set of terminals of the grammar."""
    return frozenset(terminals)


def meant(word: str, words: tuple[str, ...]) -> str:
    """Return the help that suggests the keyword that a word stands for, "" if there is none."""
    lower = word.lower()
    if not lower.replace("_", "").isalpha():
        return ""
    if lower in words:
        # A keyword that is spelled correctly is in the wrong place, and the help of the mistake
        # tells about that.
        return "" if word == lower else f"keywords are written in lower case: `{lower}`"
    if SYNONYMS.get(lower) in words:
        return f"did you mean `{SYNONYMS[lower]}`?"
    return did_you_mean(word, words)


def filled(template: str, written: str) -> str:
    """Return a message with the text that the author wrote."""
    name = re.sub(r"[^a-z0-9]+", "-", written.lower()).strip("-")
    return template.replace("{}", written).replace("{name}", name or "name")
