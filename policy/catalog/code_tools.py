"""`code_exec`, a tool that runs code in one of the configured languages, and others like it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import Field, create_model

from policy.catalog.arguments import Arguments, tool_of
from policy.catalog.tool import ToolSpec
from policy.model import EMPTY

Language: TypeAlias = Literal["javascript", "perl", "python", "ruby"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
CODE_EXEC = "code_exec"


def code_exec_spec(languages: Iterable[str]) -> ToolSpec:
    """Return the definition of `code_exec` for these languages, of which there is at least one."""
    return _spec(tuple(sorted(set(languages))))


@lru_cache(maxsize=64)
def _spec(languages: tuple[str, ...]) -> ToolSpec:
    return tool_that_runs_code(
        "CodeExec",
        "Run a program in the workspace, in a sandbox; returns what it prints.",
        before={"language": (Literal[languages], Field(description="The language of the code."))},
        seconds="How many seconds it may take.",
    )


def tool_that_runs_code(
    name: str,
    description: str,
    *,
    before: Mapping[str, Any] = EMPTY,
    after: Mapping[str, Any] = EMPTY,
    seconds: str,
) -> ToolSpec:
    """Return the definition of a tool with `code`, and `timeout`, which is described as `seconds`.

    The fields `before` and `after` the code are as pydantic's `create_model` takes them.
    """
    fields: dict[str, Any] = {
        **before,
        "code": (Annotated[str, Field(min_length=1)], Field(description="A whole program.")),
        **after,
        "timeout": (
            Annotated[int, Field(ge=1, le=3600)] | None,
            Field(default=None, description=seconds),
        ),
    }
    model = create_model(name, __base__=Arguments, __doc__=description, **fields)
    # Nothing of what the code touches shows in the call, nor what is installed for it.
    return tool_of(
        model, category="code", read_only=False, destructive=True, unseen=True, exec_class=True
    )
