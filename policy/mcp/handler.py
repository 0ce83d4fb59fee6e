"""`McpHandler`: a tool of an MCP server, under the name `server__tool`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from policy.catalog import ToolSpec
from policy.mcp.client import McpClient
from policy.mcp.errors import NotSent, ProtocolError, Redefined, Uncertain
from policy.mcp.judged import Judged
from policy.mcp.open_calls import Asker
from policy.mcp.server_sandbox import tier_of_server
from policy.model import Execution, SandboxTier, Transport
from policy.pins import Definition
from policy.sandbox import SandboxDenied
from policy.tools import ExecutionContext, NotAsListed, RelayedResult, ToolDefinition, ToolOutput

# How a result travelled, which concerns this server and us alone.
_OF_THE_HOP = ("io.modelcontextprotocol/serverInfo",)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpHandler:
    """Calls one tool of a server, in the session of the caller.

    `listed` is the definition as the server has listed it. Handlers are equal if they call the same
    tool, by the same definition, through the same client.
    """

    client: McpClient
    tool: str
    spec: ToolSpec
    definition: ToolDefinition
    listed: Definition

    @property
    def defined_at(self) -> str:
        """Where the tool is defined, for messages."""
        return f"the MCP server {self.client.server.name}"

    @property
    def sandbox(self) -> SandboxTier | None:
        """The sandbox that the code of the server runs in."""
        return tier_of_server(self.client.server)

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        """Call the tool; return what the server returns, also where that reports a failure."""
        name, server = self.spec.name, self.client.server.name
        try:
            result = await self.client.call_tool(
                self.tool,
                input,
                caller=ctx.caller,
                progress=None if ctx.client is None else ctx.client.progress,
                judged=Judged(
                    definition=self.listed,
                    reviewed=self.spec.pinned,
                    confinement=None if ctx.decision is None else ctx.decision.confinement,
                ),
                asker=Asker.of(server, ctx) if self.client.server.client_features else None,
            )
        except Redefined as error:
            raise NotAsListed from error
        except NotSent as error:
            why = f"the server `{server}` was not called: {error}"
            raise Transport(name, why) from error
        except Uncertain as error:
            why = f"the call may have run, but the server `{server}` did not answer: {error}"
            denial = self.client.denial(ctx.caller, str(error))
            if denial is not None:
                raise SandboxDenied(why, denial, uncertain=True) from error
            raise Transport(name, why) from error
        except ProtocolError as error:
            raise Execution(name, f"{name} failed: {error}") from error
        self.client.outputs.require_valid(self.tool, self.listed, result)
        output = output_of(result)
        return output if not output.is_error else self._explained(output, ctx)

    def _explained(self, output: ToolOutput, ctx: ExecutionContext) -> ToolOutput:
        """Return the output of a call that failed, with why it failed by the server's sandbox."""
        relayed = output.relayed
        assert relayed is not None  # all results of servers are
        denial = self.client.denial(ctx.caller, _text_of(relayed.content))
        if denial is None:
            return output
        told = {"type": "text", "text": denial.sentence()}
        content = (*relayed.content, told)
        value = output.value
        if isinstance(value, str):
            value = f"{value}\n{denial.sentence()}"
        return replace(
            output, value=value, relayed=replace(relayed, content=content), denial=denial
        )


def output_of(result: Mapping[str, Any]) -> ToolOutput:
    """Return the result of a call as an output; its value is what rules and chains see."""
    content = tuple(result.get("content") or ())
    said = result.get("_meta") or {}
    meta = {key: value for key, value in said.items() if key not in _OF_THE_HOP}
    known = ("content", "_meta", "isError", "structuredContent", "resultType")
    return ToolOutput(
        value=_value(result, content),
        is_error=result.get("isError") not in (None, False),
        relayed=RelayedResult(
            content=content,
            meta=meta,
            more={key: value for key, value in result.items() if key not in known},
            structured=result.get("structuredContent"),
        ),
    )


def _text_of(content: tuple[Mapping[str, Any], ...]) -> str:
    return "\n".join(str(block.get("text", "")) for block in content)


def _value(result: Mapping[str, Any], content: tuple[Mapping[str, Any], ...]) -> Any:
    """Return the structured content; without any, the text; else the content blocks."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    if all(block.get("type") == "text" for block in content):
        return "\n".join(str(block.get("text", "")) for block in content)
    return list(content)
