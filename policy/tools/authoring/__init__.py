"""How tools are written: the handlers that a registry holds are made from authors' tools here.

An author writes a typed function, a class with an argument model, or an object with its own
schema. Schema, defaults, coercion, resources and the shape of outputs come from the types, so
authors write no permission code.
"""
