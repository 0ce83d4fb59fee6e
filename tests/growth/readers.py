"""What reads the texts of inputs: each by itself, as an input is read up to its first mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from policy.catalog.name_repair import spellings
from policy.generation import shipped_profiles
from policy.mcp.streams import _check_numbers
from policy.pins.hidden_text import hidden_text
from policy.programs import Profiles, ScriptAnalysis, analyse_script
from policy.values import (
    DEFAULT_REPLACEMENT,
    PathContext,
    Redaction,
    Regex,
    Unreadable,
    addresses_in,
    compile_regex,
    compile_text_glob,
    has_too_many_values,
    identifier_forms,
    links_in,
    read_endpoint,
    read_json,
    read_path,
    read_recipient,
    redact_text,
    search_readings,
    shown_text,
    skeleton,
    user_messages,
)

Read: TypeAlias = Callable[[str], Any]

# Programs whose words are lists, ranges, programs or other forms of their own.
_COMMANDS = (
    *("{}", "git log -L {}", "PYTHONPATH={} python3 a.py", "protoc -I{} a.proto", "cat {}"),
    *(
        "echo '{}'",
        "sed '{}' a",
        "awk '{}' a",
        "jq '{}' a",
        "rsync {} b",
        "curl -F a={} http://a.b",
    ),
    *(
        "docker run -v {} img",
        "git push origin {}",
        "git show {}",
        "find . -name '{}'",
        "mkdir -p {}",
    ),
)
_CONTEXT = PathContext()


def readers() -> Mapping[str, Read]:
    """Return the functions by what they read."""
    profiles = shipped_profiles()
    secret = compile_regex("[0-9]{4}-?a+")
    assert isinstance(secret, Regex)
    redaction = Redaction(regex=secret, replacement=DEFAULT_REPLACEMENT, rule="r")
    found: dict[str, Read] = {
        "a path": lambda text: read_path(text, _CONTEXT),
        "a URL": lambda text: read_endpoint("http://" + text),
        "a host": read_endpoint,
        "a recipient": read_recipient,
        "JSON": lambda text: [read_json(text)],
        "a message": lambda text: has_too_many_values(text.encode("utf-8", "replace"), 20_000),
        "an answer of a server": _unless_invalid,
        "a text for labels": search_readings,
        "an account": identifier_forms,
        "a name": spellings,
        "a text that is redacted": lambda text: redact_text(text, (redaction,)),
        "a text that is shown": shown_text,
        "a text of look-alikes": skeleton,
        "the addresses in a text": addresses_in,
        "the links in a text": links_in,
        "a message of the user": lambda text: user_messages((text,)),
        "a description": hidden_text,
        "a wildcard": compile_text_glob,
    }
    for command in _COMMANDS:
        found[f"the command {command}"] = _analyses(command, profiles)
    return found


def _analyses(command: str, profiles: Profiles) -> Read:
    return lambda text: _size(analyse_script(command.replace("{}", text), profiles))


def _unless_invalid(text: str) -> None:
    with suppress(ValueError):
        _check_numbers(text)


def _size(analysis: ScriptAnalysis | Unreadable) -> int:
    """Return how many characters what a command names has: each is looked at by rules."""
    if isinstance(analysis, Unreadable):
        return 0
    effects = (effect for command in analysis.commands for effect in command.effects)
    return sum(len(effect.word.text) for effect in effects if effect.word is not None)
