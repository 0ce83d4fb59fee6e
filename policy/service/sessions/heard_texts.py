"""What the user wrote in one session tree, as a log in memory keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from policy.model import UserSaid
from policy.values import (
    DEFAULT_MESSAGE_BOUNDS,
    MessageBounds,
    UserMessages,
    messages_to_forget,
    size_of_message,
    too_long_a_message,
    too_many_messages,
)

NOT_HEARD = "nobody has told what the user wrote"
MISSED = "the session began before anybody told what the user wrote"
RESUMED = "the session began before this history of it"
FORGOTTEN = "what the user wrote was forgotten, as there was too much of all sessions"


@dataclass(eq=False, slots=True)
class HeardTexts:
    """The messages of one tree, each with its number in the order of all that the log heard.

    `unknown` is why they are not known, for good; `messages` None: nobody has told. They take
    `bytes`, as `size_of_message` counts.
    """

    bounds: MessageBounds = DEFAULT_MESSAGE_BOUNDS
    messages: UserMessages | None = None
    unknown: str | None = None
    numbers: list[int] = field(default_factory=list)
    bytes: int = 0

    def add(self, texts: Sequence[str], *, number: int) -> None:
        """Add messages, numbered from `number` on; forget the oldest where there are too many."""
        if self.unknown is not None:
            return
        short = texts_within(texts, self.bounds)
        messages = (self.messages or UserMessages(())).and_those(short)
        self.messages = messages
        if len(short) < len(texts):
            self.miss_one()
        self.numbers.extend(range(number, number + len(short)))
        self.bytes += sum(map(size_of_message, short))
        self._forget_some()

    def miss_one(self) -> None:
        """Note a message that is too long to be kept."""
        if self.messages is not None:
            self.messages = self.messages.without(too_long_a_message(self.bounds))

    def restore(self, messages: UserMessages, numbers: Sequence[int]) -> None:
        """Take these messages for those that were heard, as far as there is room."""
        self.messages, self.numbers = messages, list(numbers)
        self.bytes = sum(map(size_of_message, messages.texts))
        self._forget_some()

    def lose(self, why: str) -> None:
        """Keep no message, from now on."""
        self.messages, self.unknown, self.numbers, self.bytes = None, why, [], 0

    def join(self, other: HeardTexts) -> None:
        """Add the messages of a tree that is a part of this one now, in the order of both."""
        unknown = self.unknown or other.unknown
        if unknown is not None:
            self.lose(unknown)
        elif other.messages is not None:
            ours, theirs = self.messages or UserMessages(()), other.messages
            both = [*zip(self.numbers, ours.texts, strict=True)]
            both += zip(other.numbers, theirs.texts, strict=True)
            both.sort()
            self.numbers = [number for number, _ in both]
            self.bytes += other.bytes
            self.messages = UserMessages(
                tuple([text for _, text in both]),
                missing=ours.missing or theirs.missing,
                forgotten=ours.forgotten + theirs.forgotten,
            )
            self._forget_some()

    def said(self) -> UserSaid | str:
        """Return the messages, or why they are not known."""
        return self.messages or self.unknown or NOT_HEARD

    def _forget_some(self) -> None:
        if self.messages is None or self.bytes <= self.bounds.bytes:
            return
        sizes = [size_of_message(text) for text in self.messages.texts]
        oldest = messages_to_forget(sizes, self.bytes, self.bounds)
        self.messages = self.messages.without(too_many_messages(self.bounds), oldest=oldest)
        self.numbers = self.numbers[oldest:]
        self.bytes -= sum(sizes[:oldest])


def texts_within(texts: Sequence[str], bounds: MessageBounds) -> list[str]:
    """Return the messages that are not too long to be kept."""
    return [text for text in texts if size_of_message(text) <= bounds.message_bytes]
