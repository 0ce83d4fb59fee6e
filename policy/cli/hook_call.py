"""`placet hook`: reads an agent's hook input, and answers in the agent's format.

Every hook call is a separate process, so this imports little. Every failure ends in the answer
that blocks the call: an agent treats most other exit statuses, and its own timeout, as consent.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter

from policy.daemon import (
    AGENT_NAMES,
    BLOCKED,
    LONGEST_INPUT,
    PROJECT_VARIABLES,
    SETTINGS_VARIABLES,
    answer_hook,
    blocked,
    input_in_time,
    leads_elsewhere,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_ABOUT = """\
Decide one tool call of a coding agent: reads the agent's hook input from standard input and
answers in the agent's own format.

The answer is to allow the call, to ask the agent's user, or to deny it. A resident process decides
and is started if there is none. Every failure blocks the call. Events that only tell something,
such as what the user wrote, are noted.
"""
_EXAMPLES = """\
Examples:
  placet hook claude-code --policy ~/agent-rules --install
  placet hook claude-code --policy ~/agent-rules --install --dry-run
  placet hook codex --uninstall
  placet hook gemini-cli --policy ~/agent-rules < input.json
"""


class _Undecidable(Exception):
    """What the agent gave cannot be decided on; the message tells why."""


def run_hook(arguments: list[str]) -> NoReturn:
    """Run the command and end the process; see `placet hook --help`."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.policy is None and not options.uninstall and not options.tools:
        parser.error("name the policy with --policy PATH")
    if options.install or options.uninstall or options.tools:
        from policy.cli.agent_settings.editing import run

        try:
            status = run(options)
        except BrokenPipeError:  # nobody reads the output any more: `… --dry-run | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = 1
        sys.exit(status)
    try:
        request = input_in_time(lambda: _request(options), late=_give_up)
        answer = answer_hook(request, late=_give_up, use_daemon=not options.no_daemon)
    except _Undecidable as error:
        answer = blocked(f"the call could not be decided: {error}")
    except BaseException as error:  # noqa: BLE001 - no error may let a call pass
        answer = blocked(f"the call could not be decided: {type(error).__name__}: {error}")
    _end(answer)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="placet hook",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("agent", choices=AGENT_NAMES, help="the coding agent")
    add("--policy", metavar="PATH", help="the policy folder or file")
    add("--workspace", metavar="DIR", help="the folder that rules call `workspace`")
    add("--caller", metavar="NAME", help="the name of the calling agent in rules")
    add("--audit", metavar="FILE", help="append a record of every call to this file")
    add("--deny-asks", action="store_true", help="deny instead of asking the agent's user")
    add("--no-daemon", action="store_true", help="decide in this process, without a resident one")
    more = parser.add_argument_group("the agent's settings")
    add = more.add_argument
    add("--install", action="store_true", help="add the hooks to the settings file")
    add("--uninstall", action="store_true", help="remove the hooks from the settings file")
    add("--settings", metavar="FILE", help="the settings file [the user's own]")
    add("--dry-run", action="store_true", help="show the change and write nothing")
    add("--tools", action="store_true", help="list the agent's tools that access no resources")
    return parser


def _request(options: Namespace) -> dict[str, Any]:
    """Return the request to decide the call on standard input."""
    cwd = _working_directory()
    raw = sys.stdin.buffer.read(LONGEST_INPUT + 1)
    if len(raw) > LONGEST_INPUT:
        raise _Undecidable("the hook's input is too long")
    return {
        "kind": "ask",
        "agent": options.agent,
        "policy": os.path.abspath(options.policy),
        "cwd": cwd,
        "home": os.path.expanduser("~"),
        "input": raw.decode("utf-8", "surrogateescape"),
        "workspace": _absolute(options.workspace),
        "project": _absolute(_variable(PROJECT_VARIABLES, options.agent)),
        "settings_folder": _absolute(_variable(SETTINGS_VARIABLES, options.agent)),
        "caller": options.caller,
        "audit": _absolute(options.audit),
        "denies_asks": options.deny_asks,
        "git_elsewhere": leads_elsewhere(os.environ),
    }


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise _Undecidable("the folder that the hook was started in no longer exists") from None


def _variable(names: dict[str, str], agent: str) -> str | None:
    """Return the value of an agent's environment variable, None if it is not set."""
    return os.environ.get(names.get(agent, "")) or None


def _absolute(path: str | None) -> str | None:
    return None if path is None else os.path.abspath(path)


def _give_up() -> NoReturn:
    _end(blocked("the call could not be decided in time"))


def _end(answer: dict[str, Any]) -> NoReturn:
    """Print an answer and end the process at once; an answer that cannot be printed is a denial."""
    try:
        _print(2, answer["stderr"])
        _print(1, answer["stdout"])
    except OSError:
        os._exit(BLOCKED)
    os._exit(answer["status"])


def _print(descriptor: int, text: str) -> None:
    left = text.encode("utf-8", "backslashreplace")
    while left:
        left = left[os.write(descriptor, left) :]
