"""`placet gateway --wrap` and `--unwrap`: moves a client's MCP servers behind Placet, and back."""

from policy.cli.wrapping.options import wrapping_options

__all__ = ["wrapping_options"]
