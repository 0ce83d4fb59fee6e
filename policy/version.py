"""The version of this package, in a module without imports."""

from __future__ import annotations

# Installed metadata says the same, but reading it imports a mail parser; a test holds them alike.
VERSION = "0.1.0"
