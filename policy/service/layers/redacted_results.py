"""Redacts what a tool returns, raises and reports, before records, history and agents see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from policy.audit import ResultRedaction
from policy.catalog import SERVER_REQUESTS
from policy.decision import NO_RESULT, ResultRules
from policy.generation import Generation
from policy.model import SENTENCES, Execution, PermissionDenied, ToolError
from policy.program import ResultRedactor, ResultWithheld
from policy.runtime import NoThreadFree, Threads
from policy.service.in_flight import InFlight
from policy.service.judging.adjudicator import Judgement
from policy.service.layers.progress_reports import reporting
from policy.tools import (
    NO_WORDS,
    PROTOCOL_WORDS,
    ProgressReporter,
    ResultPart,
    ToolOutput,
    ToolService,
    with_parts,
)
from policy.values import Redaction, is_ordinary

# Searching a large result takes milliseconds, or seconds if it was made to be slow.
_THREADS = Threads("redacting results", most=8, fair=True)
_LARGE_TEXT = 50_000
# A character takes so much longer in a text that is not shown as it is spelled.
_OF_HIDDEN = 50
_MANY_VALUES = 2_000

_Returned = TypeVar("_Returned")
_Redacted = TypeVar("_Redacted")


async def execute_redacted(inner: ToolService, call: InFlight, judgement: Judgement) -> ToolOutput:
    """Run a judged call, and return its output redacted.

    Raises PermissionDenied if nothing can redact it, and what `inner` raises, redacted; Execution
    with the code `result-withheld` if a redaction cannot be applied.
    """
    decision, judge = judgement.decision, judgement.judge
    judged = decision.call
    if not isinstance(judge, Generation):
        why = SENTENCES["cannot-redact"]
        raise PermissionDenied(judged.tool, why, decision=decision, code="cannot-redact")
    redacted = _RedactedCall(call, judgement, judge)
    call.redactions = ()
    try:
        with reporting(call, redacted.reporter):
            output = await inner.execute(judged.tool, judged.input)
    except ToolError as error:
        failed = error
    else:
        parts = (output.value, output.relayed and output.relayed.content)
        return await _beside_others(redacted.output, output, parts)
    failure = await _beside_others(redacted.error, failed, failed.message)
    # Its cause has the text that the tool has raised.
    failure.__cause__ = failure.__context__ = None
    raise failure


class _RedactedCall:
    """One call, with the generation whose redactions apply to it."""

    def __init__(self, call: InFlight, judgement: Judgement, judge: Generation) -> None:
        self._call = call
        self._judgement = judgement
        self._judge = judge

    def reporter(self, report: ProgressReporter) -> ProgressReporter:
        """Return a reporter of redacted messages; one that cannot be redacted is left out."""
        redactions = self._rules(NO_RESULT).redactions
        if not redactions:
            return report

        async def redacted(progress: float, total: float | None, message: str | None) -> None:
            if message is not None:
                try:
                    message = await _beside_others(shown, message, message)
                except NoThreadFree:
                    message = None
            await report(progress, total, message)

        def shown(message: str) -> str | None:
            try:
                return ResultRedactor(redactions).text(message)
            except ResultWithheld:
                return None

        return redacted

    def output(self, output: ToolOutput) -> ToolOutput:
        """Return the output, redacted; raise Execution if it is withheld."""
        try:
            # The text of an error is not what the tool declares that it returns.
            rules = self._rules(NO_RESULT if output.is_error else output.value)
            self._record_shadows(output, rules.shadowed)
            if not rules.redactions:
                return output
            redactor = ResultRedactor(rules.redactions)
            redacted = self._redacted(output, redactor, rules.redactions)
            self._redact_denial(rules.redactions)
        except ResultWithheld as withheld:
            raise self._withheld(withheld) from None
        self._record(rules.redactions, redactor)
        return redacted

    def error(self, error: ToolError) -> ToolError:
        """Return an error with its message redacted."""
        try:
            rules = self._rules(NO_RESULT)
            redactor = ResultRedactor(rules.redactions)
            message = redactor.text(error.message) if rules.redactions else error.message
            self._redact_denial(rules.redactions)
        except ResultWithheld as withheld:
            return self._withheld(withheld)
        self._record(rules.redactions, redactor)
        error.message, error.args = message, (message,)
        return error

    def _redact_denial(self, redactions: tuple[Redaction, ...]) -> None:
        """Redact what the sandbox has denied: its targets are from what the tool has printed."""
        denial = self._call.denial
        if denial is not None and redactions:
            self._call.denial = denial.with_targets(ResultRedactor(redactions).text)

    def _redacted(
        self, output: ToolOutput, redactor: ResultRedactor, redactions: tuple[Redaction, ...]
    ) -> ToolOutput:
        """Return an output with every part redacted; what stands in two parts counts once."""
        relayed, then = output.relayed, output.then
        if then is not None:
            then = replace(then, because=redactor.text(then.because))
        if relayed is None:
            is_of_protocol = self._judgement.decision.call.tool in SERVER_REQUESTS
            words = PROTOCOL_WORDS if is_of_protocol else NO_WORDS
            return replace(output, value=redactor.value(output.value, words=words), then=then)

        def change(part: ResultPart) -> Any:
            return redactor.value(part.value, words=part.words)

        # The value is made of the parts.
        words = PROTOCOL_WORDS if relayed.structured is None else NO_WORDS
        value = ResultRedactor(redactions).value(output.value, words=words)
        return replace(output, value=value, then=then, relayed=with_parts(relayed, change))

    def _rules(self, result: Any) -> ResultRules:
        return self._judge.result_rules(
            self._judgement.decision,
            caller=self._call.caller,
            facts=self._judgement.facts,
            result=result,
        )

    def _withheld(self, withheld: ResultWithheld) -> Execution:
        self._note(ResultRedaction(rule=withheld.rule, withheld=withheld.why))
        self._call.denial = None
        tool = self._judgement.decision.call.tool
        return Execution(tool, SENTENCES["result-withheld"], code="result-withheld")

    def _record_shadows(self, output: ToolOutput, shadowed: tuple[Redaction, ...]) -> None:
        """Note what each shadow rule would redact, by itself."""
        for redaction in shadowed:
            redactor = ResultRedactor((redaction,))
            try:
                self._redacted(output, redactor, (redaction,))
            except ResultWithheld as withheld:
                self._note(ResultRedaction(rule=redaction.rule, shadow=True, withheld=withheld.why))
                continue
            self._record((redaction,), redactor, shadow=True)

    def _record(
        self, redactions: tuple[Redaction, ...], redactor: ResultRedactor, *, shadow: bool = False
    ) -> None:
        for redaction in redactions:
            places = redactor.places[redaction.rule]
            if places or redactor.unsearched:
                self._note(
                    ResultRedaction(
                        rule=redaction.rule,
                        places=places,
                        unsearched=redactor.unsearched,
                        shadow=shadow,
                    )
                )

    def _note(self, redaction: ResultRedaction) -> None:
        self._call.redactions = (*(self._call.redactions or ()), redaction)


async def _beside_others(
    redacted: Callable[[_Returned], _Redacted], returned: _Returned, searched: Any
) -> _Redacted:
    """Redact what was returned, in a thread if there is much to be searched."""
    if _is_large(searched):
        return await _THREADS.run(redacted, returned)
    return redacted(returned)


def _is_large(value: Any) -> bool:
    """Return whether a value has so much text, or so many values, that others should not wait."""
    values, characters, todo = 0, 0, [value]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            characters += len(part)
            if not part.isascii() and not is_ordinary(part):
                characters += _OF_HIDDEN * len(part)
        elif isinstance(part, Mapping):
            todo += (*part, *part.values())
        elif isinstance(part, list | tuple):
            todo.extend(part)
        values += 1
        if characters > _LARGE_TEXT or values + len(todo) > _MANY_VALUES:
            return True
    return False
