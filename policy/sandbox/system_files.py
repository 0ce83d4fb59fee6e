"""What every confined program may read: programs, libraries, and what they look up to run."""

from __future__ import annotations

# Programs and what they load. Each is a folder or, on most machines, a link into /usr.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
# What is in them is run, or loaded, by programs that nothing confines.
PROGRAMS = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"),
    *(f"/usr/{name}" for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec")),
    *(f"/usr/local/{name}" for name in ("bin", "sbin", "lib")),
)
# What programs look up to run at all: no keys, nothing of other services. `gitconfig` and `wgetrc`
# could hold passwords, which do not belong there, since every user of the machine can read them.
ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "default/locale",
    "fonts",
    "gitconfig",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.conf",
    "localtime",
    "login.defs",
    "magic",
    "mime.types",
    "networks",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "protocols",
    "python3",
    "python3.11",
    "resolv.conf",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "wgetrc",
)
# Folders that a sandbox with mounts of its own has empty, in memory.
SCRATCH = ("/tmp", "/run", "/var/tmp", "/dev/shm")  # noqa: S108
