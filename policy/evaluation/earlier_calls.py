"""`after`: whether the session tree holds an earlier call of certain tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from policy.catalog import Origin, ToolSelector, ToolSpec, split_version
from policy.checks import checked
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.truth import Indeterminate, Truth
from policy.model import RESULT_NOT_KNOWN, CalledTool

_NAME_OF_SERVER = "__"
_PREFIX_OF_EXTENSION = "ext__"
_TOOLS_REMEMBERED = 4_096
_UNKNOWN = "the earlier calls of this session are not known"


def compile_after(test: checked.EarlierCall) -> Callable[[Evaluation], Truth]:
    """Return the test of the earlier calls.

    It is true if such a call succeeded. A call that is running, or did not succeed, may have had
    its effect; then the test is indeterminate.
    """
    matches = _matcher(test.tools)
    within, text = test.within, test.text

    def decide(call: Evaluation) -> Truth:
        history = call.history
        if history is None:
            return Indeterminate(_UNKNOWN, text)
        now = call.facts.now or history.as_of
        unsure: str | None = None
        for tool, calls in history.tools.items():
            if not matches(tool):
                continue
            succeeded = calls.succeeded.any_within(within, now)
            if succeeded:
                return True
            if succeeded is None:
                unsure = f"it is not known how long ago `{tool.name}` was called"
            elif calls.unsure.any_within(within, now) is not False:
                unsure = unsure or f"{RESULT_NOT_KNOWN} `{tool.name}` is not known"
        why = unsure or history.unknown
        return False if why is None else Indeterminate(why, text)

    return decide


def _matcher(selector: ToolSelector) -> Callable[[CalledTool], bool]:
    """Return whether a selector matches the tool of an earlier call.

    Where only its name is known, the tool may come from any server that the name allows for: it
    matches where the selector restricts if one of these does, and where it grants if all do.
    """
    enough = all if selector.grants else any

    @lru_cache(maxsize=_TOOLS_REMEMBERED)
    def matches(tool: CalledTool) -> bool:
        return enough(selector.matches(spec) for spec in _readings(tool))

    return matches


def _readings(tool: CalledTool) -> Iterator[ToolSpec]:
    """Yield the tools that may have been called."""
    if tool.kind == "host":
        yield _spec(Origin(tool=split_version(tool.name)[0]), tool.name)
        return
    if tool.kind is not None:
        prefix = Origin(kind=tool.kind, server=tool.server).flat_name()
        own = split_version(tool.name.removeprefix(prefix))[0]
        yield _spec(Origin(kind=tool.kind, server=tool.server, tool=own), tool.name)
        return
    yield from _readings(CalledTool(name=tool.name, kind="host"))
    if tool.name.startswith(_PREFIX_OF_EXTENSION):
        for server in _servers(tool.name.removeprefix(_PREFIX_OF_EXTENSION)):
            yield from _readings(CalledTool(name=tool.name, kind="ext", server=server))
    for server in _servers(tool.name):
        yield from _readings(CalledTool(name=tool.name, kind="mcp", server=server))


def _servers(name: str) -> Iterator[str]:
    """Yield every identifier of a server with which a name may begin."""
    at = name.find(_NAME_OF_SERVER, 1)
    while at != -1:
        yield name[:at]
        at = name.find(_NAME_OF_SERVER, at + 1)


def _spec(origin: Origin, name: str) -> ToolSpec:
    number = split_version(name)[1]
    return ToolSpec(name=name, origin=origin, version=None if number is None else int(number))
