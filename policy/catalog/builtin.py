"""The tools that come with Placet: what each takes, and which arguments are resources."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from policy.catalog.arguments import Arguments, tool_of
from policy.catalog.catalog import Catalog
from policy.catalog.client_requests import client_requests
from policy.catalog.encodings import Encoding, listed_encoding
from policy.catalog.markers import Connects, Reads, Runs, Writes
from policy.catalog.sandbox_requests import sandbox_requests
from policy.catalog.server_requests import server_requests


def _whole(value: Any) -> Any:
    # JSON does not tell 60.0 from 60.
    return int(value) if isinstance(value, float) and value.is_integer() else value


class FileRead(Arguments):
    """Read a text file."""

    path: Annotated[str, Reads(tree=False), Field(min_length=1)]
    """The file to read."""
    encoding: Annotated[Encoding, BeforeValidator(listed_encoding)] = "utf-8"
    """The encoding of its text."""


class FileWrite(Arguments):
    """Write a text file, replacing what it held."""

    path: Annotated[str, Writes(tree=False), Field(min_length=1)]
    """The file to write."""
    content: str
    """All that the file will hold."""


class FileList(Arguments):
    """List a folder."""

    path: Annotated[str, Reads(tree_field="recursive"), Field(min_length=1)]
    """The folder to list."""
    recursive: bool = False
    """Whether to list everything below it as well."""


class FileDelete(Arguments):
    """Delete a file, or a folder with all that is in it."""

    path: Annotated[str, Writes(tree=True), Field(min_length=1)]
    """The file or folder to delete."""


class FileMkdir(Arguments):
    """Make a folder, with its parents."""

    path: Annotated[str, Writes(tree=False), Field(min_length=1)]
    """The folder to make."""


class FileChmod(Arguments):
    """Change the permission bits of a file or folder."""

    path: Annotated[str, Writes(tree=False), Field(min_length=1)]
    """The file or folder."""
    mode: Annotated[str, Field(pattern=r"^[0-7]{3,4}$")]
    """The permission bits in octal, such as "644"."""


class BashExec(Arguments):
    """Run a command line in a shell."""

    command: Annotated[str, Runs(), Field(min_length=1)]
    """The command line."""
    timeout: Annotated[int, Field(ge=1, le=3600), BeforeValidator(_whole)] | None = None
    """How many seconds it may take."""


class WebFetch(Arguments):
    """Fetch a page or file from the web."""

    url: Annotated[str, Connects(), Field(min_length=1)]
    """What to fetch: an http or https URL."""
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] | None = None
    """The HTTP method; GET where none is given."""
    headers: dict[str, str] | None = None
    """Further HTTP headers."""


class ListTools(Arguments):
    """List the tools that can be called."""

    category: str | None = None
    """Only those of this category."""


class GetToolSchema(Arguments):
    """Return the JSON Schema of what a tool takes."""

    tool_name: Annotated[str, Field(min_length=1)]
    """The tool's name."""


_BUILTIN = Catalog(
    specs=(
        tool_of(FileRead, category="file", read_only=True, destructive=False),
        tool_of(FileWrite, category="file", read_only=False, destructive=True),
        tool_of(FileList, category="file", read_only=True, destructive=False),
        tool_of(FileDelete, category="file", read_only=False, destructive=True),
        tool_of(FileMkdir, category="file", read_only=False, destructive=False),
        tool_of(FileChmod, category="file", read_only=False, destructive=True),
        # Its commands are analysed; only they show which effects stay unseen.
        tool_of(BashExec, category="code", read_only=False, destructive=True, exec_class=True),
        tool_of(WebFetch, category="web", read_only=False, destructive=False),
        tool_of(ListTools, category="meta", read_only=True, destructive=False),
        tool_of(GetToolSchema, category="meta", read_only=True, destructive=False),
        *server_requests(),
        *client_requests(),
        *sandbox_requests(),
    )
)


def builtin_catalog() -> Catalog:
    """Return the tools that come with Placet; a host may have more.

    A service has those of `server_requests` only if it serves the clients of MCP servers.
    """
    return _BUILTIN
