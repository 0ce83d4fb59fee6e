"""`SpelledTexts`: what the texts of arguments say of a set of paths or hosts that they spell."""

from __future__ import annotations

from dataclasses import dataclass

from policy.solving import Language


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpelledTexts:
    """What texts say of a set; None is nothing.

    A text that is `settled` spells one thing, or none that can be read: for all programs the same.
    Of these, `surely` are some whose thing is in the set, and `perhaps` all of them. `by_their_end`
    are other texts that spell something in it. What a `readable` text spells can be read.
    """

    settled: Language
    surely: Language | None
    perhaps: Language | None
    by_their_end: Language | None = None
    readable: Language | None = None
