"""Builds a `Generation` from a snapshot, or reports all that is wrong with it.

Nothing is read here: the same snapshot, catalogue and number give the same generation.
"""

from __future__ import annotations

import posixpath
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from policy.catalog import Catalog
from policy.checks import Checked, PolicySources, check
from policy.decision import GenerationId
from policy.diagnostics import Diagnostic, diagnose, has_errors, in_order, visible
from policy.generation.built import Built
from policy.generation.catalogue import Catalogues
from policy.generation.consequences import without_consequences
from policy.generation.data_files import data_files
from policy.generation.decoding import decode
from policy.generation.folder import Snapshot
from policy.generation.generation import Generation
from policy.generation.mcp_files import with_listed_servers
from policy.generation.profiles import profiles_of, program_sources
from policy.generation.protected_files import ProtectedFiles, floor_of
from policy.generation.settings import Settings
from policy.generation.settings_file import read_settings
from policy.generation.shipped import used_packs
from policy.generation.stray_files import stray
from policy.generation.toml_positions import Path, TomlPosition, positions_of
from policy.generation.walk import DATA_SUFFIXES, SETTINGS_FILE
from policy.incremental import Incremental
from policy.layers import merge
from policy.model import EMPTY, Source
from policy.program import ALL_SHORTCUTS, Shortcuts, compile_policy
from policy.syntax import Engine, Parsed, parse, tables_to_layers, tree
from policy.verify import prove, run_examples

# Proves the claims of a build.
Proving: TypeAlias = Callable[[Built, Snapshot], Built]

_Table: TypeAlias = tuple[tree.Binding, tuple[tree.Statement, ...], Source]


_NO_SOURCES: Mapping[str, Source] = MappingProxyType({})
_NOTHING_ELSE = ProtectedFiles()


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What a policy's configuration says, or what is wrong with it, whatever the rules are."""

    settings: Settings
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def build(snapshot: Snapshot, *, catalog: Catalog, number: int, now: datetime) -> Built:
    """Return the build of a snapshot; see `Builder` for repeated builds."""
    return Builder().build(snapshot, catalog=catalog, number=number, now=now)


def configuration(snapshot: Snapshot) -> Configuration:
    """Return the settings of a snapshot, those of listed files included, without its rules."""
    work = _Reading(snapshot=snapshot)
    settings, _, _ = _configuration(work)
    return Configuration(
        settings=settings,
        diagnostics=in_order(work.problems),
        sources=MappingProxyType(dict(work.sources)),
    )


class Builder:
    """Builds generations, and reads and checks only what is new since the last build.

    Without `remembering`, everything is read and checked each time. `engine` is what parses
    statements; `shortcuts` are those of the program. None of these changes the result.
    `guarded` is what no tool may write besides the policy. `running` are the tools that a program
    runs, each with the place where it is defined. Without `testing`, the tests in rule files are
    not run. `proving` proves the claims of what `build` has built from a snapshot.
    """

    def __init__(
        self,
        *,
        guarded: ProtectedFiles = _NOTHING_ELSE,
        remembering: bool = True,
        engine: Engine = "tables",
        shortcuts: Shortcuts = ALL_SHORTCUTS,
        testing: bool = True,
        proving: Proving | None = None,
    ) -> None:
        self.guarded = guarded
        self.running: Mapping[str, str] = EMPTY
        self._memory = Incremental(engine=engine) if remembering else None
        self._engine = engine
        self._shortcuts = shortcuts
        self._testing = testing
        self._proving = proving or _proved
        self._catalogues = Catalogues()

    def build(self, snapshot: Snapshot, *, catalog: Catalog, number: int, now: datetime) -> Built:
        """Return the generation `number`, loaded at `now`, or all that is wrong; never raises."""
        try:
            built = self._build(snapshot, catalog=catalog, number=number, now=now)
            return self._proving(built, snapshot) if built.has_claims else built
        except Exception as error:  # noqa: BLE001 — a bug in Placet must not lose the last good one
            return _without_result(error)

    def build_unproved(
        self, snapshot: Snapshot, *, catalog: Catalog, number: int, now: datetime
    ) -> Built:
        """Return the same, but for its claims: it must not take effect before they are proved."""
        try:
            return self._build(snapshot, catalog=catalog, number=number, now=now)
        except Exception as error:  # noqa: BLE001 — as above
            return _without_result(error)

    def _build(self, snapshot: Snapshot, *, catalog: Catalog, number: int, now: datetime) -> Built:
        work = _Reading(snapshot=snapshot)
        files = self._policies(work)
        if snapshot.policies:
            work.problems += (stray(name, meant) for name, meant in snapshot.strays)
        settings, tables, found = _configuration(work)
        made = self._catalogues.of(
            catalog, settings, snapshot=snapshot, found=found, running=self.running
        )
        tools = made.catalog
        work.problems += made.problems
        if not files and not tables:
            work.problems += _empty(work)
            return work.failed()
        shipped = used_packs(files, engine=self._engine)
        work.sources |= {name: pack.source for name, pack in shipped.items()}
        sources, _ = program_sources(snapshot)
        work.sources |= sources
        profiles, problems = profiles_of(snapshot)
        work.problems += problems
        data, problems = data_files(snapshot, (*files, *shipped.values()))
        work.problems += problems
        checked = self._checked(
            PolicySources(
                files=files,
                shipped=shipped,
                tables=tables,
                data=data,
                context=settings.context,
                binders=settings.binders,
                profiles=profiles,
                groups=EMPTY if settings.approvals is None else settings.approvals.groups,
                retention=settings.history.retention,
            ),
            tools,
            digests=work.digests,
            programs=sources,
        )
        merged = merge(checked.policies, tools)
        work.problems += without_consequences(
            (*checked.diagnostics, *merged.diagnostics),
            work.problems,
            sources=work.sources,
            unread=work.unread,
        )
        if has_errors(work.problems):
            return work.failed()
        floor = floor_of(snapshot, settings, guarded=self.guarded)
        program = compile_policy(
            merged.policy,
            tools,
            floor=floor,
            profiles=profiles,
            shortcuts=self._shortcuts,
            plans=None if self._memory is None else self._memory.plans,
        )
        suites = checked.suites if self._testing else ()
        examples = run_examples(suites, program, catalog=tools) if suites else ()
        work.problems += (problem for result in examples for problem in result.diagnostics)
        generation = Generation(
            id=GenerationId(number=number, digest=snapshot.digest),
            program=program,
            catalog=tools,
            settings=settings,
            warnings=in_order(work.problems),
            digests=work.digests,
            sources=MappingProxyType(dict(work.sources)),
            examples=examples,
            loaded_at=now,
            announced=catalog,
            lock=made.lock,
            floor=floor,
        )
        if has_errors(work.problems):
            return replace(work.failed(), examples=examples, failing=generation)
        return Built(
            generation=generation,
            diagnostics=generation.warnings,
            sources=generation.sources,
            examples=examples,
        )

    def _checked(
        self,
        sources: PolicySources,
        catalog: Catalog,
        *,
        digests: Mapping[str, str],
        programs: Mapping[str, Source],
    ) -> Checked:
        memory = self._memory
        if memory is None:
            return check(sources, catalog)
        run = memory.check_run(sources, catalog, digests=digests, programs=programs)
        checked = check(sources, catalog, memory=run)
        memory.checked(sources.shipped.values())
        return checked

    def _parsed(self, source: Source) -> Parsed:
        if self._memory is None:
            return parse(source, engine=self._engine)
        return self._memory.parse(source)

    def _policies(self, work: _Reading) -> tuple[tree.PolicyFile, ...]:
        """Parse the policy files; of the folder around a single file only the packs count."""
        snapshot = work.snapshot
        trees: list[tree.PolicyFile] = []
        for name in snapshot.policies:
            source, problems = decode(name, snapshot.files[name].content)
            if source is None:
                work.problems += problems if snapshot.only in (None, name) else ()
                work.unread.add(name)
                continue
            parsed = self._parsed(source)
            is_pack = isinstance(parsed.tree.binding_header, tree.PackHeader)
            if snapshot.only not in (None, name) and not is_pack:
                continue
            work.sources[name] = source
            work.problems += parsed.diagnostics
            trees.append(parsed.tree)
        return tuple(trees)


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One build in progress: the problems so far, and the sources they are in.

    `unread` are the files whose contents are not known.
    """

    snapshot: Snapshot
    problems: list[Diagnostic] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    digests: Mapping[str, str] = field(init=False)
    unread: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.digests = self.snapshot.digests
        self.unread = set(self.snapshot.unread)
        self.problems += (
            problem
            for name, problem in self.snapshot.unread.items()
            if not name.endswith(DATA_SUFFIXES) or name.lower() == SETTINGS_FILE
        )

    def failed(self) -> Built:
        return Built(
            generation=None,
            diagnostics=in_order(self.problems),
            sources=MappingProxyType(dict(self.sources)),
        )


def _proved(built: Built, _snapshot: Snapshot) -> Built:
    generation = built.generation
    assert generation is not None, "there are claims only in rules without an error"
    return built.with_proofs(tuple(prove(generation, steps=generation.settings.reload.steps)))


def _without_result(error: Exception) -> Built:
    return Built(generation=None, diagnostics=(unexpected(error),), sources=_NO_SOURCES)


def unexpected(error: Exception) -> Diagnostic:
    """Return the diagnostic of an exception that no stage should raise."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{posixpath.basename(posixpath.dirname(frame.filename))}/{frame.name}"
    return diagnose(
        "internal-error",
        visible(f"building the policy failed in {place}: {type(error).__name__}: {error}", 300),
        help="this is a bug in Placet; please report it with the policy that shows it",
    )


def _empty(work: _Reading) -> tuple[Diagnostic, ...]:
    if work.unread or has_errors(work.problems):
        return ()  # that is what is wrong
    return (
        diagnose(
            "empty-policy",
            f"there is no policy file in `{visible(posixpath.basename(work.snapshot.root))}`",
            help="the names of policy files end in `.policy`, such as `global.policy`; without "
            "any, everything is denied; `placet init` writes a first one",
        ),
    )


def _configuration(
    work: _Reading,
) -> tuple[Settings, tuple[_Table, ...], Mapping[Path, TomlPosition]]:
    file = work.snapshot.files.get(SETTINGS_FILE)
    if file is None:
        return Settings(), (), MappingProxyType({})
    source, problems = decode(SETTINGS_FILE, file.content, drop_mark=True)
    work.problems += problems
    if source is None:
        work.unread.add(SETTINGS_FILE)
        return Settings(), (), MappingProxyType({})
    work.sources[SETTINGS_FILE] = source
    settings, wrong = read_settings(source, root=work.snapshot.root)
    work.problems += wrong
    rules = tables_to_layers(settings.tables, source=source)
    work.problems += rules.diagnostics
    tables = tuple((binding, statements, source) for binding, statements in rules.layers)
    found = positions_of(source)
    settings, wrong = with_listed_servers(settings, work.snapshot, found)
    work.problems += wrong
    return settings, tables, found
