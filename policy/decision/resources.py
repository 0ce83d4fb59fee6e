"""The resources that a call accesses, for people: in canonical form, with their origin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from policy.catalog import VERBS
from policy.evaluation import Access, CallEffects, DecidingResource, KnownResource
from policy.programs import Invocation
from policy.values import Path, Unreadable, links_passed, quote

_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)
_LONGEST_WORD = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """One resource of a call: the verb, the canonical resource, and where in the call it is from.

    `argument` is the field of the input (`input.path`). For commands, `program` is what accesses
    the resource and `place` which command of the script that is. `spelled` is the original text
    where it differs, `leads_to` the target of links and `links` those on the way, `unknown` why
    it could not be read.
    """

    verb: str
    resource: str
    argument: str = ""
    program: str = ""
    place: str = ""
    spelled: str = ""
    leads_to: str = ""
    links: tuple[str, ...] = ()
    unknown: str = ""


def resource_uses(effects: CallEffects) -> Iterator[ResourceUse]:
    """Yield what a call does, verb by verb, each access once; those of other programs come last.

    For a script of one command, its place is left out.
    """
    alone = _is_one_command(effects)
    listed: set[ResourceUse] = set()
    for verb in VERBS:
        for item in effects.each(verb):
            use = _use(verb, item, effects)
            anywhere = replace(use, place="")
            if anywhere not in listed:
                listed.add(anywhere)
                yield anywhere if alone else use


def deciding_use(found: DecidingResource, effects: CallEffects) -> tuple[str, str]:
    """Return a resource that determines a test, in canonical form, and the place of its command."""
    item, command = found.item, found.command
    if command is None and isinstance(item.thing, Invocation):
        command = item.thing
    resource = _with_all_below(item) if command is None else command.command.text
    by = item.access.by if command is None and item.access is not None else command
    return resource, "" if by is None or _is_one_command(effects) else _place(by)


def _is_one_command(effects: CallEffects) -> bool:
    commands = (one for command in effects.commands for one in command.walk())
    return len(tuple(islice(commands, 2))) == 1


def _use(verb: str, item: KnownResource, effects: CallEffects) -> ResourceUse:
    thing, access = item.thing, item.access
    if isinstance(thing, Invocation):
        return ResourceUse(verb=verb, resource=item.shown, place=_place(thing))
    spelled = access.text if access is not None and access.text != item.shown else None
    return ResourceUse(
        verb=verb,
        resource=_with_all_below(item),
        argument=_argument(access),
        program=_program(access),
        place="" if access is None or access.by is None else _place(access.by),
        spelled=spelled or "",
        leads_to=_leads_to(thing),
        links=_links(item, effects),
        unknown=thing.reason if isinstance(thing, Unreadable) else "",
    )


def _with_all_below(item: KnownResource) -> str:
    below = isinstance(item.thing, Path) and item.thing.tree
    return f"{item.shown} and all below" if below else item.shown


def _leads_to(thing: object) -> str:
    if not isinstance(thing, Path) or thing.resolved in (None, thing.lexical):
        return ""
    return thing.resolved or ""


def _links(item: KnownResource, effects: CallEffects) -> tuple[str, ...]:
    if item.access is None or not isinstance(item.thing, Path):
        return ()
    return links_passed(item.thing, effects.folder(item.access.folders))


def _argument(access: Access | None) -> str:
    if access is None or not access.steps:
        return ""
    return "input" + "".join("[*]" if step == "*" else f".{step}" for step in access.steps)


def _program(access: Access | None) -> str:
    if access is None or access.by is None:
        return ""
    program = " ".join(access.by.program) or "an unknown program"
    by = quote(program[:_LONGEST_WORD])
    return f"a redirection of {by}" if access.origin == "redirection" else by


def _place(command: Invocation) -> str:
    simple = command.command
    number = simple.number
    count = _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th"
    return " inside ".join((f"{count} command", *map(quote, reversed(simple.inside))))
