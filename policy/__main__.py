"""Runs the command line as `python -m policy`."""

from policy.cli import main

main()
