"""Makes each connection of a confined program a call of its own, and opens it.

The call is judged, asked about, limited and recorded like any other one, as a part of the call that
started the program.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace

from policy.catalog import SANDBOX_CONNECT, ToolSpec, builtin_catalog
from policy.model import Execution, GenerationId, NotFound, PermissionDenied, ToolError, Transport
from policy.sandbox import NotPermitted, NotReached, Peer, Target, dial, is_public, open_one
from policy.service.in_flight import InFlight, enclosing_call
from policy.service.judging.running_call import RunningCall
from policy.tools import (
    ExecutionContext,
    ToolDefinition,
    ToolHandler,
    ToolService,
    addresses_of,
    define,
)
from policy.values import Unreadable, is_localhost, read_endpoint

# Of a name with more addresses than this, the first ones are tried.
_MOST = 8


@dataclass(slots=True)
class _Opening:
    """A connection that is asked for; the call that opens it puts it here.

    `judged_by` is the policy that allowed it. `refusal` is why a name may not be
    connected to by the addresses that it has.
    """

    peer: Peer | None = None
    refusal: PermissionDenied | None = None
    judged_by: GenerationId | None = None

    def close(self) -> None:
        """Close what was opened, of a call that has failed in spite of it."""
        if self.peer is not None:
            self.peer.abort()


_OPENING: ContextVar[_Opening | None] = ContextVar("placet_opening", default=None)
# Whether the program that connects installs packages for a call, and is not the call's own.
_INSTALLS: ContextVar[bool] = ContextVar("placet_installs", default=False)


class JudgedConnections:
    """Connects a program to the hosts that calls of `tools` may connect to.

    `in_force` returns the policy that decides at that time. A program that `installs` packages for
    the running call reaches the hosts of their index.
    """

    def __init__(
        self,
        tools: ToolService,
        in_force: Callable[[], GenerationId | None],
        *,
        installs: bool = False,
    ) -> None:
        self._tools = tools
        self._in_force = in_force
        self._installs = installs

    async def __call__(self, target: Target) -> Peer:
        """Return a connection; raise NotPermitted or NotReached."""
        opening = _Opening()
        token, installs = _OPENING.set(opening), _INSTALLS.set(self._installs)
        try:
            await self._tools.execute(SANDBOX_CONNECT, {"url": target.url})
        except PermissionDenied as error:
            opening.close()
            raise _not_permitted(error) from error
        except ToolError as error:
            opening.close()
            if opening.refusal is not None:
                raise _not_permitted(opening.refusal) from error
            raise NotReached(error.message) from error
        except BaseException:
            opening.close()
            raise
        finally:
            _OPENING.reset(token)
            _INSTALLS.reset(installs)
        if opening.peer is None:
            raise NotReached("no connection was opened")
        call = enclosing_call()

        def is_judged() -> bool:
            return self._in_force() == opening.judged_by and not _is_stopped(call)

        return replace(opening.peer, is_judged=is_judged)


def _not_permitted(error: PermissionDenied) -> NotPermitted:
    deciding = () if error.decision is None else error.decision.deciding
    return NotPermitted(error.message, rule=next((reason.rule for reason in deciding), ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxConnectHandler:
    """Opens a connection for a program; for everybody else there is no such tool."""

    spec: ToolSpec
    definition: ToolDefinition
    defined_at: str = "Placet itself"
    error_text: bool = False

    async def invoke(self, input: dict[str, str], ctx: ExecutionContext) -> dict[str, str]:
        """Connect to an address that the call was judged by."""
        name, opening = self.spec.name, _OPENING.get()
        if opening is None:
            raise NotFound(name, f"no tool is called `{name}` here")
        endpoint = read_endpoint(input["url"])
        if isinstance(endpoint, Unreadable):
            raise Execution(name, endpoint.reason)
        found = await addresses_of(endpoint, ctx.facts.resolvers.host)
        if not found:
            raise Transport(name, "its name does not resolve")
        if endpoint.address is None and not is_localhost(endpoint.host):
            own = [address for address in found if not is_public(address)]
            found = tuple(address for address in found if address not in own)
            if not found:
                try:
                    await self._to_own(own, endpoint.scheme, endpoint.port, ctx)
                except PermissionDenied as error:
                    opening.refusal = error
                    raise
                return {}
        opening.judged_by = None if ctx.decision is None else ctx.decision.generation
        try:
            opening.peer = await open_one(found, endpoint.port, dial=dial)
        except NotReached as error:
            raise Transport(name, str(error)) from error
        return {}

    async def _to_own(
        self, addresses: list[str], scheme: str, port: int, ctx: ExecutionContext
    ) -> None:
        """Connect to an address that is not of the internet, if it may be named itself.

        Whoever owns a name could otherwise lead a program to this machine, or into its network.
        """
        assert ctx.tools is not None  # an opening is asked of a service
        *others, last = addresses[:_MOST]
        for address in others:
            try:
                await ctx.tools.execute(SANDBOX_CONNECT, {"url": _url(scheme, address, port)})
            except ToolError:
                continue
            return
        await ctx.tools.execute(SANDBOX_CONNECT, {"url": _url(scheme, last, port)})


def _url(scheme: str, address: str, port: int) -> str:
    host = f"[{address}]" if ":" in address else address
    return f"{scheme}://{host}:{port}"


def sandbox_connect_handler() -> ToolHandler:
    """Return the handler of connections of confined programs."""
    spec = next(each for each in builtin_catalog().specs if each.name == SANDBOX_CONNECT)
    return SandboxConnectHandler(spec=spec, definition=define(spec))


def running_call() -> RunningCall | None:
    """Return the call whose program connects, None if none does."""
    call: InFlight | None = enclosing_call()
    while call is not None:
        judgement = call.judgement
        if judgement is not None and judgement.decision.call.tool != SANDBOX_CONNECT:
            return call.running(judgement, installs=_INSTALLS.get())
        call = call.enclosing
    return None


def _is_stopped(call: InFlight | None) -> bool:
    """Return whether people have frozen the tool of a running call, or all connections."""
    judgement = None if call is None else call.judgement
    by = None if judgement is None else judgement.by
    return (
        judgement is not None
        and by is not None
        and by.is_frozen((*judgement.names, SANDBOX_CONNECT))
    )


def connections_of_running_call(
    in_force: Callable[[], GenerationId | None], *, installs: bool = False
) -> JudgedConnections | None:
    """Return what connects the program that a running call starts; None outside of all calls.

    `in_force` returns the policy that decides at that time. `installs`: the program installs
    packages for the call.
    """
    call = enclosing_call()
    tools = None if call is None or call.context is None else call.context.tools
    return None if tools is None else JudgedConnections(tools, in_force, installs=installs)
