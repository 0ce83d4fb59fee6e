"""Builds a generation from a policy's folder: files, settings, catalogue, checks, program."""

from policy.generation.approvals_path import approvals_path
from policy.generation.builder import (
    Builder,
    Configuration,
    Proving,
    build,
    configuration,
    unexpected,
)
from policy.generation.built import Built
from policy.generation.client_settings import ClientSettings, JwtIssuer, KnownClient
from policy.generation.collector_pause import no_collecting
from policy.generation.decoding import decode
from policy.generation.deprecated import accept_cache, chosen_engine
from policy.generation.folder import (
    LARGEST_FILE,
    ReadFile,
    Signature,
    Snapshot,
    absolute_path,
    content_digest,
    may_be_unfinished,
    read_folder,
    signature,
    with_file,
)
from policy.generation.generation import Generation
from policy.generation.loader import load, read_policy
from policy.generation.mcp_files import read_server, read_server_file
from policy.generation.mcp_servers import (
    ClientFeature,
    HttpServer,
    Isolation,
    McpServer,
    OAuthClient,
    OutputSchema,
    SecretReference,
    ServerTransport,
    StdioServer,
    Value,
    WebSocketServer,
    server_folders,
)
from policy.generation.mcp_servers import name_problem as server_name_problem
from policy.generation.plugin_settings import PluginSettings
from policy.generation.profiles import PROGRAMS_FOLDER
from policy.generation.protected_files import (
    ProtectedFiles,
    audit_protected,
    database_protected,
    state_protected,
)
from policy.generation.python_settings import PythonSettings
from policy.generation.sandbox_settings import (
    ConfiningDriver,
    Network,
    ProcessLimits,
    Reach,
    SandboxSettings,
)
from policy.generation.secret_values import (
    SecretUnreadable,
    read_secret,
    read_value,
    read_values,
)
from policy.generation.settings import (
    ApprovalSettings,
    HistorySettings,
    ServiceSettings,
    Settings,
)
from policy.generation.settings_file import parse_toml, read_settings
from policy.generation.shipped import shipped_packs, shipped_profile_texts, shipped_profiles
from policy.generation.toml_positions import Path, comments
from policy.generation.user_state import state_folder, state_folders, state_root
from policy.generation.walk import DATA_SUFFIXES, POLICY_SUFFIX, SETTINGS_FILE

__all__ = [
    "DATA_SUFFIXES",
    "LARGEST_FILE",
    "POLICY_SUFFIX",
    "PROGRAMS_FOLDER",
    "SETTINGS_FILE",
    "ApprovalSettings",
    "Builder",
    "Built",
    "ClientFeature",
    "ClientSettings",
    "Configuration",
    "ConfiningDriver",
    "Generation",
    "HistorySettings",
    "HttpServer",
    "Isolation",
    "JwtIssuer",
    "KnownClient",
    "McpServer",
    "Network",
    "OAuthClient",
    "OutputSchema",
    "Path",
    "PluginSettings",
    "ProcessLimits",
    "ProtectedFiles",
    "Proving",
    "PythonSettings",
    "Reach",
    "ReadFile",
    "SandboxSettings",
    "SecretReference",
    "SecretUnreadable",
    "ServerTransport",
    "ServiceSettings",
    "Settings",
    "Signature",
    "Snapshot",
    "StdioServer",
    "Value",
    "WebSocketServer",
    "absolute_path",
    "accept_cache",
    "approvals_path",
    "audit_protected",
    "build",
    "chosen_engine",
    "comments",
    "configuration",
    "content_digest",
    "database_protected",
    "decode",
    "load",
    "may_be_unfinished",
    "no_collecting",
    "parse_toml",
    "read_folder",
    "read_policy",
    "read_secret",
    "read_server",
    "read_server_file",
    "read_settings",
    "read_value",
    "read_values",
    "server_folders",
    "server_name_problem",
    "shipped_packs",
    "shipped_profile_texts",
    "shipped_profiles",
    "signature",
    "state_folder",
    "state_folders",
    "state_protected",
    "state_root",
    "unexpected",
    "with_file",
]
