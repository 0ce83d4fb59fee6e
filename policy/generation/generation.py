"""`Generation`: one policy ready to decide; its decisions name it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from policy.catalog import Catalog
from policy.decision import (
    NO_RESULT,
    Answer,
    Decision,
    GenerationId,
    ResultRules,
    answer,
    decide,
    decide_compiled,
    result_rules,
)
from policy.diagnostics import Diagnostic
from policy.evaluation import Floor
from policy.generation.pin_changes import pin_changes
from policy.generation.settings import Settings
from policy.generation.settings_changes import settings_changes
from policy.model import Caller, Facts, Source, ToolCall
from policy.program import Program
from policy.verify import Change, ExampleResult

if TYPE_CHECKING:
    from policy.pins import Lock

_SOMEBODY = Caller()
_NOWHERE = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Everything that one set of files means: it never changes, and it alone judges a call.

    `digests` are those of every file read, by name; `examples` the results of the tests in the
    files, all of them passed; `loaded_at` is when it was built, in UTC. `sources` are the texts,
    for showing where a reason is from. `announced` are the tools as their hosts declared them,
    without the configuration's additions. `lock` holds what people accepted of MCP servers, None
    if that is nothing. `floor` is what no tool may write. `home` is this process's home folder.
    """

    id: GenerationId
    program: Program
    catalog: Catalog
    settings: Settings
    warnings: tuple[Diagnostic, ...]
    digests: Mapping[str, str]
    sources: Mapping[str, Source] = field(compare=False)
    examples: tuple[ExampleResult, ...]
    loaded_at: datetime
    announced: Catalog | None = field(default=None, repr=False, compare=False)
    lock: Lock | None = field(default=None, repr=False, compare=False)
    floor: Floor = field(default_factory=Floor, repr=False, compare=False)
    home: str = field(default_factory=lambda: os.path.expanduser("~"), compare=False)
    _usual: Facts = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_usual", self._completed(_NOWHERE))

    def __repr__(self) -> str:
        return f"<Generation {self.id.number} {self.id.digest[:19]}>"

    def decide(
        self, call: ToolCall, caller: Caller = _SOMEBODY, *, facts: Facts = _NOWHERE
    ) -> Decision:
        """Return the decision on a call. Pure, and never raises for the contents of a call.

        A call that this generation's own `answer` admitted is decided as it is; every other one is
        admitted first. Raises TypeError for arguments of the wrong type.
        """
        program = self.program
        try:
            if call._admitted_by is program.token:
                known = self._usual if facts is _NOWHERE else self.complete(facts)
                if program.has_limits:
                    return decide(program, call, caller, known, generation=self.id)
                return decide_compiled(program, call, caller, known, self.id)
            return self.answer(call.tool, call.input, caller=caller, facts=facts).decision
        except AttributeError:  # types are checked only here, so that no valid call pays for it
            _require(call, ToolCall, "a call")
            _require(caller, Caller, "a caller")
            _require(facts, Facts, "what is known of a call")
            raise

    def answer(
        self,
        tool: str,
        input: object,
        *,
        caller: Caller = _SOMEBODY,
        facts: Facts = _NOWHERE,
    ) -> Answer:
        """Return the decision on a raw call, with the call as admitted or why it was not.

        `input` is a JSON object as Python represents it, or its text or bytes. Never raises for
        their contents; TypeError if `caller` or `facts` has another type.
        """
        try:
            return answer(
                self.program,
                tool,
                input,
                caller=caller,
                facts=self.complete(facts),
                generation=self.id,
            )
        except AttributeError:
            _require(caller, Caller, "a caller")
            _require(facts, Facts, "what is known of a call")
            raise

    def result_rules(
        self,
        decision: Decision,
        *,
        caller: Caller = _SOMEBODY,
        facts: Facts = _NOWHERE,
        result: object = NO_RESULT,
    ) -> ResultRules:
        """Return the redactions of what a tool has returned, for a decision of this generation.

        Without a result, for the text of an error, those apply that may. Raises ResultWithheld.
        """
        return result_rules(
            self.program, decision, caller=caller, facts=self.complete(facts), result=result
        )

    def changes_since(self, before: Generation) -> Iterator[Change]:
        """Yield what differs from an earlier generation besides rules, tools and profiles."""
        yield from settings_changes(before.settings, self.settings, self.program)
        yield from pin_changes(before.lock, self.lock)

    def complete(self, facts: Facts) -> Facts:
        """Return the facts with missing folders filled in from the configuration.

        The home folder defaults to this process's: without one, no path could be compared with an
        item such as `~/.ssh/**`, and every rule with one would restrict.
        """
        if facts is _NOWHERE:
            return self._usual
        if facts.workspace is not None and facts.home is not None:
            return facts
        return self._completed(facts)

    def _completed(self, facts: Facts) -> Facts:
        service = self.settings.service
        return replace(
            facts,
            workspace=facts.workspace or service.workspace,
            home=facts.home or service.home or self.home,
        )


def _require(given: object, kind: type[object], what: str) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"{what} is a `policy.{kind.__name__}`, not a {type(given).__name__}")
