"""`Evaluation`: one call being judged, and what conditions read of it, each worked out once.

An `Evaluation` is used by one decision in one thread and then dropped. It is the only mutable
object in the core: a cache of values derived from its frozen parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

from policy.catalog import ToolSpec
from policy.evaluation.call_sandbox import verbs_within_sandbox
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effect_reader import read_effects
from policy.evaluation.effects import CallEffects
from policy.evaluation.truth import ABSENT, Unknown, Value
from policy.model import (
    Caller,
    DiskAnswer,
    DiskQuery,
    Facts,
    HasOtherNames,
    History,
    Identify,
    ResolveHost,
    UserSaid,
    history_of,
)
from policy.values import PathContext, UserMessages, kept_messages

_NOT_RUN = Unknown("the tool has not run")

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")
_PLACES_REMEMBERED = 64
_MESSAGES_REMEMBERED = 8
_NOT_HEARD = Unknown("what the user wrote is not known", about="said")


class Evaluation:
    """The call (`spec`, `input`), one caller of its chain, and the facts.

    `hosts` resolves host names; without it, names are compared as names. `known_effects` caches the
    results of `effects`, and `known_payers` by field what limits count by, with its size.
    """

    __slots__ = (
        "_history",
        "_layers",
        "_paths",
        "_said",
        "bound_elements",
        "caller",
        "facts",
        "hosts",
        "input",
        "known_effects",
        "known_payers",
        "locals",
        "result",
        "spec",
    )

    def __init__(
        self, spec: ToolSpec, input: Mapping[str, Any], *, caller: Caller, facts: Facts, slots: int
    ) -> None:
        self.spec = spec
        self.input = input
        self.caller = caller
        self.facts = facts
        self.locals: list[Value] = [ABSENT] * slots
        # Elements that a condition on lists has bound to its variables so far; None outside of one.
        self.bound_elements: int | None = None
        self.known_effects: dict[DeclaredResources, CallEffects] = {}
        self.known_payers: dict[Hashable, tuple[int, tuple[str | None, ...] | str]] = {}
        self._layers: list[tuple[DeclaredResources, CallEffects]] = []
        self._paths: PathContext | None = None
        self._history: History | None = None
        self._said: UserMessages | Unknown | None = None
        # What the tool has returned: known only to conditions that are evaluated afterwards.
        self.result: Value = _NOT_RUN
        host = facts.resolvers.host
        self.hosts: ResolveHost | None = None if host is None else _Remembered(host, None)

    def for_caller(self, caller: Caller) -> Evaluation:
        """Return the call for another caller of its chain; effects are shared."""
        other = Evaluation(
            self.spec, self.input, caller=caller, facts=self.facts, slots=len(self.locals)
        )
        other.known_effects = self.known_effects
        other.known_payers = self.known_payers
        other._layers = self._layers
        other._paths = self._paths
        other._history = self._history
        other._said = self._said
        other.hosts = self.hosts
        return other

    def without_lookups(self) -> Evaluation:
        """Return the call without resolving host names."""
        if self.hosts is None:
            return self
        other = self.for_caller(self.caller)
        other.hosts = None
        return other

    @property
    def paths(self) -> PathContext:
        """The context for paths of this call: its folders and the resolver of links."""
        if self._paths is None:
            facts, disk = self.facts, self.facts.resolvers
            cwd, unknown = self._folder()
            if disk.path is None and disk.folds is None:
                self._paths = _without_disk(cwd, facts.home, facts.workspace, unknown=unknown)
                return self._paths
            self._paths = PathContext(
                cwd=cwd,
                directory_unknown=unknown,
                home=facts.home,
                workspace=facts.workspace,
                resolve=_remembering(disk.path, failing=None),
                folds=_remembering(disk.folds, failing=True),
                repository_above=disk.repository_above,
                look=_remembering(
                    disk.look if disk.path is None else disk.look or _not_seen, failing=None
                ),
                is_folder=_remembering(disk.is_folder, failing=True),
            )
        return self._paths

    def _folder(self) -> tuple[str | None, bool]:
        """Return the folder from which the tool resolves relative paths; True: it is unknown."""
        origin, folders = self.spec.origin, self.facts.server_folders
        if origin.kind != "mcp" or origin.server not in folders:
            return self.facts.cwd, False
        folder = folders[origin.server]
        return folder, folder is None

    @property
    def history(self) -> History | None:
        """The earlier calls of the session tree; None where they are not known."""
        if self._history is None:
            calls, recall = self.facts.history, self.facts.resolvers.history
            if calls is not None:
                self._history = calls if isinstance(calls, History) else history_of(calls)
            elif recall is not None:
                self._history = recall()
        return self._history

    @property
    def said(self) -> UserMessages | Unknown:
        """What the user wrote in the session tree; Unknown says why that is not known."""
        if self._said is None:
            texts, recall = self.facts.said, self.facts.resolvers.said
            if texts is not None:
                self._said = _messages(texts)
            else:
                self._said = _NOT_HEARD if recall is None else _recalled(recall())
        return self._said

    def has_other_names(self) -> HasOtherNames | None:
        """Return the query for files with several names, which is used for writes."""
        return _remembering(self.facts.resolvers.other_names, failing=True)

    def identifies(self) -> Identify | None:
        """Return the query for the device and inode of a file."""
        return _remembering(self.facts.resolvers.identity, failing=None)

    def effects(self, declared: DeclaredResources) -> CallEffects:
        """Return the effects of the call, by the declarations of one layer."""
        found = self.known_effects.get(declared)
        if found is None:
            found = self.known_effects[declared] = self._read_effects(declared)
        return found

    def _read_effects(self, declared: DeclaredResources) -> CallEffects:
        """Read the effects, unless another layer with the same declarations has done so."""
        for known, effects in self._layers:
            if known.says_the_same(declared):
                return effects
        effects = read_effects(self.input, declared, self.paths, other_names=self.has_other_names())
        if not effects.complete and self.facts.sandbox is not None:
            effects.within_sandbox = verbs_within_sandbox(self.spec, self.facts)
        self._layers.append((declared, effects))
        return effects


@lru_cache(maxsize=_PLACES_REMEMBERED)
def _without_disk(
    cwd: str | None, home: str | None, workspace: str | None, *, unknown: bool
) -> PathContext:
    """Return the path context without any access to a disk."""
    return PathContext(cwd=cwd, directory_unknown=unknown, home=home, workspace=workspace)


def _recalled(found: UserSaid | str) -> UserMessages | Unknown:
    if isinstance(found, str):
        return Unknown(found, about="said")
    if isinstance(found, UserMessages):
        return found
    messages = _messages(found.texts)
    return messages if found.missing is None else messages.without(found.missing)


@lru_cache(maxsize=_MESSAGES_REMEMBERED)
def _messages(texts: tuple[str, ...]) -> UserMessages:
    """Return messages that are looked through for every call of a batch."""
    return kept_messages(texts)


def _not_seen(asked: DiskQuery) -> DiskAnswer | None:
    """Answer for a disk whose links can be followed, but whose folders cannot be listed."""
    return None


def _remembering(
    resolve: Callable[[_Asked], _Answer] | None, *, failing: _Answer
) -> Callable[[_Asked], _Answer] | None:
    """Cache a resolver's answers for one decision, so that all clauses see the same state."""
    return None if resolve is None else _Remembered(resolve, failing)


class _Remembered(Generic[_Asked, _Answer]):
    """A resolver with cached answers.

    If the resolver fails, its answer is unknown, for which `failing` stands. (A class, because
    creating a `functools.cache` costs more than most calls need in all.)
    """

    __slots__ = ("_cached", "_failing", "_resolve")

    def __init__(self, resolve: Callable[[_Asked], _Answer], failing: _Answer) -> None:
        self._resolve = resolve
        self._failing = failing
        self._cached: dict[_Asked, _Answer] = {}

    def __call__(self, name: _Asked) -> _Answer:
        if name not in self._cached:
            try:
                self._cached[name] = self._resolve(name)
            except Exception:  # noqa: BLE001 (after any exception there is no answer)
                self._cached[name] = self._failing
        return self._cached[name]
