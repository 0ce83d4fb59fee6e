"""Redacts what a tool returns, raises and reports, before records, history and agents see it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from policy.audit import ResultRedaction
from policy.catalog import SERVER_REQUESTS
from policy.decision import NO_RESULT, ResultRules
from policy.generation import Generation
from policy.model import SENTENCES, Execution, PermissionDenied, ToolError
from policy.program import ResultRedactor, ResultWithheld
from policy.runtime import Threads
from policy.service.in_flight import InFlight
from policy.service.judging.adjudicator import Judgement
from policy.tools import (
    Client,
    ClientRequests,
    ProgressReporter,
    RelayedResult,
    ToolOutput,
    ToolService,
    Watch,
)
from policy.values import Redaction

# The keys, types and roles of the content of MCP results: without them, no client can read it.
_WORDS = frozenset(
    """annotations assistant audience audio blob content contents data description icons image
    isError lastModified messages mimeType name priority resource resource_link role size src
    structuredContent text title tool_result tool_use type uri user _meta""".split()
)
_NO_WORDS: frozenset[str] = frozenset()

# Searching a large result takes milliseconds, or seconds if it was made to be slow.
_THREADS = Threads("redacting results", most=8, fair=True)
_LARGE_TEXT = 50_000
_MANY_VALUES = 2_000


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
        with redacted.progress():
            output = await inner.execute(judged.tool, judged.input)
    except ToolError as error:
        failure = redacted.error(error)
    else:
        if _is_large((output.value, output.relayed and output.relayed.content)):
            return await _THREADS.run(redacted.output, output)
        return redacted.output(output)
    # Its cause has the text that the tool has raised.
    failure.__cause__ = failure.__context__ = None
    raise failure


class _RedactedCall:
    """One call, with the generation whose redactions apply to it."""

    def __init__(self, call: InFlight, judgement: Judgement, judge: Generation) -> None:
        self._call = call
        self._judgement = judgement
        self._judge = judge

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Redact what the tool reports of its progress to the client."""
        context = self._call.context
        client = None if context is None else context.client
        if context is None or client is None or client.progress is None:
            yield
            return
        redactions = self._rules(NO_RESULT).redactions
        self._call.context = replace(context, client=_RedactedClient(client, redactions))
        try:
            yield
        finally:
            self._call.context = context

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
            words = _WORDS if is_of_protocol else _NO_WORDS
            return replace(output, value=redactor.value(output.value, words=words), then=then)
        # The value is made of the parts.
        words = _WORDS if relayed.structured is None else _NO_WORDS
        value = ResultRedactor(redactions).value(output.value, words=words)
        return replace(output, value=value, then=then, relayed=_relayed(relayed, redactor))

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


def _is_large(value: Any) -> bool:
    """Return whether a value has so much text, or so many values, that others should not wait."""
    values, characters, todo = 0, 0, [value]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            characters += len(part)
        elif isinstance(part, Mapping):
            todo.extend(part.values())
        elif isinstance(part, list | tuple):
            todo.extend(part)
        values += 1
        if characters > _LARGE_TEXT or values + len(todo) > _MANY_VALUES:
            return True
    return False


def _relayed(result: RelayedResult, redactor: ResultRedactor) -> RelayedResult:
    return RelayedResult(
        content=tuple(redactor.value(block, words=_WORDS) for block in result.content),
        structured=redactor.value(result.structured),
        meta=redactor.value(result.meta, words=_WORDS),
        more=redactor.value(result.more, words=_WORDS),
    )


class _RedactedClient:
    """The client of a call whose tool reports its progress in redacted messages."""

    def __init__(self, client: Client, redactions: tuple[Redaction, ...]) -> None:
        self._client = client
        self._redactions = redactions

    @property
    def requests(self) -> ClientRequests | None:
        """Takes requests as the client does: they are calls of their own, and no result."""
        return self._client.requests

    @property
    def watch(self) -> Watch | None:
        """Hears that a resource has changed, and nothing of its contents."""
        return self._client.watch

    @property
    def origin(self) -> Hashable:
        """Where the call came from."""
        return self._client.origin

    @property
    def progress(self) -> ProgressReporter | None:
        """Takes reports of progress; a message that cannot be redacted is left out."""
        report = self._client.progress
        if report is None or not self._redactions:
            return report

        async def redacted(progress: float, total: float | None, message: str | None) -> None:
            if message is not None:
                try:
                    message = ResultRedactor(self._redactions).text(message)
                except ResultWithheld:
                    message = None
            await report(progress, total, message)

        return redacted
