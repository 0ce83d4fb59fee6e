"""What `check` takes and returns: `PolicySources` and `Checked`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias

from policy.checks.checked import CheckedPolicy, ExampleSuite
from policy.diagnostics import Diagnostic
from policy.model import EMPTY, Source
from policy.programs import NO_PROFILES, Profiles
from policy.syntax import tree

# The values of a folder's entry in `binders`: which headers its files may have.
BINDER_KINDS = ("every", "agent", "agents", "role")

# Files under `agents/` are for some agents, so they may not apply to all.
DEFAULT_BINDERS: Mapping[str, tuple[str, ...]] = {"agents": ("agent", "agents", "role")}

Table: TypeAlias = tuple[tree.Binding, tuple[tree.Statement, ...], Source]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySources:
    """All parsed sources of one generation.

    `files` are all `*.policy` files of the folder, packs included; `shipped` the packs that come
    with Placet, by `placet:NAME`. `tables` come from `placet.toml`: the agents each applies to, its
    rules and its text. `data` holds parsed data files by their path relative to the policy folder,
    `context` the declared `context.…` facts with their types. `binders` says which kinds of header
    a folder's files may have (`every agent agents role`); None stands for `DEFAULT_BINDERS`.
    `profiles` are the profiles of programs that command patterns name. `groups` are the configured
    groups of approvers with their members. `retention` is for how long earlier calls are kept,
    None: as long as there is room.
    """

    files: tuple[tree.PolicyFile, ...] = ()
    shipped: Mapping[str, tree.PolicyFile] = field(default_factory=lambda: EMPTY)
    tables: tuple[Table, ...] = ()
    data: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    context: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    binders: Mapping[str, tuple[str, ...]] | None = None
    profiles: Profiles = NO_PROFILES
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)
    retention: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The layers, the global one first and the others by key; with errors they may be partial."""

    policies: tuple[CheckedPolicy, ...]
    suites: tuple[ExampleSuite, ...]
    diagnostics: tuple[Diagnostic, ...]
