"""Redacts what a tool returns: every string, number and key of it.

What cannot be searched is withheld: a value that is not JSON or is too large, and binary content.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from policy.values import RedactedText, Redaction, Unsearchable, redact_text, texts_to_redact

# Bounds on one result: levels of nesting, values, characters, and work as of `Regex.spans`.
_DEEPEST = 100
_MOST_VALUES = 500_000
_MOST_TEXT = 20_000_000
_MOST_WORK = 1_000_000_000

# What stands in place of binary content.
UNSEARCHED = "[withheld: binary content, which cannot be searched]"

_MEDIA = frozenset({"image", "audio", "video"})
_MEDIA_TYPES = ("mimeType", "mime_type", "media_type", "mediaType")
_TEXT_TYPES = ("text/", "application/json", "application/xml")
_DATA_URL = re.compile(r"\s*data:[^,]{0,200};\s*base64\s*,", re.IGNORECASE)


class ResultWithheld(Exception):
    """Why a result must not be returned; `rule` is the redaction that it is withheld for.

    `why` quotes nothing of the result, which `detail` may do.
    """

    def __init__(self, why: str, *, rule: str, detail: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.rule = rule
        self.detail = detail


class ResultRedactor:
    """Applies redactions to all parts of what one call returns.

    `places` counts the matches of each rule, `unsearched` the pieces of binary content that are
    withheld. Its methods raise ResultWithheld.
    """

    def __init__(self, redactions: Sequence[Redaction]) -> None:
        self._redactions = tuple(redactions)
        self.places: Counter[str] = Counter()
        self.unsearched = 0
        self._known: dict[str, RedactedText | None] = {}
        self._values = self._characters = self._work = 0

    def text(self, text: str) -> str:
        """Return a string, redacted."""
        if text in self._known:
            redacted = self._known[text]
        else:
            redacted = self._known[text] = self._redacted(text)
        if redacted is None:
            return text
        for redaction, count in zip(self._redactions, redacted.places, strict=True):
            self.places[redaction.rule] += count
        return redacted.text

    def value(self, value: Any, *, words: frozenset[str] = frozenset()) -> Any:
        """Return a JSON value, redacted; the same object if nothing has changed.

        `words` belong to a protocol: keys of these names stay, and so do the numbers below them
        and the types and roles that are among them.
        """
        if isinstance(value, str):
            return self._string(value)
        # Each string once: the keys of records are the same in all of them.
        texts: dict[str, None] = {}
        has_binary = self._collect((value,), texts, 0)
        self._characters += sum(map(len, texts))
        if self._characters > _MOST_TEXT:
            raise self._withheld("it is too large to be searched")
        matching = texts_to_redact(tuple(texts), self._redactions)
        if not matching and not has_binary:
            return value
        self._known.update((text, None) for text in texts if text not in matching)
        return self._value(value, words)

    def _collect(self, values: Collection[Any], texts: dict[str, None], depth: int) -> bool:
        """Collect strings, numbers and keys; return whether there is binary content.

        Raises ResultWithheld for what is not JSON, or is too large.
        """
        self._values += len(values)
        if self._values > _MOST_VALUES or depth > _DEEPEST:
            raise self._withheld("it is too large to be searched")
        has_binary = False
        for value in values:
            if isinstance(value, str):
                texts[value] = None
                has_binary = has_binary or _text_in_url(value) is not None
            elif value is None or isinstance(value, bool):
                continue
            elif isinstance(value, int | float | Decimal):
                texts[self._spelled(value)] = None
            elif isinstance(value, Mapping):
                if not all(isinstance(key, str) for key in value):
                    raise self._withheld("a part of it is not JSON")
                texts.update(dict.fromkeys(value))
                inside = self._collect(value.values(), texts, depth + 1)
                has_binary = inside or has_binary or bool(_binary_contents(value))
            elif isinstance(value, list | tuple):
                has_binary = self._collect(value, texts, depth + 1) or has_binary
            else:
                raise self._withheld("a part of it is not JSON")
        return has_binary

    def _value(self, value: Any, words: frozenset[str]) -> Any:
        if isinstance(value, str):
            return self._string(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float | Decimal):
            return self._number(value)
        if isinstance(value, Mapping):
            return self._object(value, words)
        items = [self._value(item, words) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return tuple(items) if isinstance(value, tuple) else items

    def _withheld(self, why: str, rule: str | None = None) -> ResultWithheld:
        return ResultWithheld(why, rule=rule or self._redactions[0].rule)

    # -------------------------------------------------------------- strings and numbers

    def _redacted(self, text: str) -> RedactedText | None:
        if len(text) > _MOST_TEXT:
            raise self._withheld("it is too large to be searched")
        redacted = self._searched(text)
        if redacted is None:
            return None
        again = self._searched(redacted.text)
        if again is not None and again.text != redacted.text:
            rule = self._redactions[next(i for i, count in enumerate(again.places) if count)].rule
            raise self._withheld("what is left after a redaction would be redacted again", rule)
        return redacted

    def _searched(self, text: str) -> RedactedText | None:
        try:
            redacted = redact_text(text, self._redactions, work=_MOST_WORK - self._work)
        except Unsearchable as error:
            why = "a string in it cannot be searched"
            raise self._withheld(why, error.redaction.rule) from None
        if redacted is not None:
            self._work += (len(text) + 1) * sum(redacted.places)
        return redacted

    def _string(self, text: str) -> str:
        """Return a string of a value, redacted; of a `data:` URL also the text that it holds."""
        held = _text_in_url(text)
        redacted = held if held is None else self.text(held)
        if redacted is None or redacted == held:
            return self.text(text)
        return f"{text[: text.index(',') + 1]}{_encoded(redacted)}"

    def _number(self, number: int | float | Decimal) -> int | float | Decimal | str:
        """Return a number, or a string if a redaction matches what JSON writes for it."""
        spelled = self._spelled(number)
        redacted = self.text(spelled)
        return number if redacted == spelled else redacted

    def _spelled(self, number: int | float | Decimal) -> str:
        try:
            return str(number)
        except ValueError:
            raise self._withheld("a number in it is too long to be searched") from None

    # -------------------------------------------------------------- objects

    def _object(self, value: Mapping[str, Any], words: frozenset[str]) -> Any:
        contents = _binary_contents(value)
        return self._binary(value, contents, words) if contents else self._fields(value, words)

    def _fields(self, value: Mapping[str, Any], words: frozenset[str]) -> Any:
        names: list[tuple[str, str]] = []
        items: dict[str, Any] = {}
        same = True
        for key, item in value.items():
            name = key if key in words else self.text(key)
            kept = key in words and _is_of_protocol(key, item, words)
            items[key] = item if kept else self._value(item, words)
            same = same and name == key and items[key] is item
            names.append((key, name))
        if same:
            return value
        taken = {key for key, name in names if name == key}
        return {
            (key if name == key else self._unused(name, taken)): items[key] for key, name in names
        }

    def _unused(self, name: str, taken: set[str]) -> str:
        """Return a redacted key, with a number if another key of the object is the same."""
        unused, number = name, 1
        while unused in taken:
            number += 1
            unused = f"{name} ({number})"
        taken.add(unused)
        again = self._searched(unused)
        if again is not None and again.text != unused:
            raise self._withheld("several keys of an object become the same")
        return unused

    # -------------------------------------------------------------- binary content

    def _binary(self, value: Mapping[str, Any], contents: list[str], words: frozenset[str]) -> Any:
        """Return an object with encoded content: text in it is redacted, other content withheld."""
        found = {key: _decoded(value[key]) for key in contents}
        if _media_type(value).startswith(_TEXT_TYPES):
            # What is no base64 is the text itself.
            found = {key: decoded for key, decoded in found.items() if decoded is not None}
        others = self._fields({k: v for k, v in value.items() if k not in found}, words)
        if not found:
            return others
        texts: dict[str, str] = {}
        for key, decoded in found.items():
            if decoded is not None:
                redacted = self.text(decoded)
                texts[key] = value[key] if redacted == decoded else _encoded(redacted)
        withheld = [key for key in found if key not in texts]
        if not withheld:
            return {**others, **texts}
        self.unsearched += 1
        if value.get("type") in _MEDIA:
            return {"type": "text", "text": UNSEARCHED}
        if withheld == ["blob"]:
            kept = {key: item for key, item in others.items() if key not in _MEDIA_TYPES}
            return {**kept, **texts, "mimeType": "text/plain", "text": UNSEARCHED}
        return {**others, **texts, **dict.fromkeys(withheld, UNSEARCHED)}


def texts_of_result(
    value: Any, *, words: frozenset[str] = frozenset(), decodes: bool = True
) -> Iterator[str]:
    """Yield every text, number and key in a value; with `decodes`, what encoded content says too.

    What belongs to the protocol by `words` is left out, as `ResultRedactor.value` leaves it.
    Raises ValueError for a number that is too long to be written.
    """
    if isinstance(value, str):
        yield value
        held = _text_in_url(value) if decodes else None
        if held is not None:
            yield held
    elif isinstance(value, Mapping):
        contents = _binary_contents(value) if decodes else []
        decoded = (_decoded(value[key]) for key in contents)
        yield from (text for text in decoded if text is not None)
        for key, item in value.items():
            if key not in words:
                yield str(key)
            if key not in words or not _is_of_protocol(key, item, words):
                yield from texts_of_result(item, words=words, decodes=decodes)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of_result(item, words=words, decodes=decodes)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _is_of_protocol(key: str, item: Any, words: frozenset[str]) -> bool:
    """Return whether the value of a key of a protocol is not the tool's own."""
    if isinstance(item, int | float):
        return True
    if key in ("type", "role"):
        return isinstance(item, str) and item in words
    if key != "audience" or not isinstance(item, list | tuple):
        return False
    return all(isinstance(one, str) and one in words for one in item)


def _binary_contents(value: Mapping[Any, Any]) -> list[str]:
    """Return the keys under which an object holds encoded content.

    A resource has a URI, and need not say what its content is.
    """
    is_content = value.get("type") in _MEDIA or bool(_media_type(value))
    keys = ("data", "blob") if is_content else ("blob",) if "uri" in value else ()
    return [key for key in keys if isinstance(value.get(key), str)]


def _media_type(value: Mapping[Any, Any]) -> str:
    said = (value.get(key) for key in _MEDIA_TYPES)
    return next((one for one in said if isinstance(one, str)), "")


def _decoded(encoded: str) -> str | None:
    """Return the text that base64 stands for, None if it is no text."""
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    return None if "\0" in text else text


def _text_in_url(text: str) -> str | None:
    """Return the text that a `data:` URL holds as base64, None if it is no such URL."""
    found = _DATA_URL.match(text)
    return None if found is None else _decoded(text[found.end() :])


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
