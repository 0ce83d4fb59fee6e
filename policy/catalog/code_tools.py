"""`code_exec`, a tool that runs code in one of the languages that the configuration names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import Field, create_model

from policy.catalog.arguments import Arguments, tool_of
from policy.catalog.tool import ToolSpec

Language: TypeAlias = Literal["javascript", "perl", "python", "ruby"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
CODE_EXEC = "code_exec"


def code_exec_spec(languages: Iterable[str]) -> ToolSpec:
    """Return the definition of `code_exec` for these languages, of which there is at least one."""
    return _spec(tuple(sorted(set(languages))))


@lru_cache(maxsize=64)
def _spec(languages: tuple[str, ...]) -> ToolSpec:
    fields: dict[str, Any] = {
        "language": (Literal[languages], Field(description="The language of the code.")),
        "code": (Annotated[str, Field(min_length=1)], Field(description="A whole program.")),
        "timeout": (
            Annotated[int, Field(ge=1, le=3600)] | None,
            Field(default=None, description="How many seconds it may take."),
        ),
    }
    model = create_model(
        "CodeExec",
        __base__=Arguments,
        __doc__="Run a program in the workspace, in a sandbox; returns what it prints.",
        **fields,
    )
    # Nothing of what the code touches shows in the call.
    return tool_of(
        model, category="code", read_only=False, destructive=True, unseen=True, exec_class=True
    )
