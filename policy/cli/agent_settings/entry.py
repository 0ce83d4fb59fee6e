"""The hook in an agent's settings: its command, and the settings with it and without it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any

from policy.cli.agent_settings.json_text import Entry, Node, added, read, removed, replaced
from policy.daemon import agent_events, own_command

# How many seconds the agent waits; longer than the time limit of a hook call.
_SECONDS = 30
# A hook that ends without an answer exits with the status that blocks the call. That status itself
# comes with a reason of the hook's own.
_BLOCKING = """\
sh -c '"$@" || { [ $? = 2 ] || echo "placet: the hook gave no answer" >&2; exit 2; }' sh"""


def hook_command(options: Namespace, *, tells: bool = False) -> str:
    """Return the command line that is installed, with absolute paths.

    `tells`: for an event that only tells something, of which no failure may stop the agent.
    """
    words = [*own_command(), "hook", options.agent, "--policy", os.path.abspath(options.policy)]
    for name in ("workspace", "audit"):
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name}", os.path.abspath(value)]
    if options.caller is not None:
        words += ["--caller", options.caller]
    words += ["--deny-asks"] if options.deny_asks else []
    words += ["--no-daemon"] if options.no_daemon else []
    if tells:
        return f"{shlex.join(words)} || exit 0"
    # Without a POSIX shell, only the exit status is set.
    before = f"{_BLOCKING} " if os.name == "posix" else ""
    return f"{before}{shlex.join(words)} || exit 2"


def gemini_can_ask() -> bool:
    """Return whether the installed Gemini CLI supports the answer `ask`: 0.36 and newer.

    An older one treats an unknown answer as consent.
    """
    found = shutil.which("gemini")
    if found is None:
        return False
    try:
        # A program installed by the user, by its absolute path.
        output = subprocess.run(  # noqa: S603
            [found, "--version"], capture_output=True, text=True, timeout=20, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    version = re.search(r"(\d+)\.(\d+)", output)
    return version is not None and (int(version[1]), int(version[2])) >= (0, 36)


def is_ours(command: object, agent: str) -> bool:
    """Return whether a command of the settings is a hook that was installed for this agent."""
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if "hook" not in words:
        return False
    place = words.index("hook")
    started = [os.path.basename(word) for word in words[:place]]
    is_program = started[-1:] in (["placet"], ["placet.exe"]) or started[-2:] == ["-m", "policy"]
    return is_program and words[place + 1 : place + 2] == [agent]


def with_hooks(text: str, commands: Mapping[str, str], agent: str) -> str:
    """Return settings with a hook for each event, by its command; raises as `with_hook` does."""
    for event, command in commands.items():
        text = with_hook(text, event, agent, command)
    return text


def without_hooks(text: str, events: Iterable[str], agent: str) -> str:
    """Return settings without the hooks that `with_hooks` has added in this order of events."""
    for event in reversed(tuple(events)):
        text = without_hook(text, event, agent)
    return text


def with_hook(text: str, event: str, agent: str, command: str) -> str:
    """Return settings with the hook in them, once; raise ValueError if they are malformed."""
    group = _group(agent, event, command)
    whole = read(text)
    hooks = _part(whole, "hooks", dict)
    if hooks is None:
        return added(text, whole, {event: [group]}, key="hooks")
    groups = _part(hooks, event, list)
    if groups is None:
        return added(text, hooks, [group], key=event)
    for found in groups.entries:
        if _holds_ours(found.node.value, agent):
            return _updated(text, found.node, group, event, agent)
    return added(text, groups, group)


def without_hook(text: str, event: str, agent: str) -> str:
    """Return settings without the hook and without the containers that were made for it."""
    while True:
        whole = read(text)
        hooks = _part(whole, "hooks", dict)
        groups = None if hooks is None else _part(hooks, event, list)
        if hooks is None or groups is None:
            return text
        ours = next((g for g in groups.entries if _holds_ours(g.node.value, agent)), None)
        if ours is None:
            return text
        within = _part(ours.node, "hooks", list)
        assert within is not None
        hook = next(each for each in within.entries if _is_our_hook(each.node.value, agent))
        if len(within.entries) > 1:
            text = removed(text, within, hook)
            continue
        smaller = [removed(text, groups, ours)]
        if len(groups.entries) == 1:
            smaller.append(removed(text, hooks, _entry(hooks, event)))
            if len(hooks.entries) == 1:
                smaller.append(removed(text, whole, _entry(whole, "hooks")))
        command = hook.node.value["command"]
        # Containers that the user had, even empty ones, stay: only what an installation would put
        # in again is taken out.
        text = next(
            (each for each in smaller if with_hook(each, event, agent, command) == text),
            smaller[0],
        )


def hooks_are_off(text: str) -> bool:
    """Return whether the settings switch all hooks off."""
    settings = read(text).value
    return isinstance(settings, dict) and settings.get("disableAllHooks") is True


def _updated(text: str, found: Node, group: Mapping[str, Any], event: str, agent: str) -> str:
    """Return settings whose group has the hook as it is now; hooks of the user in it stay."""
    if found.value == group:
        return text
    within = _part(found, "hooks", list)
    assert within is not None
    if len(within.entries) == 1:
        return replaced(text, found, group)
    hook = next(each for each in within.entries if _is_our_hook(each.node.value, agent))
    (wanted,) = group["hooks"]
    if found.value.get("matcher") == group.get("matcher"):
        return text if hook.node.value == wanted else replaced(text, hook.node, wanted)
    # The group is for fewer tools now, and the hook is for all.
    return with_hook(removed(text, within, hook), event, agent, wanted["command"])


def _entry(node: Node, key: str) -> Entry:
    return next(entry for entry in node.entries if entry.key == key)


def _group(agent: str, event: str, command: str) -> Mapping[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": command, "timeout": _SECONDS}
    tells = agent_events(agent)
    if agent == "gemini-cli":
        hook = {"name": "placet", **hook, "timeout": _SECONDS * 1000}
    if agent == "claude-code" and event not in tells:
        hook["onFailure"] = "block"
    # Events that are not about a tool have no matcher, or one that does not mean tools.
    every = ".*" if agent == "gemini-cli" else "*"
    return {"matcher": every, "hooks": [hook]} if tells.get(event, True) else {"hooks": [hook]}


def _holds_ours(group: object, agent: str) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list):
        return False
    return any(_is_our_hook(each, agent) for each in hooks)


def _is_our_hook(hook: object, agent: str) -> bool:
    return isinstance(hook, dict) and is_ours(hook.get("command"), agent)


def _part(node: Node, key: str, kind: type) -> Node | None:
    if not isinstance(node.value, dict):
        raise ValueError("the settings are not a JSON object")
    found = [entry.node for entry in node.entries if entry.key == key]
    if len(found) > 1:
        raise ValueError(f"`{key}` is in the settings twice")
    if found and not isinstance(found[0].value, kind):
        raise ValueError(f"`{key}` of the settings has an unexpected type")
    return found[0] if found else None
