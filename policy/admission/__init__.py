"""A raw call becomes the one call that rules judge, approvers see and the tool receives."""

from policy.admission.admission import Admitted, Raw, RawCall, Refused, admit, never

__all__ = ["Admitted", "Raw", "RawCall", "Refused", "admit", "never"]
