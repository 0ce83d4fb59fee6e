"""What a word that only the shell knows may become: several words, none, or an option."""

from __future__ import annotations

from fnmatch import fnmatchcase

from policy.programs.profiles.profile import Profile
from policy.shell import Word

WILD = frozenset("*?[\\")


def may_become_several(word: Word) -> bool:
    """Return whether a word may expand to no word or to several."""
    return word.many or word.shape == "glob"


def may_vanish(word: Word) -> bool:
    """Return whether a word may expand to no word; a wildcard without matches is passed on."""
    return word.many and word.shape == "opaque"


def may_be_empty(word: Word, start: int) -> bool:
    """Return whether nothing may follow the first characters of a word: `-u"$x"`, `-u*`."""
    if word.shape == "glob":
        return not word.text[start:].strip("*")
    return word.shape == "opaque" and start == len(word.text) and not (word.tail or word.number)


def may_be_option(word: Word, profile: Profile) -> bool:
    """Return whether a word may be an option for how it is spelled."""
    if word.shape == "known" or word.number:
        return False
    text = word.text
    if word.shape == "glob":
        return text[:1] in ("*", "?", "[")
    if word.many:
        return True  # `a$x` may be split into `a` and an option
    if profile.style == "pairs":
        return "=" not in text
    return not text


def may_mean(word: Word, profile: Profile) -> bool:
    """Return whether an unknown operand may stand for an option that no `*` covers."""
    if not profile.means:
        return False
    begins = _literal(word)
    return any(
        fnmatchcase(begins, glob) or _may_begin(begins, _literal(Word(glob, "glob")))
        for glob, name in profile.means.items()
        if (option := profile.options.get(name)) is None or option.guarded
    )


def _literal(word: Word) -> str:
    """Return the part that a word surely begins with."""
    if word.shape != "glob":
        return word.text
    end = next((i for i, char in enumerate(word.text) if char in WILD), len(word.text))
    return word.text[:end]


def _may_begin(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
