"""Tools as their authors write them, in; the handlers that a registry holds, out.

An author writes a typed function, a class with an argument model, or an object that says its own
schema. Schema, defaults, coercion, resources and the shape of outputs come from the types, so
nobody writes permission code.
"""
