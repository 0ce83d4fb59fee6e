"""A crash inside of a sandbox: it must not hand a program outside what to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.generation import ConfiningDriver
from policy.sandbox import driver_named
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock, plan_in, run

_KEEPS_LIMIT = """
import resource
for limit in ((0, 0), (0, 1)):
    resource.setrlimit(resource.RLIMIT_CORE, limit)
    print(resource.getrlimit(resource.RLIMIT_CORE))
resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))
print(resource.getrlimit(resource.RLIMIT_CORE))
"""


@pytest.mark.parametrize(
    "driver",
    [
        pytest.param("bubblewrap", marks=needs_bubblewrap),
        pytest.param("landlock", marks=needs_landlock),
    ],
)
def test_no_crash_of_a_confined_program_reaches_one_of_the_system(
    tmp_path: Path, driver: ConfiningDriver
) -> None:
    script = f"/usr/bin/python3 -I -c '{_KEEPS_LIMIT}' && ulimit -c 0"
    found = run(plan_in(tmp_path), script, driver_named(driver))
    # The one limit with which Linux gives a core dump to no program.
    assert (found.stdout, found.returncode) == ("(1, 1)\n" * 3, 0)
