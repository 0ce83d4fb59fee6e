"""The seam: what a builder asks at each stage of a build, and reports to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policy.catalog import Catalog
from policy.checks import PolicySources
from policy.incremental.check_run import CheckRun
from policy.incremental.checked_rules import CheckedRules
from policy.incremental.inputs import Inputs
from policy.incremental.plan_cache import PlanCache
from policy.incremental.surroundings import surroundings
from policy.source import Source
from policy.syntax import Engine, Parsed, parse, tree


class Incremental:
    """What is known from the builds of one policy. Not for several threads at once."""

    def __init__(self) -> None:
        self.plans = PlanCache()
        self._rules = CheckedRules()
        self._inputs = Inputs()
        # Files by name and text: those of the build before, and of the one under way.
        self._files: dict[tuple[str, str], Parsed] = {}
        self._read: dict[tuple[str, str], Parsed] = {}

    def parse(self, source: Source, *, engine: Engine = "tables") -> Parsed:
        """Parse a file, or return what it came to in the build before."""
        key = (source.name, source.text)
        found = self._files.get(key)
        if found is None:
            found = parse(source, known=self._rules.heads, engine=engine)
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
        """Return the memory of a check of these sources, which must be everything it sees.

        `digests` are those of all files by name, `programs` the policy's own profiles.
        """
        inputs = self._inputs.digest(catalog, data=sources.data, digests=digests, programs=programs)
        self._rules.enter(surroundings(sources, inputs))
        return CheckRun(self._rules)

    def checked(self, trees: Iterable[tree.PolicyFile]) -> None:
        """End the check of these files: keep the texts of new rules, and nothing long gone."""
        for key, parsed in self._read.items():
            if key not in self._files:
                self._rules.meet(parsed.tree.statements)
        self._rules.prune(trees)
        self._files, self._read = self._read, {}

    def built(self) -> None:
        """End a build that made a generation."""
        self._rules.settle()
