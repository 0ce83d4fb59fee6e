"""What a sandbox with mounts of its own has of `/etc`."""

from __future__ import annotations

import os
from pathlib import Path

from policy.sandbox.etc_files import etc_files
from tests.unit.sandbox.confining import needs_bubblewrap, plan_in, run


@needs_bubblewrap
def test_programs_find_names_and_certificates_and_no_passwords(tmp_path: Path) -> None:
    script = "getent passwd 0; cat /etc/hosts; ls /etc/ssl/certs | wc -l; cat /etc/shadow"
    done = run(plan_in(tmp_path), script)
    assert done.stdout.startswith("root:")
    assert Path("/etc/hosts").read_text() in done.stdout
    assert int(done.stdout.split()[-1]) == len(os.listdir("/etc/ssl/certs"))
    assert "/etc/shadow: No such file" in done.stderr


@needs_bubblewrap
def test_copies_are_not_written_either(tmp_path: Path) -> None:
    done = run(plan_in(tmp_path), "echo x >> /etc/hosts; echo x > /etc/new; rm -f /etc/hosts")
    refused = ("Read-only file system", "Permission denied")
    assert sum(map(done.stderr.count, refused)) == 3


def test_each_file_is_open_in_the_block_alone() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with etc_files() as files:
        assert {str(each) for each in files.descriptors} <= {*files.arguments}
        assert len(os.listdir("/proc/self/fd")) > before
    assert len(os.listdir("/proc/self/fd")) == before
