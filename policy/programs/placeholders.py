"""Words of a command that unknown ones replace: `{}` of `find -exec`, `fd -x` and `xargs -I`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from policy.programs.found_paths import FoundPaths
from policy.shell import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholders:
    """What stands for unknown words: `wholes` for one of them, `parts` for a part of it.

    `several`: a word with a placeholder is repeated for each unknown word. `added`: unknown words
    may be added at the end as well. `spelled`: False where the placeholder itself is not known.
    """

    wholes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    several: bool = False
    added: bool = False
    spelled: bool = True

    def replaced(self, word: Word, found: FoundPaths) -> Word:
        """Return a word with one of the paths that are found in place of its first placeholder."""
        if word.below_start is not None and any(one in word.below_start for one in self._all()):
            return replace(word, below_start=None, many=True)
        if any(one in word.tail for one in self._all()):
            word = replace(word, tail="", many=word.many or self.several)
        places = [(word.text.find(one), one) for one in self._all() if one in word.text]
        if not places:
            return word
        place, sign = min(places)
        many = self.several or word.many
        if word.text == sign and sign in self.wholes:
            return replace(found.word(), many=many)
        # Only the whole path begins as the search does: `{/}` of `fd` is its last part.
        begins = found.root if sign in self.wholes else ""
        return Word(word.text[:place] or begins, "opaque", many=many)

    def _all(self) -> tuple[str, ...]:
        return (*self.wholes, *self.parts)


NO_PLACEHOLDERS = Placeholders()
OF_FIND = Placeholders(wholes=("{}",))
# Where no option names one: those of `fd`, and words at the end if there is none.
USUAL = Placeholders(wholes=("{}",), parts=("{/}", "{//}", "{.}", "{/.}"), several=True, added=True)
