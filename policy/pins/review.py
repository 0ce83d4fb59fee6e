"""What a reviewer is shown of a server: what is new, changed, or hidden, and what is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog import schema_problem
from policy.pins.comparison import Compared, PinComparison, PinState
from policy.pins.definitions import About, Definition, digest
from policy.pins.difference import difference
from policy.pins.disguised_words import disguised_words
from policy.pins.hidden_text import hidden_text
from policy.pins.proposals import ProposedResources, proposal_of
from policy.pins.shadowing import KnownNames, name_findings, siblings_of
from policy.values import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewable:
    """One definition to review: its difference to the pin, and what a reader might miss.

    `what` is `server`, `tool` or `prompt`. `proposal` is for a tool that is new or changed.
    """

    what: str
    name: str
    state: PinState
    difference: tuple[str, ...]
    findings: tuple[str, ...] = ()
    proposal: ProposedResources | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """All that is to be reviewed of a server.

    `digest` stands for everything that the server declares: accepting it accepts exactly this.
    """

    server: str
    digest: str
    items: tuple[Reviewable, ...]
    problems: tuple[str, ...] = ()


def review(compared: PinComparison, *, known: KnownNames) -> Review:
    """Return what a person has to look at; `known` are the names of tools of others."""
    siblings = siblings_of(compared.tools)
    items = [
        *_server(compared),
        *(
            item
            for tool in compared.tools.values()
            for item in _tool(tool, siblings=siblings, known=known)
        ),
        *(item for prompt in compared.prompts.values() for item in _prompt(prompt)),
    ]
    return Review(
        server=compared.server,
        digest=_digest(compared),
        items=tuple(items),
        problems=compared.problems,
    )


def proposed_resources(found: Review) -> Mapping[str, Mapping[str, Any]]:
    """Return what is proposed for each new or changed tool."""
    return {
        item.name: item.proposal.resources
        for item in found.items
        if item.proposal is not None and item.proposal.resources
    }


def _digest(compared: PinComparison) -> str:
    return digest(
        {
            "server": compared.server,
            "about": compared.now.as_json(),
            "tools": {name: one.now for name, one in compared.tools.items() if one.now},
            "prompts": {name: one.now for name, one in compared.prompts.items() if one.now},
        }
    )


def _server(compared: PinComparison) -> Iterator[Reviewable]:
    state = compared.server_state
    if state is PinState.UNCHANGED:
        return
    before = None if compared.before is None else _about(compared.before)
    yield Reviewable(
        what="server",
        name=compared.server,
        state=state,
        difference=difference(before, _about(compared.now)),
        findings=tuple(_text_findings({"instructions": compared.now.instructions})),
    )


def _about(about: About) -> Definition:
    return {key: value for key, value in about.as_json().items() if value}


def _tool(tool: Compared, *, siblings: KnownNames, known: KnownNames) -> Iterator[Reviewable]:
    if tool.state is PinState.UNCHANGED:
        return
    findings: list[str] = []
    proposal = None
    if tool.now is not None:
        findings = [*name_findings(tool.name, siblings=siblings, known=known)]
        findings += _text_findings(tool.now)
        findings += _schema_findings(tool.now)
        proposal = proposal_of(tool.now)
    yield _item("tool", tool, findings, proposal)


def _prompt(prompt: Compared) -> Iterator[Reviewable]:
    if prompt.state is not PinState.UNCHANGED:
        findings = [] if prompt.now is None else [*_text_findings(prompt.now)]
        yield _item("prompt", prompt, findings, None)


def _item(
    what: str, one: Compared, findings: list[str], proposal: ProposedResources | None
) -> Reviewable:
    return Reviewable(
        what=what,
        name=one.name,
        state=one.state,
        difference=difference(None if one.pin is None else one.pin.definition, one.now),
        findings=tuple(findings),
        proposal=proposal,
    )


def _schema_findings(definition: Definition) -> Iterator[str]:
    if "inputSchema" in definition:
        problem = schema_problem(definition["inputSchema"])
        if problem is not None:
            yield f"it cannot be called: {problem}"


def _text_findings(definition: Definition) -> Iterator[str]:
    """Yield what is hidden in any string of a definition, keys included, with its place."""
    for place, text in _texts(definition, ""):
        for finding in (*hidden_text(text), *disguised_words(text)):
            yield f"{place}: {finding}"


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            inner = f"{place}.{key}" if place else key
            if not inner.isascii() or not inner.isprintable():
                yield f"the key {quote(key)}", key
                inner = f"{place}.{quote(key)}"
            yield from _texts(item, inner)
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _texts(item, f"{place}[{number}]")
