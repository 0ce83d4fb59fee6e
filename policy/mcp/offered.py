"""What a server may offer besides tools, by the words of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

# What a server announces changes of; those of resources are those of their templates, too.
OfferedKind: TypeAlias = Literal["resources", "prompts"]
# What a server may declare that it has.
Feature: TypeAlias = Literal["resources", "prompts", "completions"]
Announced: TypeAlias = Callable[[OfferedKind], None]
# A list, by the name that it has in an answer.
Offered: TypeAlias = Literal["resources", "resourceTemplates", "prompts"]
# The key that an entry is asked for by.
KEY_OF: Mapping[Offered, str] = {
    "resources": "uri",
    "resourceTemplates": "uriTemplate",
    "prompts": "name",
}
# As the server sent them, frozen: whatever they are.
Entries: TypeAlias = tuple[Any, ...]
