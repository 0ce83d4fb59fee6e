"""The standard dataclasses, under the name by which most modules still import them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace

__all__ = ["dataclass", "field", "fields", "is_dataclass", "replace"]
