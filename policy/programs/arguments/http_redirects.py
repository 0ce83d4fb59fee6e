"""Whether a command's options let it follow HTTP redirects.

The server may redirect the program to another host, to which no rule has been applied. A program's
default is in its profile (`always`); the last option about redirects decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from policy.programs.invocation import CommandEffect
from policy.programs.words.remotes import scheme_of
from policy.shell import Word

REDIRECTING = frozenset({"redirect", "no-redirect", "redirect-limit"})
# Other protocols have no redirects.
_REDIRECTED = frozenset({"", "http", "https"})
_WEB = re.compile(r"https?:/", re.IGNORECASE)
_SETTING = "http.followredirects"


class HttpRedirects:
    """The options about redirects of one command.

    `by_itself`: it follows them where no option forbids it. `none`: none may be followed.
    """

    __slots__ = ("by", "by_itself", "follows", "none")

    def __init__(self) -> None:
        self.by_itself = False
        self.follows: bool | None = None
        self.none = False
        self.by: tuple[str, ...] = ()

    def option(self, role: str, value: Word | None, name: str) -> None:
        """Record an option about redirects."""
        self.by = (*self.by, name)
        if role == "redirect-limit":
            self.none = value is not None and value.known and value.text.strip() == "0"
        else:
            self.follows = role == "redirect"

    def setting(self, word: Word, name: str) -> None:
        """Record a setting of git, if it is about redirects."""
        setting, _, value = word.text.partition("=")
        if setting.strip().lower() == _SETTING and word.known:
            never = value.strip().lower() in ("false", "no", "off", "0")
            self.option("no-redirect" if never else "redirect", None, name)

    def may_follow(self) -> bool:
        """Return whether the command may follow a redirect."""
        return not self.none and (self.by_itself if self.follows is None else self.follows)


def redirect_target(
    redirects: HttpRedirects, found: list[CommandEffect], program: str
) -> list[CommandEffect]:
    """Return the host that a command may be redirected to by one of those that it connects to."""
    asked = any(one.verb == "connects" and not one.unseen and _may_send_on(one) for one in found)
    if not asked or not redirects.may_follow():
        return []
    why = f"`{program}` may follow a redirect to another host"
    by = tuple(dict.fromkeys(redirects.by))
    return [CommandEffect(verb="connects", why=why, redirected=True, by=by)]


def redirects_without_profile(words: Sequence[Word], program: str) -> list[CommandEffect]:
    """Return the host that an unknown program may be redirected to by a URL among its words."""
    if not any(_WEB.search(word.text) for word in words):
        return []
    why = f"`{program}` may follow a redirect to another host"
    return [CommandEffect(verb="connects", why=why, redirected=True)]


def _may_send_on(effect: CommandEffect) -> bool:
    return effect.word is None or scheme_of(effect.word.text).rpartition("+")[2] in _REDIRECTED
