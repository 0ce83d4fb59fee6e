"""The generation in force: loaded, watched and replaced as a whole; the emergency stop."""

from policy.store.acknowledgements import Acknowledgements, Loosening, NotWaiting
from policy.store.applying_edits import applying_edits
from policy.store.freezer import Freeze, Freezer, FreezeRefused, Freezing
from policy.store.health import health_record
from policy.store.proposing import propose_rule
from policy.store.running_tools import Registrar
from policy.store.status import Reloaded, Status, first_error
from policy.store.store import PolicyStore
from policy.store.watcher import watch_path

__all__ = [
    "Acknowledgements",
    "Freeze",
    "FreezeRefused",
    "Freezer",
    "Freezing",
    "Loosening",
    "NotWaiting",
    "PolicyStore",
    "Registrar",
    "Reloaded",
    "Status",
    "applying_edits",
    "first_error",
    "health_record",
    "propose_rule",
    "watch_path",
]
