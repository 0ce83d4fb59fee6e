"""The terms of approval of a rule or default, with a digest of its meaning.

Two rules with the same meaning have the same digest, whatever their position and name; an edit that
changes what needs approval, or whose, changes the digest. Names are resolved by now: sets, packs
and their parameters are part of the rule itself. Its `because` is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args

from policy.checks import LayerKey, checked
from policy.model import Terms

# The text of a test is how it is written; its meaning is in its other fields.
_TESTS = frozenset(get_args(checked.Test))


class RuleDigests:
    """The digests of one layer's rules, each computed on first use."""

    __slots__ = ("_kept", "_key")

    def __init__(self, key: LayerKey) -> None:
        self._key = key
        self._kept: dict[int, str] = {}

    def of_rule(self, rule: checked.CheckedRule, declarations: str) -> Terms:
        """Return the terms of a rule that asks; `declarations` are its layer's for a tool."""
        digest = self._kept.get(id(rule))
        if digest is None:
            parts = (rule.verdict, rule.tools, rule.when, rule.unless, rule.terms)
            digest = self._kept[id(rule)] = meaning_digest("rule", self._key, *parts)
        if declarations and (rule.when is not None or rule.unless is not None):
            digest = meaning_digest("rule", digest, declarations)
        return replace(rule.terms, digest=digest)

    def of_default(self, default: checked.CheckedDefault) -> Terms:
        """Return the terms of a default that asks."""
        return Terms(digest=meaning_digest("default", self._key, default.verdict, default.tools))


def declaration_digest(declarations: tuple[checked.CheckedDeclaration, ...]) -> str:
    """Return a digest of the `tool` statements about one tool, empty if there are none."""
    if not declarations:
        return ""
    resources = sorted({_canonical(one) for d in declarations for one in d.resources})
    complete = any(declaration.complete for declaration in declarations)
    return meaning_digest("declared", complete, resources)


def meaning_digest(*parts: object) -> str:
    """Return a digest of what parts of a checked policy mean: equal meanings have equal ones."""
    return "sha256:" + hashlib.sha256(_canonical(parts).encode()).hexdigest()


def _canonical(value: object) -> str:
    return _ENCODER.encode(value)


@cache
def _held(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a dataclass on which its meaning depends, None for another class."""
    if not is_dataclass(kind):
        return None
    skipped = "text" if kind in _TESTS else None
    return tuple(each.name for each in fields(kind) if each.compare and each.name != skipped)


def _plain(value: Any) -> object:
    """Return a value that JSON cannot represent as one that it can, tagged with its type."""
    kind: Any = type(value)
    held = _held(kind)
    if held is not None:
        return [kind.__name__, *(getattr(value, name) for name in held)]
    if isinstance(value, Mapping):
        return ["Mapping", *sorted(value.items())]
    if isinstance(value, (set, frozenset)):
        return ["Set", *sorted(map(_canonical, value))]
    return [type(value).__name__, str(value)]


_ENCODER = json.JSONEncoder(default=_plain, separators=(",", ":"))
