"""The tour: calls with their expected verdicts, and three edits in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from policy.cli.demo import screen
from policy.cli.demo.stage import Stage
from policy.mcp import McpClient

_LONGEST = 15.0  # seconds that an edit may take to be noticed
_AGAIN = 0.002  # seconds between two looks at it

_NOTE = {"path": "notes.txt", "content": "buy milk\n"}
_AFTER = "change-workspace: allow changes when writes only workspace\n"
_FREEZE = (
    'freeze: deny file_write when writes "**/*.txt" because "texts are frozen for the audit"\n'
)
_MISTAKE = ("allow file_read, file_list", "allow file_raed, file_list")


@dataclass(frozen=True, slots=True, kw_only=True)
class TourStep:
    """One call, its expected verdict, and the rule expected to give it."""

    tool: str
    input: Mapping[str, Any]
    verdict: str
    by: str
    kind: str | None = None
    answer: str | None = None
    shows: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The server's reply to one call."""

    text: str
    kind: str | None
    verdict: str
    approval: str | None
    rules: tuple[str, ...]
    number: int | None
    digest: str
    stale: bool


def allowed(stage: Stage) -> tuple[TourStep, ...]:
    """Return the calls that are allowed."""
    inspect = "git status" if (stage.workspace / ".git").is_dir() else "date"
    return (
        TourStep(tool="file_write", input=_NOTE, verdict="allow", by="change-workspace"),
        TourStep(
            tool="file_read",
            input={"path": "notes.txt"},
            verdict="allow",
            by="read-workspace",
            shows="buy milk",
        ),
        TourStep(tool="file_list", input={"path": "."}, verdict="allow", by="read-workspace"),
        _shell(inspect, "allow", "look-around"),
        _shell("ls", "allow", "look-around", shows="notes.txt"),
        _shell("wc notes.txt", "allow", "look-around", shows="notes.txt"),
        _web(stage.page, "allow", "fetch-internal", shows="The handbook"),
    )


def refused() -> tuple[TourStep, ...]:
    """Return the calls that are denied, and one that is not a valid call."""
    return (
        _shell("cat ~/.ssh/id_rsa", "deny", "secrets.no-credentials"),
        TourStep(tool="file_read", input={"path": "/etc/passwd"}, verdict="deny", by="default"),
        _web("http://169.254.169.254/latest/meta-data/", "deny", "no-inside"),
        _web("http://0xa9fea9fe/latest/meta-data/", "deny", "no-inside"),
        _shell("ls; rm -rf /", "deny", "default"),
        _shell("echo $(cat notes.txt)", "deny", "default"),
        TourStep(
            tool="file_read",
            input={"file": "notes.txt"},
            verdict="deny",
            by="schema",
            kind="validation-failed",
        ),
    )


def asked() -> tuple[TourStep, ...]:
    """Return the calls that need approval: the script answers yes, then no."""
    return (
        TourStep(
            tool="file_delete",
            input={"path": "old.txt"},
            verdict="ask",
            by="delete",
            answer="approved",
        ),
        TourStep(
            tool="file_delete",
            input={"path": "notes.txt"},
            verdict="deny",
            by="approval",
            answer="denied",
        ),
    )


def _shell(command: str, verdict: str, by: str, *, shows: str = "") -> TourStep:
    return TourStep(
        tool="bash_exec",
        input={"command": command},
        verdict=verdict,
        by=by,
        shows=shows,
    )


def _web(url: str, verdict: str, by: str, *, shows: str = "") -> TourStep:
    return TourStep(
        tool="web_fetch",
        input={"url": url},
        verdict=verdict,
        by=by,
        shows=shows,
    )


@dataclass(slots=True)
class Tour:
    """One run: counts its calls and keeps what was not as expected."""

    client: McpClient
    stage: Stage
    calls: int = 0
    missed: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Make every call and every edit, and print each as it happens."""
        first = await self._reply(allowed(self.stage)[1])
        screen.line("policy", f"generation {first.number}, {first.digest[:19]}")
        screen.heading(
            "1. Calls that are allowed",
            "An agent works: it writes and reads a file, runs harmless commands, fetches a page.",
        )
        await self._all(allowed(self.stage))
        screen.heading(
            "2. Calls that are denied",
            "The same agent goes too far: credentials, files outside of its folder, addresses",
            "inside the network, hidden commands. The second line is what the agent is told.",
        )
        await self._all(refused())
        screen.heading(
            "3. Calls that need an approval",
            "Deleting a file asks a person. Here a script answers: first yes, then no.",
        )
        await self._all(asked())
        await self._edits()

    async def _all(self, steps: tuple[TourStep, ...]) -> None:
        for step in steps:
            self._judge(step, await self._reply(step))

    async def _edits(self) -> None:
        good = self.stage.rule_file.read_text("utf-8")
        frozen = good.replace(_AFTER, _AFTER + _FREEZE)
        write = TourStep(tool="file_write", input=_NOTE, verdict="deny", by="freeze")
        before = await self._reply(write)

        screen.heading(
            "4. The rules are edited while the agent works",
            "A rule is added and the file is saved. The server reads the folder, checks the rules",
            "and runs their tests. Meanwhile the agent repeats its call, and the rules in force",
            "decide it. Then the new rules take over as a whole.",
        )
        screen.line("adds", _FREEZE.strip())
        after, wait = await self._saved(frozen, write, lambda r: r.number != before.number)
        self._judge(write, after)
        self._show_generation(after, f"in force {wait}")

        screen.heading(
            "5. A broken edit",
            "A tool's name is misspelt. The last good rules stay in force; the status says why.",
        )
        screen.line("writes", _MISTAKE[1])
        wrong, _ = await self._saved(frozen.replace(*_MISTAKE), write, lambda r: r.stale)
        self._judge(write, wrong)
        self._expect(wrong.number == after.number, "the generation stayed")
        status = await self._status("stale: ")
        self._show_generation(wrong, "still in force")
        screen.line("status", status)
        self._expect("global.policy:" in status, "the status names the file and line")

        screen.heading("6. The mistake is corrected, and then the added rule is removed")
        mended, wait = await self._saved(frozen, write, lambda r: not r.stale)
        self._expect(mended.number == after.number, "the generation is the one before")
        self._show_generation(mended, f"up to date {wait}")
        free = TourStep(tool="file_write", input=_NOTE, verdict="allow", by="change-workspace")
        last, wait = await self._saved(good, free, lambda r: r.number != after.number)
        self._judge(free, last)
        self._show_generation(last, f"in force {wait}")

    async def _saved(
        self, text: str, step: TourStep, until: Callable[[Reply], bool]
    ) -> tuple[Reply, str]:
        """Save the rule file and call until the edit shows; return the reply and how long it took.

        The time counts from the save to the first answer that shows the edit.
        """
        self.stage.save(text)
        began = time.perf_counter()
        before = 0
        while True:
            reply = await self._reply(step)
            took = time.perf_counter() - began
            if until(reply):
                return reply, f"{took * 1000:.0f} ms after the save, {_calls(before)} in between"
            before += 1
            if took > _LONGEST:
                self._expect(took < _LONGEST, f"an edit was noticed within {_LONGEST:.0f} seconds")
                return reply, f"not after {took:.0f} s"
            await asyncio.sleep(_AGAIN)

    async def _status(self, begin: str) -> str:
        """Return the last line of the server's log with this prefix."""
        deadline = time.perf_counter() + _LONGEST
        while time.perf_counter() < deadline:
            said = self.stage.log.read_text("utf-8").splitlines()
            found = [line for line in said if line.startswith(f"placet: {begin}")]
            if found:
                return found[-1].removeprefix("placet: ")
            await asyncio.sleep(_AGAIN)
        return ""

    async def _reply(self, step: TourStep) -> Reply:
        self.calls += 1
        result = await self.client.call_tool(step.tool, dict(step.input))
        said = result.get("_meta", {}).get("placet") or {}
        reasons = said.get("reasons") or []
        generation = said.get("generation") or {}
        return Reply(
            text="".join(part.get("text", "") for part in result["content"]),
            kind=said.get("kind"),
            verdict=str(said.get("verdict", "deny")),
            approval=said.get("approval"),
            rules=tuple(reason["rule"] for reason in reasons),
            number=generation.get("number"),
            digest=str(generation.get("digest", "")),
            stale=bool(said.get("stale")),
        )

    def _judge(self, step: TourStep, reply: Reply) -> None:
        """Print a call, and compare its result with what is expected."""
        what = f"{step.tool} {', '.join(str(value) for value in step.input.values())}"
        why = ", ".join(reply.rules) or "-"
        shown = "ask" if step.answer else reply.verdict
        result = reply.text.removeprefix("permission-denied: ") if reply.kind else ""
        screen.call(what, shown, answer=reply.approval, why=why, result=result)
        self._expect(reply.verdict == step.verdict, f"{what}: {step.verdict}, not {reply.verdict}")
        self._expect(step.by in reply.rules, f"{what}: by {step.by}, not by {why}")
        self._expect(step.shows in reply.text, f"{what}: the output shows `{step.shows}`")
        self._expect(reply.approval == step.answer, f"{what}: the answer is {step.answer}")
        kind = step.kind or ("permission-denied" if step.verdict == "deny" else None)
        self._expect(reply.kind == kind, f"{what}: {kind or 'no error'}, not {reply.kind}")

    def _show_generation(self, reply: Reply, how: str) -> None:
        screen.line("policy", f"generation {reply.number}, {reply.digest[:19]}, {how}")

    def _expect(self, holds: bool, what: str) -> None:  # noqa: FBT001 - a claim, not a switch
        if not holds:
            self.missed.append(what)
            screen.missed(f"expected: {what}")


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number} calls"
