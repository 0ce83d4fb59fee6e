"""What a call does, as far as its arguments tell: declared arguments and taken-apart commands.

In sight are declared arguments and the redirections of commands. The words of a command whose
program has no profile, and every text of a tool whose resources are not declared complete, are
only *possible* resources. What stands in the call but cannot be read is kept, as `Unreadable`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from policy.catalog import Resource
from policy.program.evaluation import DeclaredResources, Evaluation
from policy.program.truth import Undecided, Value
from policy.values import (
    Endpoint,
    Path,
    PathContext,
    Script,
    SimpleCommand,
    Unreadable,
    after_cd,
    harmless_redirection,
    read_endpoint,
    read_path,
    read_recipient,
    read_script,
)

Thing: TypeAlias = Path | Endpoint | SimpleCommand | str | Unreadable


@dataclass(frozen=True, slots=True)
class Item:
    """One resource in sight: what it is, how it is shown to people, and where it stands.

    `hidden` is what a command may do through other commands that are not in sight.
    """

    thing: Thing
    shown: str
    origin: Literal["argument", "redirection", "hidden"] = "argument"


@dataclass(frozen=True, slots=True)
class Word:
    """A text that may be a resource, and the folder it stands in.

    `names_host` says that the program may take a bare word as a host, `of_command` that it is a
    word of a command whose program has no profile, not a text of a tool.
    """

    text: str
    paths: PathContext
    names_host: bool
    of_command: bool = True


class Effects:
    """The effects of one call, by verb.

    `absent` holds the verbs whose declared arguments are all absent. `possible` are texts that
    may be any resource; `words` the same for words of commands, and
    `commands` the commands whose words may be commands again.
    """

    __slots__ = ("absent", "commands", "complete", "items", "possible", "unseen", "words")

    def __init__(self, declared: DeclaredResources) -> None:
        self.items: dict[str, list[Item]] = {}
        self.absent: set[str] = set()
        self.complete = declared.complete
        self.possible: tuple[str, ...] = ()
        self.words: list[Word] = []
        self.commands: list[SimpleCommand] = []
        self.unseen = declared.unseen

    def of(self, verb: str) -> list[Item]:
        """Return the resources in sight that the call `verb`."""
        return self.items.get(verb, [])

    def listed(self, verb: str) -> Value:
        """Return the resources of a verb as canonical texts; undecidable if any is not known."""
        if not self.complete:
            return Undecided("the resources of this tool are not declared complete")
        if verb != "runs" and self.words:
            return Undecided("a program without a profile may use any of its words")
        for item in self.of(verb):
            if isinstance(item.thing, Unreadable):
                return Undecided(item.thing.reason)
        return tuple(item.shown for item in self.of(verb))

    def has(self, verb: str, *, beyond: frozenset[str] = frozenset()) -> bool:
        """Tell whether the call may have an effect of this kind.

        `beyond` names origins whose effects something else covers: `hidden` stands for all that
        comes from the words of commands.
        """
        if not self.complete or any(item.origin not in beyond for item in self.of(verb)):
            return True
        return verb != "runs" and bool(self.words) and "hidden" not in beyond


def read_effects(call: Evaluation, declared: DeclaredResources) -> Effects:
    """Take the call's input apart by what the layer knows of the tool's arguments."""
    effects = Effects(declared)
    present: dict[str, bool] = {}
    for resource in declared.resources:
        leaves = list(_leaves(call.input, resource.steps))
        present[resource.verb] = present.get(resource.verb, False) or bool(leaves)
        for leaf in leaves:
            _read_leaf(effects, call, resource, leaf=leaf)
    effects.absent = {verb for verb, found in present.items() if not found}
    if not declared.complete:
        effects.possible = tuple(_texts(call.input))
    return effects


def _leaves(value: Any, steps: tuple[str, ...]) -> Iterator[Any]:
    """Yield what stands at `steps`, through lists; null counts as absent."""
    if value is None:
        return
    if isinstance(value, tuple):
        for item in value:
            yield from _leaves(item, steps[1:] if steps and steps[0] == "*" else steps)
        return
    if not steps:
        yield value
    elif steps[0] == "*":
        yield from _leaves(value, steps[1:])
    elif isinstance(value, Mapping):
        yield from _leaves(value.get(steps[0]), steps[1:])
    else:
        yield Unreadable(reason="a value of another type stands in the way of a resource")


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            pending.extend(item.values())
        elif isinstance(item, tuple):
            pending.extend(item)


def _read_leaf(effects: Effects, call: Evaluation, resource: Resource, *, leaf: Any) -> None:
    verb = resource.verb
    if not isinstance(leaf, str):
        opaque = leaf if isinstance(leaf, Unreadable) else Unreadable(reason="not a text")
        _add_unreadable(effects, verb, opaque)
        return
    if verb == "runs":
        _read_commands(effects, call, leaf)
        return
    tree = resource.tree or bool(resource.tree_field and call.input.get(resource.tree_field))
    thing = read_resource(verb, leaf, call.paths)
    if tree and isinstance(thing, Path):
        thing = replace(thing, tree=True)
    _add(effects, verb, Item(thing, shown(thing, leaf)))


def read_resource(verb: str, text: str, paths: PathContext) -> Path | Endpoint | str | Unreadable:
    """Read a text as what the verb is about: a path, an endpoint or a recipient."""
    if verb in ("reads", "writes"):
        return read_path(text, paths)
    if verb == "connects":
        return read_endpoint(text)
    recipient = read_recipient(text)
    # A receiver need not be an e-mail address: a channel or account is compared as text.
    return text if isinstance(recipient, Unreadable) else recipient


def shown(thing: Thing, text: str) -> str:
    """Return the canonical text of a resource."""
    match thing:
        case Path(lexical=lexical):
            return lexical
        case Endpoint(host=host):
            return host
        case SimpleCommand(text=command):
            return command
        case str():
            return thing
        case _:
            return text


def _add(effects: Effects, verb: str, item: Item) -> None:
    effects.items.setdefault(verb, []).append(item)


def _add_unreadable(effects: Effects, verb: str, why: Unreadable) -> None:
    # Commands that cannot be read may touch anything.
    verbs = ("runs", "reads", "writes", "connects", "sends") if verb == "runs" else (verb,)
    for one in verbs:
        _add(effects, one, Item(why, "(unreadable)"))


def _read_commands(effects: Effects, call: Evaluation, text: str) -> None:
    script: Script | Unreadable = read_script(text)
    if isinstance(script, Unreadable):
        _add_unreadable(effects, "runs", script)
        return
    for command in script.commands:
        paths = after_cd(command.folders, call.paths)
        _add(effects, "runs", Item(command, command.text))
        effects.unseen = effects.unseen or command.unseen
        _read_redirections(effects, command, paths)
        if command.hides:
            for verb in ("reads", "writes", "connects", "sends"):
                _add(effects, verb, Item(_HIDDEN, "(out of sight)", "hidden"))
        if not command.free:
            # The program itself is a file; what it is given may be hosts.
            effects.words.extend(
                Word(word, paths, place > 0 and command.names_hosts)
                for place, word in enumerate(command.words)
            )
            effects.commands.append(command)
        effects.words.extend(
            Word(value, paths, names_host=True) for _, value in command.assignments
        )


def _read_redirections(effects: Effects, command: SimpleCommand, paths: PathContext) -> None:
    for redirection in command.redirections:
        if harmless_redirection(redirection):
            continue
        thing = read_path(redirection.target, paths)
        item = Item(thing, shown(thing, redirection.target), "redirection")
        if "<" in redirection.op:
            _add(effects, "reads", item)
        if ">" in redirection.op:
            _add(effects, "writes", item)


_HIDDEN = Unreadable(reason="the program runs other commands, which are not in sight")
