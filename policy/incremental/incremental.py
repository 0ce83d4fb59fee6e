"""`Incremental`: what a builder asks at each stage of a build, and reports to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policy.catalog import Catalog
from policy.checks import PolicySources
from policy.incremental.check_run import CheckRun
from policy.incremental.checked_rules import CheckedRules
from policy.incremental.inputs import Inputs
from policy.incremental.plan_cache import PlanCache
from policy.incremental.surroundings import surroundings_digest
from policy.model import Source
from policy.syntax import Engine, Parsed, parse, tree, without_parts


class Incremental:
    """What is remembered from the builds of one policy. Not thread-safe.

    `engine` is the parsing engine.
    """

    def __init__(self, *, engine: Engine = "tables") -> None:
        self._engine = engine
        self.plans = PlanCache()
        self._rules = CheckedRules()
        self._inputs = Inputs()
        # Files by name and text: those of the previous build, and of the current one.
        self._files: dict[tuple[str, str], Parsed] = {}
        self._read: dict[tuple[str, str], Parsed] = {}

    def parse(self, source: Source) -> Parsed:
        """Parse a file, or return its result of the previous build."""
        key = (source.name, source.text)
        found = self._files.get(key)
        if found is None:
            found = parse(source, known=self._rules.known, engine=self._engine)
        self._read[key] = found
        return found

    def check_run(
        self,
        sources: PolicySources,
        catalog: Catalog,
        *,
        digests: Mapping[str, str],
        programs: Mapping[str, Source],
    ) -> CheckRun:
        """Return the memory for a check of these sources, which must be all of its input.

        `digests` are those of all files by name, `programs` the policy's own profiles.
        """
        inputs = self._inputs.digest(catalog, data=sources.data, digests=digests, programs=programs)
        self._rules.enter(surroundings_digest(sources, inputs))
        return CheckRun(self._rules)

    def checked(self, others: Iterable[tree.PolicyFile]) -> None:
        """End the check of these files: keep the texts of rules, and forget old ones.

        `others` were not parsed here.
        """
        for key, parsed in self._read.items():
            if any(isinstance(one, tree.Rule) for one in parsed.tree.statements):
                self._read[key] = without_parts(parsed, engine=self._engine)
            if key not in self._files:
                self._rules.meet(self._read[key].tree)
        self._rules.prune([*(one.tree for one in self._read.values()), *others])
        self._files, self._read = self._read, {}
