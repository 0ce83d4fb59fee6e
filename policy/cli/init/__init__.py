"""`placet init`: writes a small policy set to start from."""

from policy.cli.init.write_set import command

__all__ = ["command"]
