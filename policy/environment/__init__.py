"""Facts about this machine (disk, host names, clock), in the form that decisions take."""

from policy.environment.fact_source import FactSource, JudgedHosts, LookUp, look_up_host
from policy.environment.letter_case import LetterCase
from policy.environment.links import Links, follow_links
from policy.environment.links_passed import links_on_the_way
from policy.environment.lookups import MOST_SECONDS, DiskLookups
from policy.environment.policy_reach import policy_in_reach
from policy.environment.resolvers import Disk
from policy.environment.session_workspaces import (
    SessionWorkspaces,
    WorkspaceUnusable,
    open_workspaces,
)
from policy.environment.workspace_quota import WorkspaceFull, WorkspaceQuota

__all__ = [
    "MOST_SECONDS",
    "Disk",
    "DiskLookups",
    "FactSource",
    "JudgedHosts",
    "LetterCase",
    "Links",
    "LookUp",
    "SessionWorkspaces",
    "WorkspaceFull",
    "WorkspaceQuota",
    "WorkspaceUnusable",
    "follow_links",
    "links_on_the_way",
    "look_up_host",
    "open_workspaces",
    "policy_in_reach",
]
