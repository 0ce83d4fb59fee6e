"""Patterns of tool names: wide where a rule restricts, narrow where it grants."""

from __future__ import annotations

from typing import Literal

import pytest

from policy.catalog import Origin, ToolPattern, ToolSelector, ToolSpec


def tool(kind: Literal["host", "mcp", "ext"], server: str, name: str) -> ToolSpec:
    origin = Origin(kind=kind, server=server, tool=name)
    return ToolSpec(name=origin.flat_name(), origin=origin)


HOST = tool("host", "", "mail_open")
MAIL = tool("mcp", "mail", "send")
OTHER = tool("mcp", "mailer", "send")
PLUG = tool("ext", "plug", "go")
FALSE_EXT = tool("mcp", "ext", "plug__go")
FALSE_MAIL = tool("mcp", "mail__x", "send")
ALL = (HOST, MAIL, OTHER, PLUG, FALSE_EXT, FALSE_MAIL)


def bare(text: str) -> ToolPattern:
    return ToolPattern(text=text)


@pytest.mark.parametrize(
    ("pattern", "restricts", "grants"),
    [
        (bare("*"), ALL, ALL),
        (bare("mail*"), (HOST, MAIL, OTHER, FALSE_MAIL), (HOST,)),
        (bare("mail__*"), (MAIL, FALSE_MAIL), (MAIL,)),
        (bare("mail_?*"), (HOST, MAIL, FALSE_MAIL), (HOST,)),
        (bare("m*__send"), (MAIL, OTHER, FALSE_MAIL), ()),
        (bare("?ail__*"), (MAIL, FALSE_MAIL), ()),
        (bare("ext__*"), (PLUG, FALSE_EXT), ()),
        (bare("ext__plug__*"), (PLUG, FALSE_EXT), (PLUG,)),
        (bare("mail__send"), (MAIL,), (MAIL,)),
        (bare("MAIL__send"), (), ()),
        (bare("ail__send"), (), ()),
        (ToolPattern(origin="mcp", text="mail/*"), (MAIL,), (MAIL,)),
        (
            ToolPattern(origin="mcp", text="mail*/s?nd"),
            (MAIL, OTHER, FALSE_MAIL),
            (MAIL, OTHER, FALSE_MAIL),
        ),
        (ToolPattern(origin="mcp", text="plug/*"), (), ()),
        (ToolPattern(origin="ext", text="plug/*"), (PLUG,), (PLUG,)),
    ],
)
def test_a_pattern_is_wide_where_it_takes_and_narrow_where_it_gives(
    pattern: ToolPattern, restricts: tuple[ToolSpec, ...], grants: tuple[ToolSpec, ...]
) -> None:
    assert tuple(filter(pattern.matcher(grants=False), ALL)) == restricts
    assert tuple(filter(pattern.matcher(grants=True), ALL)) == grants


@pytest.mark.parametrize("text", ["github", "github/", "/x", ""])
def test_a_structured_pattern_names_server_and_tool(text: str) -> None:
    pattern = ToolPattern(origin="mcp", text=text)
    assert pattern.problem is not None
    with pytest.raises(ValueError, match=r"SERVER/TOOL|empty"):
        pattern.matcher(grants=True)


def test_an_exception_to_what_takes_is_narrow() -> None:
    deny = ToolSelector(included=(bare("*"),), excluded=(bare("mail*"),), grants=False)
    assert not deny.matches(HOST)
    assert deny.matches(MAIL)
    assert deny.matches(OTHER)


def test_an_exception_to_what_gives_is_wide() -> None:
    allow = ToolSelector(included=(bare("*"),), excluded=(bare("mail*"),), grants=True)
    assert [spec for spec in ALL if allow.matches(spec)] == [PLUG, FALSE_EXT]


def test_a_named_set_keeps_its_own_exceptions_inside_another() -> None:
    inner = ToolSelector(included=(bare("mail*"),), excluded=(bare("mail__*"),), grants=False)
    outer = ToolSelector(included=(inner, bare("mail__send")), grants=False)
    assert outer.matches(MAIL)
    assert outer.matches(HOST)
    assert not inner.matches(MAIL)
    assert inner.matches(FALSE_MAIL)


def test_exact_names_are_known_only_without_wildcards() -> None:
    exact = ToolSelector(
        included=(bare("file_read"), ToolPattern(origin="mcp", text="mail/send")), grants=True
    )
    assert exact.exact_names() == frozenset({"file_read", "mail__send"})
    assert ToolSelector(included=(exact, bare("a?")), grants=True).exact_names() is None
