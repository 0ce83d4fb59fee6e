"""What a host gives the service in; an error, before any call, where it cannot do its part."""

from __future__ import annotations

import os
from inspect import iscoroutinefunction

from policy.diagnostics import visible


def require_sink(sink: object) -> None:
    """Raise TypeError where this cannot take records."""
    if _is_async(_method(sink, "write", what="audit sink")):
        raise TypeError(
            f"`{_kind(sink)}.write` is async: an audit sink returns once the record is kept, and"
            " nobody would wait for it"
        )


def require_approver(approver: object) -> None:
    """Raise TypeError where this cannot be asked."""
    _method(approver, "ask", what="approver")


def folder_of(workspace: str | os.PathLike[str]) -> str:
    """Return the path of a workspace with its links resolved; ValueError where there is none."""
    name = os.fspath(workspace)
    if not isinstance(name, str):
        raise TypeError(f"the workspace {name!r} is no text: name a folder")
    if not name:
        raise ValueError("the workspace has an empty name: name a folder")
    folder = os.path.realpath(name)
    if not os.path.isdir(folder):
        raise ValueError(f"the workspace {visible(folder, 1000)} is no folder")
    return folder


def _method(part: object, name: str, *, what: str) -> object:
    if isinstance(part, type):
        raise TypeError(f"`{part.__name__}` is a class: pass an object of it as the {what}")
    method: object = getattr(part, name, None)
    if not callable(method):
        raise TypeError(f"`{_kind(part)}` is no {what}: it has no method `{name}`")
    return method


def _is_async(method: object) -> bool:
    return iscoroutinefunction(method) or iscoroutinefunction(getattr(method, "__call__", None))  # noqa: B004 - what a call runs is looked at


def _kind(part: object) -> str:
    return type(part).__name__
