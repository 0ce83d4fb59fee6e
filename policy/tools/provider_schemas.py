"""Definitions of tools in the forms that the interfaces of model providers take."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, get_args

from policy.model import thaw
from policy.tools.service import ToolDefinition
from policy.values import quote

Provider: TypeAlias = Literal["openai", "openai-responses", "anthropic", "gemini"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)

_APPROVAL = "A call may wait for an approval."
# What each provider allows in the name of a tool, and the same in words.
_NAME = (re.compile(r"[a-zA-Z0-9_-]{1,64}"), "1 to 64 letters, digits, `_` and `-`")
_GEMINI_NAME = (
    re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}"),
    "1 to 64 letters, digits, `_`, `.` and `-`, and begins with a letter or `_`",
)


def provider_schemas(
    definitions: Iterable[ToolDefinition], provider: Provider = "openai"
) -> list[dict[str, Any]]:
    """Return the definitions as a provider's interface takes them, as plain JSON values.

    `openai` is the form of Chat Completions, which many other servers take as well, and
    `openai-responses` that of the Responses API: https://developers.openai.com/api/docs/guides/function-calling

    `anthropic`: https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools

    `gemini` are function declarations, for `tools: [{"functionDeclarations": […]}]`:
    https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1beta1/FunctionDeclaration

    Raises ValueError for another provider, and for a tool whose name the provider does not accept.
    """
    if provider not in PROVIDERS:
        raise ValueError(f"a provider is one of {', '.join(PROVIDERS)}, not {provider!r}")
    found = tuple(definitions)
    allowed, words = _GEMINI_NAME if provider == "gemini" else _NAME
    refused = [quote(one.name) for one in found if not allowed.fullmatch(one.name)]
    if refused:
        raise ValueError(
            f"{provider} does not accept {', '.join(refused)} as the name of a tool: "
            f"a name has {words}"
        )
    return [_in_form(one, provider) for one in found]


def _in_form(tool: ToolDefinition, provider: Provider) -> dict[str, Any]:
    named = {"name": tool.name, "description": _description(tool)}
    schema: dict[str, Any] = {"type": "object", **thaw(tool.parameters)}
    strict = {"strict": True} if tool.strict else {}
    match provider:
        case "openai":
            return {"type": "function", "function": {**named, "parameters": schema, **strict}}
        case "openai-responses":
            # Left out, it would mean true.
            return {"type": "function", **named, "parameters": schema, "strict": tool.strict}
        case "anthropic":
            return {**named, "input_schema": schema, **strict}
        case "gemini":
            return {**named, "parametersJsonSchema": schema}


def _description(tool: ToolDefinition) -> str:
    description = " ".join(
        part for part in (tool.description, _APPROVAL if tool.may_ask else "") if part
    )
    return "\n\n".join(part for part in (description, tool.llm_context) if part)
