"""The tools that come with Placet: what each takes, and which arguments are resources.

They stand here as data, and an input that is plainly right is read by it: the models that say the
same (`builtin_models.py`) cost more to make than all else that one call needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from policy.catalog.catalog import Catalog
from policy.catalog.encodings import ENCODINGS
from policy.catalog.tool import Origin, Resource, ToolSpec
from policy.catalog.walk import read_only_schema

_Schema: TypeAlias = Mapping[str, Any]


def builtin_catalog() -> Catalog:
    """Return the tools that come with Placet; a host may have more."""
    return _BUILTIN


def read_plain(schema: _Schema, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an input that fits a tool's schema to the letter, with its defaults, in its order.

    None for any other: it may be refused, or mean something all the same.
    """
    fields: Mapping[str, _Schema] = schema["properties"]
    required = schema.get("required", ())
    if not given.keys() <= fields.keys() or not all(name in given for name in required):
        return None
    if not all(_is_plain(value, fields[name]) for name, value in given.items()):
        return None
    return {
        name: given[name] if name in given else field["default"]
        for name, field in fields.items()
        if name in given or "default" in field
    }


def _is_plain(value: Any, field: _Schema) -> bool:
    match field["type"]:
        case "string":
            is_right = type(value) is str and value.isascii()
            return is_right and len(value) >= field.get("minLength", 0) and _is_listed(value, field)
        case "boolean":
            return type(value) is bool
        case "integer":
            return type(value) is int and field["minimum"] <= value <= field["maximum"]
        case _:
            return False


def _is_listed(value: str, field: _Schema) -> bool:
    return "enum" not in field or value in field["enum"]


def _reader(name: str, schema: _Schema) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def read(given: dict[str, Any]) -> dict[str, Any]:
        plain = read_plain(schema, given)
        if plain is not None:
            return plain
        from policy.catalog.builtin_models import read_by_model

        return read_by_model(name, given)

    return read


def _modelled(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def read(given: dict[str, Any]) -> dict[str, Any]:
        from policy.catalog.builtin_models import read_by_model

        return read_by_model(name, given)

    return read


def _text(description: str, *, least: int | None = None, **more: Any) -> _Schema:
    length = {} if least is None else {"minLength": least}
    return {**more, "description": description, **length, "type": "string"}


def _tool(
    name: str,
    description: str,
    *,
    fields: Mapping[str, _Schema],
    required: tuple[str, ...] = (),
    resource: Resource | None = None,
    category: str,
    read_only: bool = False,
    destructive: bool = False,
    exec_class: bool = False,
    is_said: bool = True,
) -> ToolSpec:
    """Return a definition; `is_said` tells that its schema says all that the model asks."""
    needed = {"required": list(required)} if required else {}
    schema = read_only_schema(
        {**needed, "type": "object", "properties": fields, "additionalProperties": False}
    )
    return ToolSpec(
        name=name,
        origin=Origin(kind="host", tool=name),
        description=description,
        schema=schema,
        resources=() if resource is None else (resource,),
        complete=True,
        exec_class=exec_class,
        category=category,
        read_only=read_only,
        destructive=destructive,
        pinned=True,
        coerce=_reader(name, schema) if is_said else _modelled(name),
    )


_READ = Resource(verb="reads", steps=("path",))
_WRITTEN = Resource(verb="writes", steps=("path",))
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

_BUILTIN = Catalog(
    specs=(
        _tool(
            "file_read",
            "Read a text file.",
            fields={
                "path": _text("The file to read.", least=1),
                "encoding": {
                    "default": "utf-8",
                    "description": "The encoding of its text.",
                    "enum": list(ENCODINGS),
                    "type": "string",
                },
            },
            required=("path",),
            resource=_READ,
            category="file",
            read_only=True,
        ),
        _tool(
            "file_write",
            "Write a text file, replacing what it held.",
            fields={
                "path": _text("The file to write.", least=1),
                "content": _text("All that the file will hold."),
            },
            required=("path", "content"),
            resource=_WRITTEN,
            category="file",
            destructive=True,
        ),
        _tool(
            "file_list",
            "List a folder.",
            fields={
                "path": _text("The folder to list.", least=1),
                "recursive": {
                    "default": False,
                    "description": "Whether to list everything below it as well.",
                    "type": "boolean",
                },
            },
            required=("path",),
            resource=Resource(verb="reads", steps=("path",), tree_field="recursive"),
            category="file",
            read_only=True,
        ),
        _tool(
            "file_delete",
            "Delete a file, or a folder with all that is in it.",
            fields={"path": _text("The file or folder to delete.", least=1)},
            required=("path",),
            resource=Resource(verb="writes", steps=("path",), tree=True),
            category="file",
            destructive=True,
        ),
        _tool(
            "file_mkdir",
            "Make a folder, with its parents.",
            fields={"path": _text("The folder to make.", least=1)},
            required=("path",),
            resource=_WRITTEN,
            category="file",
        ),
        _tool(
            "file_chmod",
            "Change the permission bits of a file or folder.",
            fields={
                "path": _text("The file or folder.", least=1),
                "mode": _text('The permission bits in octal, such as "644".'),
            },
            required=("path", "mode"),
            resource=_WRITTEN,
            category="file",
            destructive=True,
            # What a mode looks like is a pattern, and the plain form of a schema has none.
            is_said=False,
        ),
        _tool(
            "bash_exec",
            "Run a command line in a shell.",
            fields={
                "command": _text("The command line.", least=1),
                "timeout": {
                    "maximum": 3600,
                    "minimum": 1,
                    "type": "integer",
                    "description": "How many seconds it may take.",
                },
            },
            required=("command",),
            resource=Resource(verb="runs", steps=("command",)),
            category="code",
            destructive=True,
            # Its commands are judged word by word; only they say what stays unseen.
            exec_class=True,
        ),
        _tool(
            "web_fetch",
            "Fetch a page or file from the web.",
            fields={
                "url": _text("What to fetch: an http or https URL.", least=1),
                "method": {
                    "enum": _METHODS,
                    "type": "string",
                    "description": "The HTTP method; GET where none is given.",
                },
                "headers": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "Further HTTP headers.",
                },
            },
            required=("url",),
            resource=Resource(verb="connects", steps=("url",)),
            category="web",
        ),
        _tool(
            "list_tools",
            "List the tools that can be called.",
            fields={"category": {"type": "string", "description": "Only those of this category."}},
            category="meta",
            read_only=True,
        ),
        _tool(
            "get_tool_schema",
            "Return the JSON Schema of what a tool takes.",
            fields={"tool_name": _text("The tool's name.", least=1)},
            required=("tool_name",),
            category="meta",
            read_only=True,
        ),
    )
)
