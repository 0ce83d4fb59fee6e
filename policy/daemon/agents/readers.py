"""The readers that rows of several agents share: commands, files, searches and pages."""

from __future__ import annotations

import math
import os
import re
import shlex

from policy.daemon.agents.mapping import HookFields, OurCall, Reader, Unmapped

# A glob without characters at which an agent may split a list of globs.
_ONE_GLOB = re.compile(r"[\w.*/-]+")
# What a glob may hold besides names, extended globs and escapes included.
_WILDCARD = re.compile(r"[*?\[{(!+@\\]")
_BRACES_WITH_SLASH = re.compile(r"[{(][^{()}/]*+/")


def command(*, milliseconds: str | None = None, unconfined: str | None = None) -> Reader:
    """Return the reader of a shell command; `milliseconds` names the field of its time limit.

    `unconfined` names the field that asks for the command to run outside of the agent's sandbox.
    """

    def read(fields: HookFields) -> tuple[OurCall, ...]:
        if os.name != "posix":
            raise Unmapped(f"{fields.tool} does not run bash on this system")
        if unconfined is not None and fields.get(unconfined) not in (None, False):
            raise Unmapped(
                f"`{unconfined}` of {fields.tool} would run the command outside of the sandbox: "
                "leave it out"
            )
        given: dict[str, object] = {"command": fields.text("command")}
        limit = None if milliseconds is None else fields.get(milliseconds)
        if isinstance(limit, int | float) and limit > 0:
            given["timeout"] = min(math.ceil(limit / 1000), 3600)
        return (OurCall(tool="bash_exec", input=given),)

    return read


def file_read(*names: str) -> Reader:
    """Return the reader of a file that is read."""
    return lambda fields: (_reads(fields.path(*names)),)


def file_written(path: str, content: str) -> Reader:
    """Return the reader of a file that is written anew."""
    return lambda fields: (_writes(fields.path(path), fields.text(content)),)


def file_edited(path: str, *content: str) -> Reader:
    """Return the reader of an edit; an edit shows its surroundings, so it also reads the file."""

    def read(fields: HookFields) -> tuple[OurCall, ...]:
        where = fields.path(path)
        return (_reads(where), _writes(where, fields.optional(*content) or ""))

    return read


def file_edited_often(path: str, edits: str, content: str) -> Reader:
    """Return the reader of several edits of one file."""

    def read(fields: HookFields) -> tuple[OurCall, ...]:
        where, given = fields.path(path), fields.get(edits)
        if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
            raise Unmapped(f"`{edits}` of {fields.tool} is not a list of edits")
        return (_reads(where), _writes(where, "\n".join(str(e.get(content, "")) for e in given)))

    return read


def folder_listed(*names: str, deep: bool = False) -> Reader:
    """Return the reader of a folder that is listed, with all below it where it is `deep`."""
    return lambda fields: (_lists(fields.folder(*names), deep=deep),)


def names_searched(pattern: str, *folders: str) -> Reader:
    """Return the reader of a search for file names: it lists the tree that the pattern covers.

    Behind the first wildcard a pattern must not lead out of that tree.
    """

    def read(fields: HookFields) -> tuple[OurCall, ...]:
        wanted, folder = fields.text(pattern), fields.folder(*folders)
        first = _WILDCARD.search(wanted)
        fixed = wanted.rfind("/", 0, None if first is None else first.start()) + 1
        above, rest = wanted[:fixed], wanted[fixed:]
        if ".." in rest or _BRACES_WITH_SLASH.search(rest) or wanted.startswith("~"):
            raise Unmapped(f"{fields.tool} cannot be judged with `~`, or `..` behind a wildcard")
        return (_lists(os.path.join(folder, above), deep=True),)

    return read


def contents_searched(
    pattern: str, folders: tuple[str, ...], *, globs: tuple[str, ...] = (), kind: str | None = None
) -> Reader:
    """Return the reader of a search in files: it is judged as the equivalent `rg` command.

    A glob narrows what is read only where it is a single one.
    """

    def read(fields: HookFields) -> tuple[OurCall, ...]:
        argv = ["rg", "--hidden"]
        glob = fields.optional(*globs) if globs else None
        if glob is not None and _ONE_GLOB.fullmatch(glob):
            argv += ["--glob", glob]
        language = fields.optional(kind) if kind else None
        if language is not None and language.isalnum():
            argv += ["--type", language]
        argv += ["-e", fields.text(pattern), "--", fields.folder(*folders)]
        return (OurCall(tool="bash_exec", input={"command": shlex.join(argv)}),)

    return read


def page_fetched(url: str) -> Reader:
    """Return the reader of a page that is fetched."""
    return lambda fields: (fetches(fields.text(url)),)


def fetches(url: str) -> OurCall:
    """Return the call that fetches a page."""
    return OurCall(tool="web_fetch", input={"url": url})


def resource_read(server: str, uri: str) -> Reader:
    """Return the reader of a resource that an MCP server is asked for."""
    return lambda fields: (
        OurCall(
            tool="mcp_read_resource",
            input={"server": fields.text(server), "uri": fields.text(uri)},
        ),
    )


def _reads(path: str) -> OurCall:
    return OurCall(tool="file_read", input={"path": path})


def _writes(path: str, content: str) -> OurCall:
    return OurCall(tool="file_write", input={"path": path, "content": content})


def _lists(path: str, *, deep: bool) -> OurCall:
    return OurCall(tool="file_list", input={"path": path, "recursive": deep})
