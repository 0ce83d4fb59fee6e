"""Turns a raw call into the one call that rules judge, approvers see and the tool receives."""

from policy.admission.admitter import Admitted, CallLike, RawCall, Refused, admit, no_unnamed_fields
from policy.admission.input_check import input_fault

__all__ = [
    "Admitted",
    "CallLike",
    "RawCall",
    "Refused",
    "admit",
    "input_fault",
    "no_unnamed_fields",
]
