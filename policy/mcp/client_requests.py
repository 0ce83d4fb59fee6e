"""What a server asks of the client, as a call that rules judge, and what that call does."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.catalog import CLIENT_REQUESTS, ELICIT, LIST_ROOTS, SAMPLE, ToolSpec, builtin_catalog
from policy.generation import ClientFeature
from policy.mcp.client_forms import BadForm, checked_form, host_of, quoted_message
from policy.mcp.open_calls import ASKED_BY, NotAnswered
from policy.model import Execution, NotFound
from policy.tools import CannotBeAsked, ExecutionContext, ToolDefinition, ToolHandler, define

_LARGEST = 1_000_000  # bytes of JSON for a model
_ELICITATION, _SAMPLING, _ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
_FEATURES: Mapping[str, ClientFeature] = {
    _ELICITATION: "elicitation",
    _SAMPLING: "sampling",
    _ROOTS: "roots",
}
# How the input of a call and the protocol name what a model is told.
_SAMPLED = {
    "messages": "messages",
    "max_tokens": "maxTokens",
    "system_prompt": "systemPrompt",
    "model_preferences": "modelPreferences",
    "temperature": "temperature",
    "stop_sequences": "stopSequences",
}

# The method and parameters of what is sent to the client for the input of a call.
_Sent: TypeAlias = tuple[str, dict[str, Any]]


def call_of(
    server: str, features: frozenset[ClientFeature], method: str, params: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the tool and the input of the call that a server's request is; raise NotAnswered."""
    feature = _FEATURES[method]
    if feature not in features:
        raise NotAnswered(f"the client does not offer {feature}")
    if method == _ROOTS:
        return LIST_ROOTS, {"server": server}
    if method == _SAMPLING:
        if params.get("tools") or params.get("toolChoice"):
            raise NotAnswered("the client does not offer sampling with tools")
        # `includeContext` would show a server what others have said, so it is left out.
        known = {ours: params.get(theirs) for ours, theirs in _SAMPLED.items()}
        return SAMPLE, {"server": server, **_present(known)}
    asked = {"form": params.get("requestedSchema"), "url": params.get("url")}
    return ELICIT, {"server": server, "message": params.get("message", ""), **_present(asked)}


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _elicited(input: Mapping[str, Any]) -> _Sent:
    server, form, url = input["server"], input.get("form"), input.get("url")
    if (form is None) == (url is None):
        raise BadForm("it asks for a form, or for a page to be opened: one of the two")
    if url is None:
        message = quoted_message(server, input["message"], does="asks you")
        return _ELICITATION, {
            "mode": "form",
            "message": message,
            "requestedSchema": checked_form(form or {}),
        }
    does = f"wants you to open a page of the host `{host_of(url)}`"
    message = quoted_message(server, input["message"], does=does)
    # Identifiers of two servers could be the same.
    id = uuid.uuid4().hex
    return _ELICITATION, {"mode": "url", "message": message, "url": url, "elicitationId": id}


def _sampled(input: Mapping[str, Any]) -> _Sent:
    params = {theirs: input[ours] for ours, theirs in _SAMPLED.items() if ours in input}
    if len(json.dumps(params)) > _LARGEST:
        raise BadForm(f"the messages have more than {_LARGEST:,} bytes")
    return _SAMPLING, {**params, "metadata": {"placet": {"server": input["server"]}}}


def _rooted(_: Mapping[str, Any]) -> _Sent:
    return _ROOTS, {}


_SENT: Mapping[str, Callable[[Mapping[str, Any]], _Sent]] = {
    ELICIT: _elicited,
    SAMPLE: _sampled,
    LIST_ROOTS: _rooted,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRequestHandler:
    """Sends what a server asks to the client of the call that the server runs.

    Only for a server that asks: for everybody else there is no such tool.
    """

    spec: ToolSpec
    definition: ToolDefinition
    defined_at: str = "Placet itself"
    error_text: bool = False

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Return the client's result."""
        name = self.spec.name
        requests = None if ctx.client is None else ctx.client.requests
        if ASKED_BY.get() != input["server"]:
            raise NotFound(name, f"no tool is called `{name}` here")
        if requests is None:
            raise Execution(name, "there is no client that could be asked")
        try:
            method, params = _SENT[name](input)
            return await requests.send(method, params)
        except (BadForm, CannotBeAsked) as error:
            raise Execution(name, str(error)) from error


def client_request_handlers() -> tuple[ToolHandler, ...]:
    """Return the handlers of all that servers may ask of clients."""
    return tuple(
        ClientRequestHandler(spec=spec, definition=define(spec))
        for spec in builtin_catalog().specs
        if spec.name in CLIENT_REQUESTS
    )
