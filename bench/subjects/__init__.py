"""What is measured, each in a process of its own: a module a subject, imported when wanted."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_PLACES = {
    "deciding": "bench.subjects.deciding:Deciding",
    "loading": "bench.subjects.loading:Loading",
    "editing": "bench.subjects.editing:Editing",
    "verbs": "bench.subjects.verbs:Verbs",
    "serving": "bench.subjects.serving:Serving",
    "enforcing": "bench.subjects.enforcing:Enforcing",
    "admitting": "bench.subjects.admitting:Admitting",
}

# Where each engine's adapter is; a Placet adapter runs in other harnesses too.
_ENGINES = {
    "placet": "bench.peers_adapter:Engine",
    "placet, raw call": "bench.peers_adapter:Raw",
    "floor": "bench.adapters.floor:Engine",
    "cedarpy": "bench.adapters.cedar:Engine",
    "cedarpy per tool": "bench.adapters.cedar:Sharded",
    "cel-expr-python": "bench.adapters.cel:Engine",
}


def subject(name: str, arguments: Mapping[str, Any]) -> Any:
    """Return the subject of this name."""
    return _found(_PLACES[name])(**arguments)


def engine(name: str) -> Any:
    """Return the adapter of an engine."""
    return _found(_ENGINES[name])()


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
