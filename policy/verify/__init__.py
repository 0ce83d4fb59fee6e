"""Questions about a policy, answered without running a tool."""

from policy.verify.coverage import unreached_rules
from policy.verify.examples import ExampleResult, run_examples

__all__ = ["ExampleResult", "run_examples", "unreached_rules"]
