"""The catalogue that a policy is checked against: the host's tools, and what it lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from policy.catalog import (
    CODE_EXEC,
    LOCK_FILE,
    PYTHON_EXEC,
    Catalog,
    CatalogError,
    ToolSpec,
    code_exec_spec,
    completed,
    contradictions,
    python_exec_spec,
    read_listing,
)
from policy.diagnostics import Diagnostic, Severity, diagnose, did_you_mean, visible
from policy.generation.folder import Snapshot
from policy.generation.settings import Settings, ToolSettings
from policy.generation.toml_positions import Path, TomlPosition
from policy.generation.walk import SETTINGS_FILE
from policy.model import EMPTY, Span, Verdict
from policy.values import Unreadable, read_json

if TYPE_CHECKING:
    from policy.pins import Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCatalogue:
    """A catalogue, the lock whose tools are in it, and what is wrong with either."""

    catalog: Catalog
    lock: Lock | None
    problems: tuple[Diagnostic, ...]


class Catalogues:
    """The catalogue of one policy; only the changed parts are built again."""

    def __init__(self) -> None:
        self._known: tuple[object, ...] = ()
        self._base: Catalog | None = None
        self._made: MadeCatalogue | None = None

    def of(
        self,
        base: Catalog,
        settings: Settings,
        *,
        snapshot: Snapshot,
        found: Mapping[Path, TomlPosition],
        running: Mapping[str, str] = EMPTY,
    ) -> MadeCatalogue:
        """Return the result of `catalogue`, cached as long as its arguments stay the same."""
        listed = (*settings.catalogue.files, *settings.catalogue.servers.values())
        settled = snapshot.files.get(SETTINGS_FILE)
        lock = snapshot.files.get(LOCK_FILE)
        known = (
            None if settled is None else settled.content,
            None if lock is None else lock.content,
            *(snapshot.files[name].content if name in snapshot.files else name for name in listed),
            *(snapshot.unread.get(name) for name in listed),
            _nearby(snapshot, listed),
            running,
        )
        if self._made is None or base is not self._base or known != self._known:
            self._made = catalogue(base, settings, snapshot=snapshot, found=found, running=running)
            self._base, self._known = base, known
        return self._made


def catalogue(
    base: Catalog,
    settings: Settings,
    *,
    snapshot: Snapshot,
    found: Mapping[Path, TomlPosition],
    running: Mapping[str, str] = EMPTY,
) -> MadeCatalogue:
    """Return `base` with the tools of listed files and of the lock, and with `[tools.…]` added.

    `found` are the positions in `placet.toml`, for diagnostics. `running` are the tools of `base`
    that a program runs, each with the place where it is defined: a list may add to what policies
    know of such a tool of the host application, and not contradict it.
    """
    problems: list[Diagnostic] = []
    catalog = _with_code(base, settings)
    listed: list[tuple[Path, str, str | None]] = [
        (("catalogue", "files"), name, None) for name in settings.catalogue.files
    ]
    listed += [
        (("catalogue", "servers", server), name, server)
        for server, name in settings.catalogue.servers.items()
    ]
    for key, name, server in listed:
        span = found[key].value if key in found else None
        specs = _listed(snapshot, name, server=server, span=span, problems=problems)
        problems += (
            _contradicted(spec.name, running[spec.name], said, name, span)
            for spec in specs
            if spec.name in running and spec.origin.kind == "host"
            for said in _contradictions(spec, base)
        )
        try:
            catalog = catalog.with_tools(_known_as(spec, catalog, running) for spec in specs)
        except CatalogError as error:
            problems.append(_bad(str(error), name, span))
    lock = _lock(snapshot, problems)
    if lock is not None:
        catalog = _pinned(catalog, settings, lock=lock, problems=problems)
    catalog = _reviewed(catalog, settings)
    if settings.catalogue.complete is not None:
        catalog = Catalog(specs=catalog.specs, complete=settings.catalogue.complete)
    problems += _unknown(catalog, settings, found)
    return MadeCatalogue(catalog=_added(catalog, settings), lock=lock, problems=tuple(problems))


def _with_code(catalog: Catalog, settings: Settings) -> Catalog:
    """Return the catalogue with the tools that run code, unless another one has such a name."""
    known = {spec.name for spec in catalog.specs}
    languages, python = settings.service.code.languages, settings.service.python
    specs = []
    if languages and CODE_EXEC not in known:
        specs.append(code_exec_spec(languages))
    if python.enabled and PYTHON_EXEC not in known:
        specs.append(python_exec_spec(most=python.requirements, packages=python.packages))
    return catalog.with_tools(specs) if specs else catalog


def _pinned(
    catalog: Catalog, settings: Settings, *, lock: Lock, problems: list[Diagnostic]
) -> Catalog:
    """Return the catalogue with the tools of the lock as they were accepted.

    What a server declares of itself now is replaced by that, whoever registered it.
    """
    from policy.pins import pinned_specs

    both = sorted({*lock.servers} & {*settings.catalogue.servers})
    problems += (
        _bad_lock(
            f"the tools of `{visible(server, 80)}` are pinned here, and listed in "
            "`[catalogue.servers]`",
            help="keep one of the two: remove the list, or the server from `tools.lock` with "
            "`placet pin forget`",
        )
        for server in both
    )
    try:
        return catalog.with_tools(pinned_specs(lock))
    except CatalogError as error:
        problems.append(_bad_lock(str(error), help="accept only one of the two"))
        return catalog


def _reviewed(catalog: Catalog, settings: Settings) -> Catalog:
    """Return the catalogue in which tools that nobody has reviewed get the verdict of `[pins]`."""
    verdict = settings.pins.new
    if verdict is Verdict.ASK:
        return catalog
    return catalog.with_tools(
        replace(spec, unreviewed=verdict)
        for spec in catalog.specs
        if spec.origin.kind == "mcp" and spec.needs_review
    )


def _lock(snapshot: Snapshot, problems: list[Diagnostic]) -> Lock | None:
    file = snapshot.files.get(LOCK_FILE)
    if file is None:
        return None
    from policy.pins import Lock, read_lock

    read = read_lock(file.content)
    if isinstance(read, Lock):
        return read
    for problem in read:
        place = f"`{visible(problem.place, 200)}`: " if problem.place else ""
        problems.append(_bad_lock(f"{place}{visible(problem.message, 300)}", help=problem.help))
    return None


def _bad_lock(message: str, *, help: str) -> Diagnostic:
    return diagnose("bad-lock", message, file=LOCK_FILE, help=help)


def _known_as(spec: ToolSpec, catalog: Catalog, running: Mapping[str, str]) -> ToolSpec:
    """Return a listed tool as policies know it: one that runs by its own definition.

    Any other gets the model that reads its input, which no list can contain. Without it, a call
    would be judged as received, and run as the tool's own model reads it.
    """
    known = catalog.get(spec.name)
    if known is None or known.name != spec.name:
        return spec
    if spec.name in running and spec.origin == known.origin and spec.origin.kind == "host":
        return completed(known, spec)
    if known.coerce is None or known.schema != spec.schema:
        return spec
    return replace(spec, coerce=known.coerce)


def _contradictions(spec: ToolSpec, base: Catalog) -> tuple[str, ...]:
    known = base.get(spec.name)
    if known is None or known.name != spec.name or known.origin != spec.origin:
        return ()
    return contradictions(spec, known)


def _contradicted(tool: str, place: str, said: str, name: str, span: Span | None) -> Diagnostic:
    return _bad(
        f"`{visible(name, 200)}` lists `{visible(tool, 80)}` otherwise than {visible(place, 200)} "
        f"defines it: {said}",
        name,
        span,
        help="correct the list, or write it anew with `placet catalog export MODULE:OBJECT`",
    )


def _nearby(snapshot: Snapshot, listed: Iterable[str]) -> tuple[str, ...]:
    """Return the files with names similar to those that are listed."""
    if all(name in snapshot.files or name in snapshot.unread for name in listed):
        return ()
    return tuple(file for file in snapshot.files if file.endswith(".json"))


def _listed(
    snapshot: Snapshot,
    name: str,
    *,
    server: str | None,
    span: Span | None,
    problems: list[Diagnostic],
) -> tuple[ToolSpec, ...]:
    if name in snapshot.unread:
        problems.append(snapshot.unread[name])
        return ()
    if name not in snapshot.files:
        help = (
            did_you_mean(name, _nearby(snapshot, (name,)))
            or "paths start at the policy folder, and end in `.json`"
        )
        problems.append(_bad(f"there is no file `{visible(name, 200)}`", name, span, help=help))
        return ()
    read = read_json(snapshot.files[name].content)
    if isinstance(read, Unreadable):
        problems.append(_bad(f"`{visible(name, 200)}`: {read.reason}", name, span))
        return ()
    # A list in the policy folder has been reviewed, as the rules have.
    listing = read_listing(read, server=server, reviewed=True)
    problems.extend(
        _bad(f"`{visible(name, 200)}`: {problem}", name, span) for problem in listing.problems
    )
    return listing.specs


def _bad(message: str, name: str, span: Span | None, *, help: str = "") -> Diagnostic:
    return diagnose(
        "bad-catalogue",
        message,
        span=span,
        file=None if span is not None else visible(name, 200),
        help=help or "list tools as a server answers to `tools/list`",
    )


def _unknown(
    catalog: Catalog, settings: Settings, found: Mapping[Path, TomlPosition]
) -> list[Diagnostic]:
    named: list[Path] = [("tools", name) for name in settings.tools]
    named += [("timeouts", "tools", name) for name in settings.timeouts]
    return [
        diagnose(
            "unknown-tool",
            f"no tool is called `{visible(path[-1], 80)}`",
            span=found[path].key if path in found else None,
            file=SETTINGS_FILE,
            label="not in the catalogue",
            help=did_you_mean(path[-1], catalog.names),
            severity=None if catalog.complete else Severity.WARNING,
        )
        for path in named
        if catalog.get(path[-1]) is None
    ]


def _added(catalog: Catalog, settings: Settings) -> Catalog:
    tools = settings.tools
    if not tools:
        return catalog
    specs = tuple(
        reduce(_with, (tools[name] for name in reversed(spec.names) if name in tools), spec)
        for spec in catalog.specs
    )
    return Catalog(specs=specs, complete=catalog.complete)


def _with(spec: ToolSpec, added: ToolSettings) -> ToolSpec:
    """Return the tool with the configuration's additions; its own declarations stay."""
    return replace(
        spec,
        requires_confirmation=spec.requires_confirmation or added.requires_confirmation,
        exec_class=spec.exec_class if added.exec_class is None else added.exec_class,
        category=spec.category if added.category is None else added.category,
        read_only=spec.read_only if added.read_only is None else added.read_only,
        destructive=spec.destructive if added.destructive is None else added.destructive,
        idempotent=spec.idempotent if added.idempotent is None else added.idempotent,
        resources=tuple(dict.fromkeys((*spec.resources, *added.resources))),
        complete=spec.complete or added.complete,
        unseen=spec.unseen or added.unseen,
    )
