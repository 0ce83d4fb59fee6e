"""Turns a raw call into the one call that rules judge, approvers see and the tool receives."""

from policy.admission.admitter import Admitted, CallLike, RawCall, Refused, admit, no_unnamed_fields

__all__ = [
    "Admitted",
    "CallLike",
    "RawCall",
    "Refused",
    "admit",
    "no_unnamed_fields",
]
