"""What a call of a plugin's tool may touch: what manifest, grant and rule share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from policy.generation import Network, SandboxSettings
from policy.model import ConfinedVerb, Confinement, GenerationId, SandboxTier
from policy.plugins.access import SharedAccess
from policy.plugins.connections import CallConnections
from policy.runtime import Threads
from policy.sandbox import CannotConfine, ProtectedPaths, SandboxPlan, plan_of, unenforced

_FRESH, _MOST_PLANS = 1.0, 100  # seconds, and how many are kept
_THREADS = Threads("looking for what rules keep from plugins", most=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInForce:
    """What each plan has to keep to by the policy in force.

    `generation` is that policy, `protected` what it keeps from all code, and `search` how many
    files are looked at for those that rules name by wildcards.
    """

    generation: GenerationId | None = None
    protected: ProtectedPaths = field(default_factory=ProtectedPaths)
    search: int = SandboxSettings().search


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSandbox:
    """The sandbox of one plugin; `tier` is what confines its code.

    `folder` holds its own files, which may always be read; None for a module, which has none.
    """

    tier: SandboxTier
    access: SharedAccess
    folder: str | None
    in_force: Callable[[], PlanInForce]
    _plans: dict[tuple[Confinement | None, PlanInForce], tuple[float, SandboxPlan]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def connections(self, network: Network) -> CallConnections:
        """Return what connects a call that may use this much of the network."""
        return CallConnections(self.access, network, in_force=lambda: self.in_force().generation)

    async def plan_for(self, confinement: Confinement | None) -> SandboxPlan:
        """Return a plan like `plan`, which may be a second old.

        Where files are looked for on the disk, that is done in a thread.
        """
        key, now = (confinement, self.in_force()), time.monotonic()
        made = self._plans.get(key)
        if made is not None and now - made[0] < _FRESH:
            return made[1]
        bounds = () if confinement is None else (confinement.reads, confinement.writes)
        if any(bound is not None and bound.without for bound in bounds):
            plan = await _THREADS.run(self.plan, confinement)
        else:
            plan = self.plan(confinement)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[key] = now, plan
        return plan

    def plan(self, confinement: Confinement | None) -> SandboxPlan:
        """Return what code may touch that runs by a confinement; raise CannotConfine.

        None: what the plugin may touch at most.
        """
        problem = unenforced(confinement, self.tier)
        if problem is not None:
            raise CannotConfine(problem)
        home, now = os.path.expanduser("~"), self.in_force()
        plan = plan_of(
            self.access.reach,
            folder=self.folder or "/",
            home=home,
            workspace=None,
            kept=now.protected.files,
            confinement=confinement,
            search=now.search,
            private=now.protected.private,
            writable=now.protected.writable,
            # A module has no programs or libraries.
            sees_system=self.folder is not None,
        )
        if self.folder is None:
            return plan
        own = os.path.realpath(self.folder)
        return replace(plan, reads=tuple(sorted({*plan.reads, own})))


def sandbox_of_program(
    access: SharedAccess, *, driver: str, folder: str, in_force: Callable[[], PlanInForce]
) -> PluginSandbox:
    """Return the sandbox of a plugin that is a program, which `driver` confines."""
    tier = tier_of_program(access, driver=driver)
    return PluginSandbox(tier=tier, access=access, folder=folder, in_force=in_force)


def sandbox_of_module(
    access: SharedAccess, *, in_force: Callable[[], PlanInForce]
) -> PluginSandbox:
    """Return the sandbox of a WebAssembly module: it reaches what it is handed, and no more."""
    return PluginSandbox(tier=tier_of_module(), access=access, folder=None, in_force=in_force)


def tier_of_program(access: SharedAccess, *, driver: str) -> SandboxTier:
    """Return what confines a plugin's program, and which verbs it enforces."""
    verbs: set[ConfinedVerb] = {"reads", "writes"}
    if access.reach.network != "all":
        verbs.add("connects")
    return SandboxTier(name=driver, enforces=frozenset(verbs))


def tier_of_module() -> SandboxTier:
    """Return what confines a module: the runtime, by which it does everything."""
    return SandboxTier(name="wasm", enforces=frozenset({"reads", "writes", "connects"}))
