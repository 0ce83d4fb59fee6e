"""The regular expressions of the sources, each with texts of what it looks for."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as ops
from re import _parser
from typing import Any

import policy

_SEARCHES = r"\.(search|finditer|findall|sub|subn|split)\b"
# They read what the operator writes: rules, settings, profiles, manifests.
_OWN = (
    *("policy.cli.", "policy.generation.", "policy.syntax.", "policy.diagnostics."),
    *("policy.plugins.", "policy.programs.profiles.", "policy.programs.patterns."),
)
_ROOT = Path(policy.__file__).parent


@dataclass(frozen=True, slots=True)
class UsedPattern:
    """A pattern by its name: whether it is searched for, or has to match the whole of a text."""

    name: str
    pattern: re.Pattern[Any]
    searched: bool
    whole: bool


def used_patterns() -> Iterator[UsedPattern]:
    """Yield each pattern of a module, by its name there."""
    for file in sorted(_ROOT.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        module = ".".join(file.relative_to(_ROOT.parent).with_suffix("").parts)
        if "re.compile(" not in source or module.startswith(_OWN):
            continue
        loaded = importlib.import_module(module)
        for name, value in sorted(vars(loaded).items()):
            if isinstance(value, re.Pattern) and f"\n{name} " in source:
                searched = re.search(rf"\b{name}{_SEARCHES}|\b{name}(, |\))", source) is not None
                whole = re.search(rf"\b{name}\.fullmatch\b", source) is not None
                yield UsedPattern(f"{module}.{name}", value, searched, whole)


def signs_of(pattern: re.Pattern[Any]) -> tuple[str, ...]:
    """Return characters that a pattern tells apart, and some that it does not name."""
    source = pattern.pattern
    flags = pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags
    found = dict.fromkeys("a0 ")
    _collect(_parser.parse(source, flags), found)
    return tuple(found)


def _collect(tree: Any, found: dict[str, None]) -> None:
    for op, value in tree:
        match op:
            case ops.LITERAL | ops.NOT_LITERAL:
                found[chr(value)] = None
            case ops.IN:
                for kind, sign in value:
                    if kind is ops.LITERAL:
                        found[chr(sign)] = None
                    elif kind is ops.RANGE:
                        found[chr(sign[0])] = None
            case ops.BRANCH:
                for branch in value[1]:
                    _collect(branch, found)
            case ops.ATOMIC_GROUP:
                _collect(value, found)
            case _ if isinstance(value, tuple) and isinstance(value[-1], _parser.SubPattern):
                # Groups, repetitions and assertions have their content last.
                _collect(value[-1], found)
