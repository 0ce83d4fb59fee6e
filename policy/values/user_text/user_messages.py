"""`UserMessages`: what a user wrote, and in which message a value stands as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from policy.values.numbers import exact, is_number
from policy.values.paths.path import PathContext
from policy.values.text import is_ordinary, normalise, without_invisible
from policy.values.unreadable import Unreadable
from policy.values.user_text.bounds import atoms_of, fold, is_bounded, without_end_marks, words_of
from policy.values.user_text.canonical_forms import (
    canonical_spelling,
    number_spelled,
    spellings_of,
)

# What is searched as messages are, such as results, has so many characters at most.
_MOST_CHARACTERS = 500_000
# A message counts as so many bytes at least.
_SHORTEST_COUNTED = 50
# At a bound, this part of the messages is forgotten at once: the rest is indexed anew.
_PART = 16
_LONGEST_VALUE = 10_000
_SHORTEST_VALUE = 3
_MOST_OCCURRENCES = 1_000

_TOO_MUCH = Unreadable(reason=f"there are more than {_MOST_CHARACTERS:,} characters")
_TOO_LONG = Unreadable(reason="a value that is too long to be looked for")
_TOO_OFTEN = Unreadable(reason="a value that occurs too often inside other words")
_HIDDEN = Unreadable(reason="a value with invisible characters")
_HIDDEN_THERE = Unreadable(reason="what the user wrote has invisible characters there")
_INEXACT = Unreadable(reason="a number with more digits than a double can represent")
_NO_TEXT = Unreadable(reason="a value that is not a string or a number")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBounds:
    """How many bytes are kept of what a user wrote, and of one message, encoded as UTF-8.

    A longer message is not kept. Beyond `bytes`, the oldest messages are forgotten.
    """

    bytes: int = 500_000
    message_bytes: int = 200_000


DEFAULT_MESSAGE_BOUNDS = MessageBounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """The words and numbers of messages, with the first message of each, and the folded messages.

    A message with invisible characters is indexed twice: as it is, and as it is shown.
    """

    words: dict[str, int]
    numbers: dict[Decimal | int, int]
    shown: dict[str, int]
    shown_numbers: dict[Decimal | int, int]
    folded: tuple[str, ...]
    shown_folded: tuple[str, ...]

    def and_those(self, texts: Sequence[str]) -> _Index:
        """Return the index of these messages and more."""
        words, numbers = self.words.copy(), self.numbers.copy()
        shown, shown_numbers = self.shown.copy(), self.shown_numbers.copy()
        folded, shown_folded = list(self.folded), list(self.shown_folded)
        for text in texts:
            place, plain = len(folded), normalise(text)
            _add(plain, place, words, numbers)
            if not is_ordinary(text):
                visible = without_invisible(text)
                _add(visible, place, shown, shown_numbers)
                shown_folded.append(fold(visible))
            folded.append(fold(plain))
        return _Index(
            words=words,
            numbers=numbers,
            shown=shown,
            shown_numbers=shown_numbers,
            folded=tuple(folded),
            shown_folded=tuple(shown_folded),
        )


_EMPTY = _Index(words={}, numbers={}, shown={}, shown_numbers={}, folded=(), shown_folded=())


def _add(text: str, place: int, words: dict[str, int], numbers: dict[Decimal | int, int]) -> None:
    for atom in dict.fromkeys(atoms_of(text)):
        word = without_end_marks(atom)
        words.setdefault(fold(word), place)
        canonical = canonical_spelling(word)
        if canonical is not None:
            words.setdefault(fold(canonical), place)
        number = number_spelled(word)
        if number is not None:
            numbers.setdefault(number, place)


class UserMessages:
    """The messages of a user, in order. They do not change; `and_those` returns them with more.

    They are indexed when a value is first looked for, and only what is not indexed yet. `missing`
    says why not all messages are here, None: they are. Of these, `forgotten` came before all that
    are here.
    """

    __slots__ = ("_before", "_index", "forgotten", "missing", "texts")

    def __init__(
        self,
        texts: tuple[str, ...],
        *,
        before: _Index = _EMPTY,
        missing: str | None = None,
        forgotten: int = 0,
    ) -> None:
        self.texts = texts
        self.missing = missing
        self.forgotten = forgotten
        # The index of the first of these messages, until there is one of all.
        self._before = before
        self._index: _Index | None = None

    def and_those(self, texts: Sequence[str]) -> UserMessages:
        """Return these messages and more."""
        return UserMessages(
            (*self.texts, *texts),
            before=self._index or self._before,
            missing=self.missing,
            forgotten=self.forgotten,
        )

    def without(self, why: str, *, oldest: int = 0) -> UserMessages:
        """Return these messages without the oldest; `why` not all messages are here any more."""
        return UserMessages(
            self.texts[oldest:],
            before=_EMPTY if oldest else self._index or self._before,
            missing=why,
            forgotten=self.forgotten + oldest,
        )

    def message_with(self, value: Any, paths: PathContext) -> int | Unreadable | None:
        """Return the place, from 0, of the first message in which `value` stands.

        None if it stands in none; Unreadable where that cannot be told, as where it may stand in a
        message that is not here.
        """
        found = self._place_of(value, paths)
        if found is None and self.missing is not None:
            return Unreadable(reason=self.missing)
        return found

    def _place_of(self, value: Any, paths: PathContext) -> int | Unreadable | None:
        index = self._indexed()
        if is_number(value):
            number = exact(value)
            return _INEXACT if number is None else index.numbers.get(number)
        if not isinstance(value, str):
            return _NO_TEXT
        if len(value) > _LONGEST_VALUE:
            return _TOO_LONG
        if not is_ordinary(value) and without_invisible(value) != normalise(value):
            return _HIDDEN
        return self._message_with_text(index, value, paths)

    def _message_with_text(
        self, index: _Index, value: str, paths: PathContext
    ) -> int | Unreadable | None:
        folded = fold(value)
        number = number_spelled(folded)
        if number is not None:
            found = index.numbers.get(number)
            if found is not None:
                return found
        if not _is_long_enough(folded) and number is None:
            return None
        forms = [fold(form) for form in spellings_of(value, paths)]
        wanted = [folded, *(form for form in forms if _is_long_enough(form))]
        for form in wanted:
            found = index.words.get(form)
            if found is not None:
                return found
        if any(form in index.shown for form in wanted) or number in index.shown_numbers:
            return _HIDDEN_THERE
        return _searched(index, folded)

    def _indexed(self) -> _Index:
        if self._index is None:
            before = self._before
            self._index = before.and_those(self.texts[len(before.folded) :])
            self._before = _EMPTY
        return self._index


def size_of_message(text: str) -> int:
    """Return how many bytes a message counts as."""
    # What is no valid Unicode is a message as well.
    return max(len(text.encode("utf-8", "surrogatepass")), _SHORTEST_COUNTED)


def too_long_a_message(bounds: MessageBounds) -> str:
    """Return why a message is not kept."""
    return f"a message of the user had more than the {bounds.message_bytes:,} bytes that are kept"


def too_many_messages(bounds: MessageBounds) -> str:
    """Return why the oldest messages are not kept."""
    return f"of what the user wrote, only the last {bounds.bytes:,} bytes are kept"


def messages_to_forget(sizes: Iterable[int], total: int, bounds: MessageBounds) -> int:
    """Return how many of the oldest messages are to go; `sizes` are theirs, of `total` bytes."""
    if total <= bounds.bytes:
        return 0
    left, count = total, 0
    for size in sizes:
        if left <= bounds.bytes - bounds.bytes // _PART:
            break
        left -= size
        count += 1
    return count


def kept_messages(
    texts: Iterable[str], bounds: MessageBounds = DEFAULT_MESSAGE_BOUNDS
) -> UserMessages:
    """Return these messages, in order, as far as they are within the bounds."""
    texts = tuple(texts)
    sizes = [size_of_message(text) for text in texts]
    short = [each for each in zip(texts, sizes, strict=True) if each[1] <= bounds.message_bytes]
    kept = UserMessages(tuple([text for text, _ in short]))
    if len(short) < len(texts):
        kept = kept.without(too_long_a_message(bounds))
    sizes = [size for _, size in short]
    oldest = messages_to_forget(sizes, sum(sizes), bounds)
    return kept.without(too_many_messages(bounds), oldest=oldest) if oldest else kept


def _searched(index: _Index, folded: str) -> int | Unreadable | None:
    """Look for a value that is no single word, message by message."""
    words = words_of(folded)
    if words == [folded]:
        return None
    places = [index.words.get(word) for word in words]
    known = [place for place in places if place is not None]
    if len(known) == len(places):
        found = _first_with(folded, index.folded, start=max(known, default=0))
        if found is not None:
            return found
    hidden = _first_with(folded, index.shown_folded)
    return None if hidden is None else _HIDDEN_THERE


def _first_with(folded: str, texts: tuple[str, ...], *, start: int = 0) -> int | Unreadable | None:
    """Return the first text, from `start` on, in which a value is bounded on both sides."""
    tried = 0
    for place in range(start, len(texts)):
        text = texts[place]
        at = text.find(folded)
        while at != -1:
            if is_bounded(text, at, at + len(folded)):
                return place
            tried += 1
            if tried == _MOST_OCCURRENCES:
                return _TOO_OFTEN
            at = text.find(folded, at + 1)
    return None


def user_messages(texts: Iterable[str]) -> UserMessages | Unreadable:
    """Return texts that are searched as messages are; Unreadable if they are too long for it."""
    texts = tuple(texts)
    if sum(max(len(text), _SHORTEST_COUNTED) for text in texts) > _MOST_CHARACTERS:
        return _TOO_MUCH
    return UserMessages(texts)


def _is_long_enough(folded: str) -> bool:
    return len(folded) >= _SHORTEST_VALUE and any(char.isalnum() for char in folded)
