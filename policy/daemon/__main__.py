"""Runs the daemon of a policy: `python -m policy.daemon POLICY DESCRIPTOR`."""

from __future__ import annotations

import sys

from policy.daemon.server import serve

serve(sys.argv[1], int(sys.argv[2]))
