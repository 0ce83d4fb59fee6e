"""`Connection`: one session with a server, over any transport and in any revision of the protocol.

Lists and results are returned as the server has sent them: the SDK's types would drop what they do
not know.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, assert_never

from mcp import Client, MCPError
from mcp.client.session import IncomingMessage, MessageHandlerFnT
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged
from mcp.types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    EmptyResult,
    Implementation,
    InputRequiredResult,
    ListToolsRequest,
    PaginatedRequestParams,
    PingRequest,
    PromptListChangedNotification,
    Request,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel, ValidationError

from policy.generation import HttpServer, McpServer, StdioServer, WebSocketServer
from policy.mcp.error_text import is_end_of_connection, text_of
from policy.mcp.errors import McpFailure, NotSent, ProtocolError, Uncertain
from policy.mcp.http import DELIVERY, Delivery, OAuthTokens, http_streams
from policy.mcp.input_requests import InputRequests
from policy.mcp.listed_tool import Era, ListedTool, frozen
from policy.mcp.offered import Announced, OfferedKind
from policy.mcp.offers import Offers
from policy.mcp.open_calls import Asker, OpenCalls
from policy.mcp.pages import MOST_PAGES, Pages
from policy.mcp.stdio import stdio_streams
from policy.mcp.websocket import websocket_streams
from policy.pins import Definition
from policy.processes import Launcher, Lost, Unavailable
from policy.tools import ProgressReporter
from policy.version import VERSION

_ANSWERING = 10.0  # seconds for the answer to a check
_LISTENING_AGAIN = 5.0  # seconds
_INPUT_REQUIRED = "input_required"
_NO_INPUT = "the server asks for input from its user, which it cannot be given here"
_MOST_ROUNDS = 20  # of a call that is repeated with what its server asked for
_ROUND_PAUSE = 0.25  # seconds before a call is repeated for which its server asks nothing


class _Raw(RootModel[dict[str, Any]]):
    """A result as it was sent."""


class Connection:
    """One session with a server; `lose` ends it, because it cannot be used any more.

    `notes_sending` is whether the transport notes which requests it has sent. `announced` is set
    when the server announces another list of tools in this session. A list is asked for again when
    it is older than `fresh_for` seconds. `inputs` answers what the server asks of the client, None
    if that is nothing. `agreed` are the definitions that are known to be those of the last list, by
    name.
    """

    def __init__(
        self,
        client: Client,
        lose: Lost,
        *,
        notes_sending: bool = False,
        announced: asyncio.Event | None = None,
        fresh_for: float = math.inf,
        inputs: InputRequests | None = None,
    ) -> None:
        self._client = client
        self._inputs = inputs
        self._lose = lose
        self._notes_sending = notes_sending
        self._calls = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._suspected = asyncio.Event()
        self._announced = announced or asyncio.Event()
        self._listing = asyncio.Lock()
        self._fresh_for = fresh_for
        self._listed: tuple[ListedTool, ...] | None = None
        self._listed_at = 0.0
        self.agreed: dict[str, Definition] = {}
        self.lost_because: str | None = None
        self.offers = Offers(self._page, lambda: client.server_capabilities, fresh_for=fresh_for)

    @property
    def protocol_version(self) -> str:
        """The revision of the protocol that both speak."""
        return self._client.protocol_version

    @property
    def era(self) -> Era:
        """Whether the revision has a handshake, or each request stands for itself."""
        modern = self.protocol_version in MODERN_PROTOCOL_VERSIONS
        return "stateless" if modern else "handshake"

    @property
    def instructions(self) -> str | None:
        """What the server says about its use."""
        return self._client.instructions

    @property
    def server_version(self) -> str:
        """The version that the server says it has, empty if it does not say."""
        about = self._client.server_info
        return "" if about is None else about.version

    @property
    def announces_changes(self) -> bool:
        """Whether the server says when its lists of tools, resources or prompts change."""
        has = self._client.server_capabilities
        lists = (has.tools, has.resources, has.prompts)
        return any(each is not None and each.list_changed is True for each in lists)

    def lost(self, why: str) -> None:
        """Note why the session has ended, and end it."""
        if self.lost_because is None:
            self.lost_because = why
        self._lose(why)

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """Ask for all tools; raise McpFailure. Pages, tools and bytes are bounded, time is not."""
        async with self._listing:
            return await self._list()

    async def current_tools(self) -> tuple[ListedTool, ...]:
        """Return the tools of this session, as it has listed them last.

        They are asked for if the session has no list yet, if the server has announced another one,
        and if the last one is too old. Raises McpFailure; then they are listed the next time.
        """
        async with self._listing:
            listed = self._listed
            while listed is None or self._announced.is_set() or self._is_old():
                listed = await self._list()
            return listed

    async def _list(self) -> tuple[ListedTool, ...]:
        self._announced.clear()
        self._listed = None
        entries = await Pages().of("tools", self._tools)
        listed = tuple(ListedTool(name=entry["name"], raw=frozen(entry)) for entry in entries)
        self._listed, self._listed_at = listed, time.monotonic()
        self.agreed.clear()
        return listed

    def _is_old(self) -> bool:
        return time.monotonic() - self._listed_at > self._fresh_for

    async def list_prompts(self) -> tuple[Any, ...]:
        """Return all prompts, none if the server has none; raise McpFailure."""
        return await self.offers.current("prompts")

    async def _tools(self, cursor: str | None) -> dict[str, Any]:
        return await self._page(ListToolsRequest(params=_from(cursor)))

    async def _page(self, request: Request[Any, Any]) -> dict[str, Any]:
        with self._translated():
            return (await self._client.session.send_request(request, _Raw)).root

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: ProgressReporter | None = None,
        asker: Asker | None = None,
    ) -> dict[str, Any]:
        """Return the result of a call as the server sends it; raise McpFailure.

        It is sent once, and again only with what the server has asked for. NotSent means that it
        has certainly not run.
        """
        params = CallToolRequestParams(name=name, arguments=dict(arguments))
        with self._counted():
            result = await self._sent(params, progress)
            for _ in range(_MOST_ROUNDS):
                if result.get("resultType") != _INPUT_REQUIRED:
                    return result
                params = params.model_copy(update=await self._input_for(result, asker))
                result = await self._sent(params, progress, again=True)
        raise ProtocolError("the server asks for input again and again")

    async def _sent(
        self,
        params: CallToolRequestParams,
        progress: ProgressReporter | None,
        *,
        again: bool = False,
    ) -> dict[str, Any]:
        async def send() -> dict[str, Any]:
            result = await self._client.session.send_request(
                CallToolRequest(params=params), _Raw, progress_callback=progress
            )
            return result.root

        try:
            with self._translated():
                try:
                    return await send()
                except MCPError as error:
                    if error.error.code != HEADER_MISMATCH or self.era != "stateless":
                        raise
                    # The server has refused it before running it: it wants arguments as headers
                    # too, which the SDK knows from a list that it has read itself.
                    await self._absorb_list()
                    return await send()
        except NotSent as error:
            if again:  # the first time it was, and something may have run then
                raise Uncertain(str(error)) from error
            raise

    async def _input_for(self, result: Mapping[str, Any], asker: Asker | None) -> dict[str, Any]:
        """Return what the server asks for before a call can end; raise ProtocolError."""
        if self._inputs is None or asker is None:
            raise ProtocolError(
                "the server asks for input from its user, which it cannot be given here"
            )
        with self._translated():
            needed = InputRequiredResult.model_validate(result, by_name=False)
        if not needed.input_requests:
            await asyncio.sleep(_ROUND_PAUSE)
        answers = await self._inputs.answered(needed, asker)
        return {"input_responses": answers, "request_state": needed.request_state}

    async def ask(
        self, request: Request[Any, Any], *, progress: ProgressReporter | None = None
    ) -> dict[str, Any]:
        """Return the answer to a request as the server sends it; raise McpFailure like a call."""
        with self._counted(), self._translated():
            sent = self._client.session.send_request(request, _Raw, progress_callback=progress)
            answer = (await sent).root
        if answer.get("resultType") == _INPUT_REQUIRED:
            raise ProtocolError(
                "the server asks for input from its user, which it cannot be given here"
            )
        return answer

    async def _absorb_list(self) -> None:
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            listed = await self._client.session.list_tools(params=_from(cursor))
            cursor = listed.next_cursor
            if cursor is None:
                return

    async def check(self) -> bool:
        """Return whether the server answers; a session that does not is lost."""
        try:
            with self._translated():
                async with asyncio.timeout(_ANSWERING):
                    await self._ask_for_life()
        except TimeoutError:
            self.lost(f"the server has not answered within {_ANSWERING:g} seconds")
            return False
        except NotSent as error:
            self.lost(str(error))
            return False
        except Uncertain:
            return False  # it has ended, and is lost already
        except McpFailure:
            return True  # an error is an answer
        return True

    async def _ask_for_life(self) -> None:
        session = self._client.session
        try:
            if self.era == "stateless":
                await session.send_discover(self.protocol_version)
            else:
                await session.send_request(PingRequest(), EmptyResult)
        except MCPError as error:
            if error.error.code == REQUEST_TIMEOUT:
                raise TimeoutError from error
            raise

    async def watch_health(self, every: float) -> None:
        """Check the session from time to time, and after a call that was given up.

        A server may serve one call at a time, so it is not checked while calls run.
        """
        while True:
            try:
                async with asyncio.timeout(every):
                    await self._suspected.wait()
            except TimeoutError:
                pass
            self._suspected.clear()
            await self._quiet.wait()
            await self.check()

    async def listen(self, changed: Callable[[], None], announced: Announced) -> None:
        """Report changes of lists, as long as the server announces them; `changed` is of tools."""
        if self.era != "stateless" or not self.announces_changes:
            return  # with a handshake they come as notifications
        while True:
            try:
                async with self._client.listen(
                    tools_list_changed=True, resources_list_changed=True, prompts_list_changed=True
                ) as events:
                    async for event in events:
                        match event:
                            case ResourcesListChanged():
                                announced("resources")
                            case PromptsListChanged():
                                announced("prompts")
                            case _:
                                changed()
            except MCPError:
                return  # the server does not do it
            except SubscriptionLost:
                pass
            await asyncio.sleep(_LISTENING_AGAIN)
            changed()  # what was announced meanwhile is lost
            announced("resources")
            announced("prompts")

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a call that runs; suspect the server of hanging if it is given up."""
        self._calls += 1
        self._quiet.clear()
        try:
            yield
        except asyncio.CancelledError:
            self._suspected.set()
            raise
        finally:
            self._calls -= 1
            if not self._calls:
                self._quiet.set()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise what went wrong by what it means for the request."""
        delivery = Delivery(may_have_left=not self._notes_sending)
        token = DELIVERY.set(delivery)
        try:
            yield
        except MCPError as error:
            if delivery.not_taken is not None:
                raise NotSent(delivery.not_taken) from error
            if error.error.code == CONNECTION_CLOSED:
                if is_end_of_connection(error):
                    self.lost(text_of(error))
                why = self.lost_because or text_of(error)
                raise (Uncertain if delivery.may_have_left else NotSent)(why) from error
            raise ProtocolError(text_of(error)) from error
        except ValidationError as error:
            raise ProtocolError(text_of(error)) from error
        finally:
            DELIVERY.reset(token)


def _from(cursor: str | None) -> PaginatedRequestParams | None:
    return None if cursor is None else PaginatedRequestParams(cursor=cursor)


@asynccontextmanager
async def connected(
    server: McpServer,
    *,
    lost: Lost,
    launcher: Launcher | None = None,
    tokens: OAuthTokens | None = None,
    changed: Callable[[], None] | None = None,
    offers_changed: Announced | None = None,
    listening: bool = True,
    garbage: Callable[[], None] | None = None,
    calls: OpenCalls | None = None,
) -> AsyncIterator[Connection]:
    """Connect to a server and agree with it on a revision of the protocol.

    `changed` is called when the server announces that its list of tools has changed;
    `offers_changed` is the same for resources and prompts. Without `listening`, no subscription is
    opened to hear of it. `garbage` is called for each line of its output that is no message.
    `calls` are those for which the server may ask its client.
    """
    announced = asyncio.Event()
    connection: Connection | None = None

    def end(why: str) -> None:
        if connection is None:
            lost(why)
        else:
            connection.lost(why)

    def announce() -> None:
        announced.set()
        if changed is not None:
            changed()

    def offers_announced(what: OfferedKind) -> None:
        if connection is not None:
            connection.offers.changed(what)
        if offers_changed is not None:
            offers_changed(what)

    inputs = InputRequests(server, calls or OpenCalls()) if server.client_features else None
    client = Client(
        _streams(server, lost=end, launcher=launcher, tokens=tokens or OAuthTokens()),
        mode="auto",
        cache=None,
        message_handler=_hearing(announce, offers_announced, garbage),
        client_info=Implementation(name="placet", version=VERSION),
        **({} if inputs is None else inputs.callbacks()),
    )
    try:
        async with client:
            over_http = isinstance(server.transport, HttpServer)
            connection = Connection(
                client,
                lost,
                notes_sending=over_http,
                announced=announced,
                fresh_for=server.check,
                inputs=inputs,
            )
            work: list[Coroutine[Any, Any, None]] = [connection.watch_health(server.check)]
            if changed is not None and listening:
                work.append(connection.listen(announce, offers_announced))
            async with _beside(work):
                yield connection
    except Exception as error:
        why = text_of(error)
        end(why)
        raise Unavailable(why) from error


def _hearing(
    changed: Callable[[], None], announced: Announced, garbage: Callable[[], None] | None
) -> MessageHandlerFnT:
    """Return what is told of each message that a server sends by itself."""

    async def hear(message: IncomingMessage) -> None:
        match message:
            case ToolListChangedNotification():
                changed()
            case ResourceListChangedNotification():
                announced("resources")
            case PromptListChangedNotification():
                announced("prompts")
            case Exception() if garbage is not None:
                garbage()
            case _:
                pass

    return hear


def _streams(
    server: McpServer, *, lost: Lost, launcher: Launcher | None, tokens: OAuthTokens
) -> AbstractAsyncContextManager[Any]:
    transport = server.transport
    match transport:
        case StdioServer():
            return stdio_streams(transport, name=server.name, launcher=launcher, lost=lost)
        case HttpServer():
            return http_streams(transport, tokens=tokens)
        case WebSocketServer():
            return websocket_streams(transport, lost=lost)
        case _:
            assert_never(transport)


@asynccontextmanager
async def _beside(work: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run coroutines until the block ends."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
