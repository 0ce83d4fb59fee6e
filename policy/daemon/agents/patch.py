"""The patches of Codex's `apply_patch`: which files a patch adds, changes, moves and deletes."""

from __future__ import annotations

import re

from policy.daemon.agents.mapping import HookFields, OurCall, Unmapped

_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: *(.*)|\*\*\* (Move) to: *(.*)")
_FRAME = ("*** Begin Patch", "*** End Patch", "*** End of File")


def patch_applied(fields: HookFields) -> tuple[OurCall, ...]:
    """Return the calls that have the effects of a patch.

    Codex takes blanks around a header, so every line that could be one counts as one. A line of
    another kind that begins with `***` is not understood.
    """
    calls: list[OurCall] = []
    added: list[str] = []
    place = ""
    for line in fields.text("command").split("\n"):
        text = line.strip()
        if not text.startswith("***") or text in _FRAME:
            if line.startswith("+"):
                added.append(line[1:])
            continue
        header = _HEADER.fullmatch(text)
        if header is None:
            raise Unmapped("a line of the patch that begins with `***` is not understood")
        calls += _written(place, added)
        place, added = "", []
        path = fields.absolute(header[2] or header[4] or "")
        if header[1] == "Delete":
            calls.append(OurCall(tool="file_delete", input={"path": path}))
            continue
        if header[1] == "Update":
            calls.append(OurCall(tool="file_read", input={"path": path}))
        elif header[3] and calls:
            # What is moved is gone from where it was.
            calls.append(OurCall(tool="file_delete", input={"path": calls[-1].input["path"]}))
        place = path
    calls += _written(place, added)
    if not calls:
        raise Unmapped("the patch names no file")
    return tuple(calls)


def _written(place: str, added: list[str]) -> list[OurCall]:
    if not place:
        return []
    return [OurCall(tool="file_write", input={"path": place, "content": "\n".join(added)})]
