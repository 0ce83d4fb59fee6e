"""The plugins that a policy's configuration has Placet run, behind one tool service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from policy.capabilities import PluginRefused, ProcessRuntime, WasmRuntime
from policy.diagnostics import visible
from policy.generation import ConfiningDriver, PluginSettings
from policy.plugins.access import shared_access
from policy.plugins.confining import PlanInForce, sandbox_of_module, sandbox_of_program
from policy.plugins.folder import PluginFolder, copied, read_plugin
from policy.plugins.grants import configured_grants
from policy.plugins.plugin_tool import plugin_tool
from policy.plugins.process_runtime import LauncherFor, PluginProgram, ProcessPlugin
from policy.plugins.registry import PluginRegistry
from policy.plugins.runtime import PluginCode
from policy.plugins.update import copies_folder
from policy.plugins.wasm_runtime import WasmPlugin
from policy.processes import ProgramToStart
from policy.runtime import Threads
from policy.sandbox import (
    CannotConfine,
    ConfinedLauncher,
    ProtectedPaths,
    SandboxPlan,
    driver_named,
    name_in_use,
)
from policy.service import GovernedService, sandbox_connect_handler
from policy.store import PolicyStore, applying_edits

_LOG = logging.getLogger(__name__)
_THREADS = Threads("reading and registering plugins", most=1)
_POLL = 0.2  # seconds
# Returns what starts programs of a plugin, confined by a driver.
Launchers: TypeAlias = Callable[[ConfiningDriver], LauncherFor]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """How a plugin is: what runs it, or why nothing does."""

    runtime: Literal["process", "wasm"] | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    settings: PluginSettings
    report: PluginReport
    code: PluginCode | None = None
    # The names of each tool that a freeze may have.
    tools: tuple[tuple[str, ...], ...] = ()


def confined(driver: ConfiningDriver) -> LauncherFor:
    """Return what starts programs in a sandbox; it starts nothing without one."""
    return ConfinedLauncher(driver_named(driver), _no_plan).with_plan


def _no_plan(program: ProgramToStart) -> SandboxPlan:
    raise CannotConfine("each process of a plugin has a plan of its own")


class ConfiguredPlugins:
    """Runs plugins and keeps their tools in a service; an edit restarts what it changes."""

    def __init__(
        self, service: GovernedService, store: PolicyStore, *, launchers: Launchers = confined
    ) -> None:
        self._service = service
        self._store = store
        self._launchers = launchers
        self._copies = copies_folder()
        self._loaded: dict[str, _Loaded] = {}
        self._changing = asyncio.Lock()
        self._private = () if service.root is None else (service.root,)
        self._last = PlanInForce()
        self.registry = PluginRegistry(service, configured_grants(store), reloads=store)

    def report(self) -> Mapping[str, PluginReport]:
        """Return how each configured plugin is, by name."""
        return {name: loaded.report for name, loaded in sorted(self._loaded.items())}

    async def apply(self) -> None:
        """Run the plugins of the configuration in force, and end the others."""
        async with self._changing:
            wanted = self._configured()
            for name in [n for n, one in self._loaded.items() if not _is_same(wanted.get(n), one)]:
                await self._end(name)
            for name, settings in wanted.items():
                if name not in self._loaded:
                    self._loaded[name] = await self._begin(name, settings)

    async def end_frozen(self) -> None:
        """End what plugins do by themselves, where a freeze with `--cancel` covers all tools."""
        freezing = self._store.freezer.current()
        for loaded in tuple(self._loaded.values()) if freezing else ():
            if loaded.code is not None and all(
                freezing.on(names, cancelling=True) for names in loaded.tools
            ):
                await loaded.code.end_unused()

    async def close(self) -> None:
        """End all plugins."""
        self.registry.stop()
        async with self._changing:
            for name in list(self._loaded):
                await self._end(name)

    def _configured(self) -> dict[str, PluginSettings]:
        generation = self._store.current
        plugins = {} if generation is None else generation.settings.plugins
        return {name: one for name, one in plugins.items() if one.path is not None}

    async def _begin(self, name: str, settings: PluginSettings) -> _Loaded:
        """Run a plugin; what keeps it from running is logged and reported."""
        code: PluginCode | None = None
        try:
            plugin = await _THREADS.run(reviewed, name, settings)
            code = await self._code_of(plugin, settings)
            await code.check()
            tools = {one.name: plugin_tool(name, one, code) for one in plugin.manifest.tools}
            await _THREADS.run(lambda: self.registry.register(plugin.manifest, tools=tools))
        except (PluginRefused, OSError) as error:
            problem = visible(str(error), 500)
            _LOG.error("the plugin %s does not run: %s", visible(name, 80), problem)
            if code is not None:
                await code.close()
            return _Loaded(settings=settings, report=PluginReport(problem=problem))
        runtime = plugin.manifest.runtime
        assert runtime is not None  # `reviewed` refuses it
        return _Loaded(
            settings=settings,
            report=PluginReport(runtime=runtime.type),
            code=code,
            tools=tuple((one.full_name, f"ext {name}/{one.name}") for one in tools.values()),
        )

    async def _code_of(self, plugin: PluginFolder, settings: PluginSettings) -> PluginCode:
        access = shared_access(plugin.manifest.access, settings.reach)
        if access.reach.network != "none":
            self._require_connections()
        # A module does not need it to run; people do who review its next version.
        folder = await _THREADS.run(copied, plugin, self._copies)
        match plugin.manifest.runtime:
            case ProcessRuntime(command=command):
                driver = await _THREADS.run(name_in_use, access.reach.driver)
                return ProcessPlugin(
                    plugin.manifest,
                    PluginProgram(command=command, folder=folder, env=settings.env),
                    sandbox=sandbox_of_program(
                        access, driver=driver, folder=folder, in_force=self._in_force
                    ),
                    launcher_for=self._launchers(access.reach.driver),
                )
            case WasmRuntime(module=module):
                file = plugin.files.get(module)
                if file is None or file.link is not None:
                    raise PluginRefused(f"it has no file `{module}`")
                return WasmPlugin(
                    plugin.manifest,
                    file.content,
                    sandbox=sandbox_of_module(access, in_force=self._in_force),
                    fuel=settings.fuel,
                    env=settings.env,
                )
            case None:
                raise PluginRefused("its manifest has no `runtime`")

    def _in_force(self) -> PlanInForce:
        generation = self._store.current
        if generation is None:
            return PlanInForce(protected=ProtectedPaths(private=self._private))
        if self._last.generation == generation.id:
            return self._last
        search = generation.settings.sandbox.search
        self._last = PlanInForce(
            generation=generation.id,
            protected=ProtectedPaths.of(
                generation, private=self._private, home=self._service.env.get("HOME")
            ),
            search=search,
        )
        return self._last

    def _require_connections(self) -> None:
        """Have the service judge connections: one without built-in tools does not otherwise."""
        registry, handler = self._service.registry, sandbox_connect_handler()
        if handler.spec.name not in registry.snapshot():
            registry.register_known(handler)

    async def _end(self, name: str) -> None:
        loaded = self._loaded.pop(name)
        if loaded.code is None:
            return
        await _THREADS.run(self.registry.unregister, name)
        await loaded.code.close()


def _is_same(wanted: PluginSettings | None, loaded: _Loaded) -> bool:
    """Return whether a plugin runs as configured; its grants are read again without a restart."""
    return wanted is not None and replace(wanted, grant=()) == replace(loaded.settings, grant=())


def reviewed(name: str, settings: PluginSettings) -> PluginFolder:
    """Read a plugin; raise PluginRefused unless it is what people have reviewed."""
    assert settings.path is not None  # else it is not run
    plugin = read_plugin(Path(settings.path))
    if plugin.digest != settings.digest:
        raise PluginRefused(
            f"its files are not those that were reviewed: their digest is {plugin.digest}, and "
            f"placet.toml has {settings.digest}"
        )
    if plugin.manifest.id != name:
        raise PluginRefused(f"it is `{plugin.manifest.id}` by its manifest, not `{name}`")
    if plugin.manifest.runtime is None:
        raise PluginRefused("its manifest has no `runtime`: the host application registers it")
    return plugin


@asynccontextmanager
async def configured_plugins(
    service: GovernedService, store: PolicyStore, *, launchers: Launchers = confined
) -> AsyncIterator[ConfiguredPlugins]:
    """Run the plugins that a policy configures behind a service, until the block ends."""
    plugins = ConfiguredPlugins(service, store, launchers=launchers)
    try:
        async with applying_edits(store, plugins.apply):
            ending = asyncio.create_task(_end_frozen(plugins))
            try:
                yield plugins
            finally:
                ending.cancel()
                await asyncio.gather(ending, return_exceptions=True)
    finally:
        await asyncio.shield(plugins.close())


async def _end_frozen(plugins: ConfiguredPlugins) -> None:
    """Look for freezes, which any process may make, again and again."""
    while True:
        await asyncio.sleep(_POLL)
        try:
            await plugins.end_frozen()
        except Exception:  # noqa: BLE001 - the next look is made whatever this one does
            _LOG.exception("the processes of a frozen plugin could not be ended")
