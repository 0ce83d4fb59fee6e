"""One tool as policies see it: its name, origin, schema, and which arguments are resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from policy.model import EMPTY, Verdict

Verb: TypeAlias = Literal["reads", "writes", "runs", "connects", "sends"]
VERBS: tuple[Verb, ...] = ("reads", "writes", "runs", "connects", "sends")

_OF_FILES = ("reads", "writes")
# Between the name of a tool and its version.
VERSION_MARK = "@"
# The file of a policy folder that holds the reviewed tools of MCP servers.
LOCK_FILE = "tools.lock"


def full_name(base: str, version: int | None) -> str:
    """Return the name of one version of a tool, `translate@2`; without a version, the base."""
    return base if version is None else f"{base}{VERSION_MARK}{version}"


def split_version(name: str) -> tuple[str, str | None]:
    """Return a name without the version that it may end in, and the digits of that version."""
    base, _, number = name.rpartition(VERSION_MARK)
    return (base, number) if base and number.isdecimal() else (name, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a tool comes from: the host itself, an MCP server, or an extension.

    `server` is the server's or plugin's exact identifier (empty for the host), `tool` the name
    there. Rules match on these parts, so that a server cannot imitate another by its name.
    """

    kind: Literal["host", "mcp", "ext"] = "host"
    server: str = ""
    tool: str = ""

    def flat_name(self) -> str:
        """Return the name agents call: `tool`, `server__tool` or `ext__plugin__tool`."""
        if self.kind == "host":
            return self.tool
        if self.kind == "mcp":
            return f"{self.server}__{self.tool}"
        return f"ext__{self.server}__{self.tool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One argument that is a resource: `steps` lead to it from the input; `*` is each element.

    `tree` is whether the path stands for everything below it; None where that is not declared: for
    everything below it if it is a folder. `tree_field` names the boolean argument that decides so
    per call (a recursive listing). `listed`: only names are read. `only_for` names a field and its
    values for which the argument is a resource: that of some operations only. A `uri` is a resource
    of this verb if its scheme says so: `file:` names a path, `https:` a host. What any other scheme
    names is not known. `open_path`: of a URL only the host is known, and not what is asked there.
    """

    verb: Verb
    steps: tuple[str, ...]
    tree: bool | None = None
    listed: bool = False
    tree_field: str | None = None
    only_for: tuple[str, tuple[str, ...]] | None = None
    uri: bool = False
    open_path: bool = False

    @property
    def may_be_tree(self) -> bool:
        """Whether it is not declared if the path stands for itself or for everything below it."""
        unsaid = self.tree is None and self.tree_field is None and not self.uri
        return unsaid and self.verb in _OF_FILES

    @property
    def is_one(self) -> bool:
        """Whether it surely stands for one path, or is no path."""
        return not (self.tree or self.tree_field or self.may_be_tree)

    def counts_in(self, input: Mapping[str, Any]) -> bool:
        """Return whether the argument may be a resource of this call."""
        if self.only_for is None:
            return True
        field, values = self.only_for
        said = input.get(field)
        return not isinstance(said, str) or said in values


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool's definition.

    `schema` is its JSON Schema, always an object schema; `output` is that of what it returns, empty
    where no trusted source declares it. `complete` is whether `resources` lists every effect of a
    call that its arguments show. `unseen` is whether it runs code whose effects no argument shows.
    `open_fields` accepts fields that the schema does not name. `coerce` parses an input with a
    built-in tool's argument model before the decision; it raises ValueError if the model refuses.
    `fault` is why the schema cannot be used; every call of such a tool is refused. The facts
    `category`, `read_only`, `destructive`, `idempotent` are None where no trusted source declares
    them: unknown to every rule. `version` is that of a tool with several versions; it is part of
    the full `name`, as in `translate@2`, and added there if it is missing. `operations` are the
    schemas of a tool's operations, one each, if its `schema` joins them: by these, an operation is
    hidden together with all that belongs to it. `pinned` is whether a person has reviewed the
    definition; while it is False for a tool from outside, its calls get the verdict `unreviewed`.
    `definition_digest` is that of all that its server sent about it, empty where nothing was.
    """

    name: str
    origin: Origin
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    output: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    resources: tuple[Resource, ...] = ()
    complete: bool = False
    unseen: bool = False
    requires_confirmation: bool = False
    exec_class: bool = False
    category: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    version: int | None = None
    pinned: bool = False
    unreviewed: Verdict = Verdict.ASK
    definition_digest: str = ""
    open_fields: bool = False
    fault: str | None = None
    coerce: Callable[[dict[str, Any]], dict[str, Any]] | None = field(
        default=None, compare=False, repr=False
    )
    operations: tuple[Mapping[str, Any], ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.version is None:
            return
        base = self.origin.flat_name()
        if base in (self.name, split_version(self.name)[0]):
            object.__setattr__(self, "name", full_name(base, self.version))

    @property
    def needs_review(self) -> bool:
        """Whether it is a tool from outside whose definition nobody has reviewed."""
        return self.origin.kind != "host" and not self.pinned

    @property
    def base(self) -> str:
        """The name without the version: all versions of a tool share it."""
        return self.name if self.version is None else self.origin.flat_name()

    @property
    def names(self) -> tuple[str, ...]:
        """The names it answers to: the full one, and the one it shares with its other versions.

        A pattern matches a tool if it matches one of these.
        """
        return (self.name,) if self.version is None else (self.name, self.base)

    @property
    def names_in_rules(self) -> tuple[str, ...]:
        """The same, and as rules spell a tool of a server or extension: `mcp SERVER/TOOL`."""
        origin = self.origin
        if origin.kind == "host":
            return self.names
        spelled = (f"{origin.kind} {origin.server}/{name}" for name in self.names_at_origin)
        return (*self.names, *spelled)

    @property
    def names_at_origin(self) -> tuple[str, ...]:
        """The same where it comes from: without the identifier of a server or extension."""
        tool = self.origin.tool
        return (tool,) if self.version is None else (full_name(tool, self.version), tool)
