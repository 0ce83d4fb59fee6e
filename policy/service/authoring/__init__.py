"""Tools as their authors write them, in; the handlers that a registry holds, out.

An author writes a typed function, a class with an argument model, or an object that says its own
schema. Schema, defaults, coercion, resources and the shape of outputs come from the types, so
nobody writes permission code.
"""

from policy.service.authoring.adapting import (
    Authored,
    call_json,
    dynamic_of,
    handler_for,
    handler_of,
)
from policy.service.authoring.definition import define
from policy.service.authoring.function import tool
from policy.service.authoring.output import as_json
from policy.service.authoring.shapes import (
    AiTool,
    ContextTool,
    DynamicTool,
    OperationsTool,
    Tool,
)
from policy.service.authoring.traits import Example, Traits
from policy.service.authoring.typed import BuiltinHandler

__all__ = [
    "AiTool",
    "Authored",
    "BuiltinHandler",
    "ContextTool",
    "DynamicTool",
    "Example",
    "OperationsTool",
    "Tool",
    "Traits",
    "as_json",
    "call_json",
    "define",
    "dynamic_of",
    "handler_for",
    "handler_of",
    "tool",
]
