"""A digest of everything besides its own text that affects a rule.

A rule can refer to names, parameters, packs and declarations of tools; the catalogue, the data, the
facts of the context and the profiles of programs. It cannot refer to other rules, tests or
positions. The digest covers rather more than a rule needs: if it differs, nothing is remembered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from policy.checks import LayerKey, PolicySources, Unit
from policy.syntax import print_binding, tree

# Statements to which no rule can refer.
_UNSEEN = (tree.Rule, tree.Test)


def surroundings_digest(sources: PolicySources, inputs: str) -> str:
    """Return the digest; `inputs` is that of all that is not text of a policy file."""
    found = hashlib.sha256(inputs.encode())
    for part in _parts(sources):
        encoded = part.encode("utf-8", "surrogatepass")
        # Each part is preceded by its length, so that different policies never hash the same text.
        found.update(len(encoded).to_bytes(8, "big"))
        found.update(encoded)
    return found.hexdigest()


def unit_context(key: LayerKey, unit: Unit) -> str | None:
    """Return a key of the unit's context, in which the same text has the same meaning.

    None for a table, whose rules have no text of their own.
    """
    if unit.table:
        return None
    kind = "pack" if unit.pack else "file"
    grants = "grants" if unit.grants else "restricts"
    return repr((kind, grants, unit.names, key.kind, key.names))


def _parts(sources: PolicySources) -> Iterator[str]:
    for name, kind in sorted(sources.context.items()):
        yield f"context {name} {kind}"
    for group, people in sorted(sources.groups.items()):
        yield f"group {group} {bool(people)}"
    yield f"retention {sources.retention}"
    for file in sorted(sources.files, key=lambda file: file.source.name):
        yield from _of_file(file)
    for path, file in sorted(sources.shipped.items()):
        yield f"shipped {path}"
        yield from _of_file(file)


def _of_file(file: tree.PolicyFile) -> Iterator[str]:
    seen = [
        *(one for one in file.statements if not isinstance(one, _UNSEEN)),
        # A rule may name what a statement that did not parse probably defines.
        *file.broken,
    ]
    match file.binding_header:
        case tree.PackHeader(name=name):
            # Others name it by its path, and its rules by its name.
            yield f"pack {name} {file.source.name}"
        case tree.PolicyHeader(binding=binding) if seen:
            yield f"policy for {print_binding(binding)}"
        case _:
            if not seen:
                return
            yield "nobody"
    text = file.source.text
    for one in seen:
        yield text[one.span.start : one.span.end]
