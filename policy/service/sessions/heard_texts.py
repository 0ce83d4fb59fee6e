"""What the user wrote in one session tree, as a log in memory keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from policy.model import UserSaid
from policy.values import (
    MOST_CHARACTERS,
    TOO_MUCH,
    Unreadable,
    UserMessages,
    characters_of,
    user_messages,
)

NOT_HEARD = "nobody has told what the user wrote"
MISSED = "the session began before anybody told what the user wrote"
RESUMED = "the session began before this history of it"
FORGOTTEN = "what the user wrote was forgotten, as there was too much of all sessions"


@dataclass(eq=False, slots=True)
class HeardTexts:
    """The messages of one tree, each with its number in the order of all that the log heard.

    `unknown` is why they are not known, for good; `messages` None: nobody has told.
    """

    messages: UserMessages | None = None
    unknown: str | None = None
    numbers: list[int] = field(default_factory=list)
    characters: int = 0

    def add(self, texts: Sequence[str], *, number: int) -> None:
        """Add messages, numbered from `number` on."""
        if self.unknown is not None:
            return
        if self.messages is None:
            self.messages = UserMessages(())
        self.characters += characters_of(texts)
        if self.characters > MOST_CHARACTERS:
            self.lose(TOO_MUCH.reason)
            return
        self.messages = self.messages.and_those(texts)
        self.numbers.extend(range(number, number + len(texts)))

    def lose(self, why: str) -> None:
        """Keep no message, from now on."""
        self.messages, self.unknown, self.numbers, self.characters = None, why, [], 0

    def join(self, other: HeardTexts) -> None:
        """Add the messages of a tree that is a part of this one now, in the order of both."""
        unknown = self.unknown or other.unknown
        if unknown is not None:
            self.lose(unknown)
        elif other.messages is not None:
            ours = () if self.messages is None else self.messages.texts
            both = [*zip(self.numbers, ours, strict=True)]
            both += zip(other.numbers, other.messages.texts, strict=True)
            self.characters += other.characters
            self.numbers = sorted(number for number, _ in both)
            merged = messages_of(text for _, text in sorted(both))
            if isinstance(merged, str) or self.characters > MOST_CHARACTERS:
                self.lose(TOO_MUCH.reason)
            else:
                self.messages = merged

    def said(self) -> UserSaid | str:
        """Return the messages, or why they are not known."""
        return self.messages or self.unknown or NOT_HEARD


def messages_of(texts: Iterable[str]) -> UserMessages | str:
    """Return messages, or why they are too much."""
    found = user_messages(texts)
    return found.reason if isinstance(found, Unreadable) else found
