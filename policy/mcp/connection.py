"""`Connection`: one session with a server, over any transport and in any revision of the protocol.

Lists and results are returned as the server has sent them: the SDK's types would drop what they do
not know, and refuse a whole list or result for one part of it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mcp import Client, MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged
from mcp.types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    EmptyResult,
    InputRequiredResult,
    ListToolsRequest,
    PaginatedRequestParams,
    PingRequest,
    Request,
    RootsListChangedNotification,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel, ValidationError

from policy.mcp.error_text import is_end_of_connection, text_of
from policy.mcp.errors import McpFailure, NotSent, ProtocolError, Uncertain
from policy.mcp.health import Health
from policy.mcp.http import DELIVERY, Delivery
from policy.mcp.input_requests import InputRequests
from policy.mcp.listed_tool import Era, ListedTool, ListFaults
from policy.mcp.offered import Announced
from policy.mcp.offers import Offers
from policy.mcp.open_calls import Asker
from policy.mcp.pages import MOST_PAGES, Pages
from policy.mcp.raw_answers import RawAnswers
from policy.mcp.subscriptions import Subscriptions
from policy.mcp.valid_parts import result_problem, valid_tools
from policy.pins import Definition
from policy.processes import Lost
from policy.tools import ProgressReporter

_LISTENING_AGAIN = 5.0  # seconds
_INPUT_REQUIRED = "input_required"
_NO_INPUT = "the server asks for input from its user, which it cannot be given here"
_MOST_LISTS = 4  # in a row that the server calls outdated
_MOST_ROUNDS = 20  # of a call that is repeated with what its server asked for
_ROUND_PAUSE = 0.25  # seconds before a call is repeated for which its server asks nothing


class _Raw(RootModel[dict[str, Any]]):
    """A result as it was sent."""


class Connection:
    """One session with a server; `lose` ends it, because it cannot be used any more.

    `notes_sending` is whether the transport notes which requests it has sent. `announced` is set
    when the server announces another list of tools in this session. A list is asked for again when
    it is older than `fresh_for` seconds. `inputs` answers what the server asks of the client, None
    if that is nothing. `raw` keeps answers as they are sent. `agreed` are the definitions that are
    known to be those of the last list, by name, and `faults` is what was wrong with that list.
    """

    def __init__(
        self,
        client: Client,
        lose: Lost,
        *,
        raw: RawAnswers,
        notes_sending: bool = False,
        announced: asyncio.Event | None = None,
        fresh_for: float = math.inf,
        inputs: InputRequests | None = None,
    ) -> None:
        self._client = client
        self._raw = raw
        self._inputs = inputs
        self._lose = lose
        self._notes_sending = notes_sending
        self._announced = announced or asyncio.Event()
        self._listing = asyncio.Lock()
        self._fresh_for = fresh_for
        self._listed: tuple[ListedTool, ...] | None = None
        self._listed_at = 0.0
        self.agreed: dict[str, Definition] = {}
        self.faults = ListFaults()
        self.lost_because: str | None = None
        self.offers = Offers(self._page, lambda: client.server_capabilities, fresh_for=fresh_for)
        self.subscriptions = Subscriptions(client, self.ask)
        self.health = Health(self._ask_for_life, self.lost)

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
        self.subscriptions.end()
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
            for _ in range(_MOST_LISTS):
                listed = self._listed
                if listed is not None and not self._announced.is_set() and not self._is_old():
                    return listed
                await self._list()
        raise McpFailure("the server announces another list each time that it is asked for one")

    async def _list(self) -> tuple[ListedTool, ...]:
        self._announced.clear()
        self._listed = None
        found = await Pages().of("tools", self._tools)
        listed, self.faults = valid_tools(found, version=self.protocol_version)
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
            return await self._sent_raw(request)

    async def _sent_raw(
        self, request: Request[Any, Any], progress: ProgressReporter | None = None
    ) -> dict[str, Any]:
        """Return the answer to a request, of whatever form."""
        with self._raw.wanted() as answer:
            sending = self._client.session.send_request(request, _Raw, progress_callback=progress)
            stand_in = await sending
        return stand_in.root if answer.result is None else answer.result

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: ProgressReporter | None = None,
        asker: Asker | None = None,
    ) -> dict[str, Any]:
        """Return the result of a call as the server sends it; raise McpFailure."""
        params = CallToolRequestParams(name=name, arguments=dict(arguments))
        request = CallToolRequest(params=params)
        result = await self.ask(request, progress=progress, asker=asker)
        problem = result_problem(result)
        if problem is not None:
            raise ProtocolError(f"the server's answer is not valid: {problem}")
        return result

    async def ask(
        self,
        request: Request[Any, Any],
        *,
        progress: ProgressReporter | None = None,
        asker: Asker | None = None,
    ) -> dict[str, Any]:
        """Return the answer to a request as the server sends it; raise McpFailure.

        It is sent once, and again only with what the server has asked for. NotSent means that it
        has certainly not run.
        """
        with self.health.counted():
            if asker is not None and self._inputs is not None:
                await self._inputs.settle_roots(self._announce_roots)
            answer = await self._sent(request, progress)
            for _ in range(_MOST_ROUNDS):
                if answer.get("resultType") != _INPUT_REQUIRED:
                    return answer
                params = request.params.model_copy(update=await self._input_for(answer, asker))
                request = request.model_copy(update={"params": params})
                answer = await self._sent(request, progress, again=True)
        raise ProtocolError("the server asks for input again and again")

    async def _sent(
        self, request: Request[Any, Any], progress: ProgressReporter | None, *, again: bool = False
    ) -> dict[str, Any]:
        async def send() -> dict[str, Any]:
            if isinstance(request, CallToolRequest):
                return await self._sent_raw(request, progress)
            sending = self._client.session.send_request(request, _Raw, progress_callback=progress)
            return (await sending).root

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

    async def _input_for(self, answer: Mapping[str, Any], asker: Asker | None) -> dict[str, Any]:
        """Return what the server asks for before it can answer; raise ProtocolError."""
        if self._inputs is None or asker is None:
            raise ProtocolError(_NO_INPUT)
        with self._translated():
            needed = InputRequiredResult.model_validate(answer, by_name=False)
        if not needed.input_requests:
            await asyncio.sleep(_ROUND_PAUSE)
        answers = await self._inputs.answered(needed, asker)
        return {"input_responses": answers, "request_state": needed.request_state}

    async def _announce_roots(self) -> None:
        with self._translated():
            await self._client.session.send_notification(RootsListChangedNotification())

    async def _absorb_list(self) -> None:
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            listed = await self._client.session.list_tools(params=_from(cursor))
            cursor = listed.next_cursor
            if cursor is None:
                return

    async def _ask_for_life(self) -> None:
        session = self._client.session
        with self._translated():
            try:
                if self.era == "stateless":
                    await session.send_discover(self.protocol_version)
                else:
                    await session.send_request(PingRequest(), EmptyResult)
            except MCPError as error:
                if error.error.code == REQUEST_TIMEOUT:
                    raise TimeoutError from error
                raise

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
