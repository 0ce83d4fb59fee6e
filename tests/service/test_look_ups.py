"""A host name is looked up only if the call could pass: the look-up discloses the name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policy import Caller, GuestScope, PermissionDenied, PolicyStore, build_tool_service
from policy.audit import MemorySink
from tests.fakes import CountingHandler

HEADER = "policy for every agent\n"
NO_INSIDE = 'no-inside: deny * when connects to private because "inside is out of bounds"\n'
LISTED = 'listed: allow get when connects only to "*.corp.example"\n'
TOOL = "tool get connects to input.url and nothing else\n"
SECRET = "https://s3cr3t.evil.example/"
ADDRESSES = {"wiki.corp.example": ("93.184.216.34",), "inside.corp.example": ("10.0.0.1",)}


class Net:
    """A service with a tool that connects, and the names that were looked up for it."""

    def __init__(self, folder: Path, rules: str, *, caller: Caller | None = None) -> None:
        (folder / "global.policy").write_text(HEADER + TOOL + rules)
        store = PolicyStore(folder)
        assert store.current is not None, store.status
        self.asked: list[str] = []
        self.sink = MemorySink()
        self.handler = CountingHandler("get", complete=False)
        self.service = build_tool_service(
            store, tools=[self.handler], look_up=self._look_up, audit=self.sink, caller=caller
        )

    async def _look_up(self, name: str) -> tuple[str, ...] | None:
        self.asked.append(name)
        return ADDRESSES.get(name)

    async def get(self, url: str, name: str = "get") -> Any:
        return await self.service.execute(name, {"url": url})


@pytest.mark.parametrize(
    ("rules", "caller", "rule"),
    [
        (f"default deny\n{LISTED}{NO_INSIDE}", Caller(), "default"),
        (f"default allow\nno: deny get\n{NO_INSIDE}", Caller(), "no"),
        (f"default allow\n{NO_INSIDE}", Caller(role="guest"), "scope"),
        (f"default allow\n{NO_INSIDE}", Caller(role="anonymous"), "identity"),
        (f"default deny\n{LISTED}{NO_INSIDE}", Caller(parent=Caller(agent="a")), "default"),
    ],
)
async def test_a_call_that_is_denied_anyway_has_no_name_looked_up(
    rules: str, caller: Caller, rule: str, tmp_path: Path
) -> None:
    net = Net(tmp_path, rules, caller=caller)
    with pytest.raises(PermissionDenied) as caught:
        await net.get(SECRET)
    assert net.asked == []
    # And nothing is said of what was not looked at.
    assert [reason.rule for reason in net.sink.records[-1].reasons if reason.undecided] == []
    assert net.sink.records[-1].reasons[0].rule == rule
    assert "inside" not in caught.value.message


async def test_a_name_that_was_mended_is_said_to_be(tmp_path: Path) -> None:
    net = Net(tmp_path, f"default deny\n{LISTED}{NO_INSIDE}")
    with pytest.raises(PermissionDenied):
        await net.get(SECRET, name="Get")
    assert net.asked == []
    assert net.sink.records[-1].repairs


@pytest.mark.parametrize(
    ("rules", "host", "runs"),
    [
        (f"default deny\n{LISTED}{NO_INSIDE}", "wiki.corp.example", True),
        (f"default deny\n{LISTED}{NO_INSIDE}", "inside.corp.example", False),
        (f"default allow\n{NO_INSIDE}", "wiki.corp.example", True),
        (f"default allow\n{NO_INSIDE}", "inside.corp.example", False),
        (
            "default deny\nin: allow get when connects only to private\n",
            "inside.corp.example",
            True,
        ),
        ("default deny\nin: allow get when connects only to private\n", "wiki.corp.example", False),
        (
            "default deny\nin: allow get when connects only to private with approval\n",
            "wiki.corp.example",
            False,
        ),
    ],
)
async def test_what_an_address_could_let_pass_is_looked_up(
    rules: str, host: str, runs: bool, tmp_path: Path
) -> None:
    scope = GuestScope(allowed_tools=("get",))
    net = Net(tmp_path, rules, caller=Caller(role="guest", scope=scope))
    if runs:
        await net.get(f"https://{host}/")
    else:
        with pytest.raises(PermissionDenied):
            await net.get(f"https://{host}/")
    assert (net.asked, net.handler.calls) == ([host], int(runs))
