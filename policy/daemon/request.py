"""`Request` and `HookAnswer`: one hook call as the daemon reads it, and its reply."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from policy.daemon.protocol import Malformed, answered

if TYPE_CHECKING:
    from policy.daemon.protocol import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One hook call: the agent's input, and the folder and options of the hook process.

    `policy` is an absolute path. `workspace`, `caller` and `audit` are what the command line says;
    None leaves them to the configuration. `project` is the folder the agent says it works on,
    `settings_folder` where its user keeps its settings, None where it does not say.
    `denies_asks` turns every ask into a denial. `git_elsewhere`: a variable of the environment that
    may make git use another repository than that of the folder, empty if none.
    """

    agent: str
    policy: str
    cwd: str
    home: str
    input: str
    workspace: str | None
    project: str | None
    settings_folder: str | None
    caller: str | None
    audit: str | None
    denies_asks: bool
    git_elsewhere: str = ""

    @classmethod
    def of(cls, message: Message) -> Request:
        """Return the request in a message; raise Malformed where a field is missing or wrong."""
        given: dict[str, Any] = {}
        for field in fields(cls):
            value = message.get(field.name)
            if not _fits(value, str(field.type)):
                raise Malformed(f"no `{field.name}`, or a wrong one")
            given[field.name] = value
        return cls(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAnswer:
    """What the hook process prints, and its exit status."""

    status: int
    stdout: str = ""
    stderr: str = ""

    def message(self) -> Message:
        """Return the message that says so."""
        return answered(**asdict(self))


def _fits(value: object, wanted: str) -> bool:
    match wanted:
        case "bool":
            return isinstance(value, bool)
        case "str":
            return isinstance(value, str)
        case _:
            return value is None or isinstance(value, str)
