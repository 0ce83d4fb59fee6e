"""What is known of common programs, as data: which run other commands, and which run code.

The tables are generous. A name missing here is a program whose operands are taken at their word.
"""

from __future__ import annotations

from functools import lru_cache

# What is asked again in one decision is remembered, if it is not large.
_SHORT = 2_048


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs that run a command or a script given in their words, their input or a file of commands.
RUN_COMMANDS = _names(
    """
    . source eval exec command builtin coproc trap alias unalias bind complete compgen compopt
    enable fc hash history mapfile readarray read let test declare typeset local readonly export
    unset set shopt getopts suspend wait sh bash dash zsh ksh mksh ash fish csh tcsh rbash rzsh
    pwsh powershell cmd elvish nu xonsh env sudo sudoedit doas su runuser pkexec gosu su-exec sg
    newgrp chroot unshare nsenter setpriv capsh nohup timeout nice ionice renice chrt taskset
    numactl setsid stdbuf time watch flock setarch linux32 linux64 i386 x86_64 prlimit choom
    systemd-run systemd-nspawn start-stop-daemon daemonize run-parts xargs parallel rush sem
    entr watchexec at batch crontab anacron cron script screen tmux byobu dtach abduco expect
    unbuffer rlwrap socat ncat nc netcat telnet strace ltrace gdb lldb rr valgrind perf bpftrace
    hyperfine catchsegv faketime fakeroot firejail bwrap proot torsocks torify tsocks
    proxychains proxychains4 dbus-run-session dbus-launch xvfb-run xterm gnome-terminal busybox
    toybox chronic ifne ssh scp sftp rsync rsh rlogin mosh sshpass autossh docker podman nerdctl
    kubectl oc lxc lxc-attach machinectl toolbox distrobox vagrant npx pnpx bunx uvx pipx nix
    nix-shell nix-env guix direnv asdf mise sed awk gawk mawk nawk ed ex red vi vim nvim view
    vimdiff rvim emacs emacsclient nano pico joe less more most man info pager dd tee install
    ld.so tini dumb-init catatonit chpst s6-setuidgid s6-envdir softlimit envdir envuidgid
    aws-vault aws-okta op doppler vault chamber conda mamba micromamba dotenv foreman honcho
    overmind concurrently npm-run-all ip mpirun mpiexec srun sbatch cgexec cset lsns fakechroot
    sqlite3 psql mysql mariadb sqlcmd mongosh mongo redis-cli ftp lftp
    """
)
# Interpreters: a script they are given by name is code out of sight, anything else is hidden.
INTERPRETERS = _names(
    """
    python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit tclsh wish
    Rscript R julia java scala groovy kotlin osascript jshell ghci runghc ocaml guile racket
    sbcl erl elixir iex irb swift dotnet octave gnuplot
    """
)
# Programs that run a project's own code: what it does is out of sight.
RUN_CODE = _names(
    """
    make gmake cmake ninja meson bazel buck scons rake gradle gradlew mvn ant sbt tox nox pytest
    py.test unittest coverage npm yarn pnpm pip pip3 uv poetry hatch pdm pre-commit cargo go
    rustc gcc g++ cc c++ clang clang++ ld jest vitest mocha karma tsc webpack vite eslint bundle
    gem composer phpunit rspec mix ansible ansible-playbook terraform pulumi helm invoke fab
    just task snakemake dvc jupyter ipython
    """
)
# Words that make a program run a command: exact, or as a beginning where they end in `*`.
RUNNING_WORDS: dict[str, tuple[str, ...]] = {
    "find": ("-exec", "-execdir", "-ok", "-okdir"),
    "fd": ("-x*", "-X*", "--exec*"),
    "rg": ("--pre*", "--hostname-bin*"),
    "tar": ("-I*", "-F*", "--to-command*", "--use-compress-program*", "--checkpoint-action*",
            "--info-script*", "--new-volume-script*", "--rsh-command*", "--rmt-command*"),
    "sort": ("--compress-program*",),
    "zip": ("-T*", "-TT*", "--unzip-command*"),
    "split": ("--filter*",),
    "git": (
        "-c*", "--config*", "--exec*", "-x*", "-O*", "--open-files-in-pager*", "--upload-pack*",
        "--receive-pack*", "--ext-diff", "--textconv",
    ),
    "uv": ("run", "tool"),
    "poetry": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "pipenv": ("run",),
    "bundle": ("exec",),
    "npm": ("exec", "x"),
    "yarn": ("exec", "dlx"),
    "pnpm": ("exec", "dlx"),
    "cargo": ("--config*",),
    "gpg": ("--photo-viewer*", "--exec-path*"),
    "curl": ("-K*", "--config*"),
    "wget": ("--use-askpass*", "-e*", "--execute*", "--config*"),
    "sqlite3": ("-cmd*", "-init*"),
    "psql": ("-c*", "-f*"),
    "printf": ("-v*",),
    "xmllint": ("--shell",),
}  # fmt: skip
# Subcommands of git that run a program, a hook or an editor of the caller's choice.
GIT_RUNNING = _names(
    """
    bisect citool config credential daemon difftool filter-branch gui hook instaweb maintenance
    mergetool rebase remote-ext send-email submodule
    """
)
# Programs whose words are never commands. Of any other, `deny * when runs X` looks at the ends of
# the words too: no list of programs that run what they are given can be complete.
RUN_NOTHING = _names(
    """
    echo printf cat head tail wc ls dir vdir stat file du df tree cut paste tr sort uniq comm join
    nl tac rev fold fmt expand unexpand diff cmp sdiff grep egrep fgrep rg sed basename dirname
    realpath readlink mkdir rmdir touch cp mv rm ln chmod chown chgrp truncate mktemp sha1sum
    sha256sum sha512sum md5sum cksum b2sum date cal sleep seq yes true false test pwd whoami id
    groups hostname uname uptime nproc which type jq yq xxd od hexdump strings base64 base32
    gzip gunzip bzip2 bunzip2 xz unxz zstd unzip zcat zgrep kill pkill killall ps free lsof
    """
)
# Programs whose operands may be hosts by their bare names. To any other program a word is a host
# only where it is spelled as a URL: looking every word up would tell the network what is typed.
NAME_HOSTS = _names(
    """
    curl wget http https xh curlie aria2c axel lynx w3m links elinks ftp lftp tftp telnet nc ncat
    netcat socat ping ping4 ping6 fping hping3 traceroute tracepath mtr dig nslookup host drill
    whois nmap masscan git svn hg bzr rsync scp sftp ssh mosh rsh rlogin redis-cli mysql mariadb
    psql pg_dump mongo mongosh mongodump sqlcmd kubectl oc docker podman skopeo gh glab aws gcloud
    gsutil az openssl smbclient snmpget snmpwalk ldapsearch grpcurl websocat wscat ab wrk hey
    iperf iperf3 rclone s3cmd mc swaks sendmail mail mutt msmtp
    """
)
# Subcommands of git whose words are no hosts; none of them can be an alias for another.
GIT_LOCAL = _names(
    """
    add blame branch cat-file checkout cherry-pick commit describe diff grep init log ls-files
    ls-tree merge merge-base mv reflog reset restore rev-list rev-parse revert rm shortlog show
    show-ref stash status switch tag
    """
)
# Characters of a sed script that can only select and print lines.
_SED_HARMLESS = frozenset("0123456789,$pdq=;! ")


def runs_commands(words: tuple[str, ...]) -> bool:
    """Tell whether a command may run others that its words do not show as commands."""
    return _remembered(words) if sum(map(len, words)) <= _SHORT else _runs_commands(words)


@lru_cache(maxsize=1024)
def _remembered(words: tuple[str, ...]) -> bool:
    return _runs_commands(words)


def _runs_commands(words: tuple[str, ...]) -> bool:
    if not words:
        return False
    name = words[0].rpartition("/")[2]
    if name == "sed" and _is_harmless_sed(words):
        return False
    if name in RUN_COMMANDS or name.startswith(("ld-linux", "qemu-")) or name == "[":
        return True
    if name[:1] == "g" and name[1:] in RUN_COMMANDS:
        return True  # the name that GNU tools have on other systems
    if name in ("tar", "gtar", "bsdtar") and len(words) > 1 and _is_old_style(words[1]):
        return True
    if _stem(name) in INTERPRETERS:
        return len(words) < 2 or words[1].startswith("-") or not words[1]
    if name == "git" and _is_running_git(words):
        return True
    return any(_is_running(word, RUNNING_WORDS.get(name, ())) for word in words[1:])


def runs_code(words: tuple[str, ...]) -> bool:
    """Tell whether a command runs code whose effects its words do not show."""
    if not words:
        return False
    name = words[0].rpartition("/")[2]
    return "/" in words[0] or name in RUN_CODE or _stem(name) in INTERPRETERS


def runs_nothing(words: tuple[str, ...]) -> bool:
    """Tell whether no word of a command can be a command that it runs."""
    if not words or runs_commands(words):
        return False
    return words[0] in RUN_NOTHING or _is_local_git(words)


def names_hosts(words: tuple[str, ...]) -> bool:
    """Tell whether bare words of a command may be names of hosts that it connects to."""
    if not words:
        return False
    return words[0].rpartition("/")[2] in NAME_HOSTS and not _is_local_git(words)


def _is_local_git(words: tuple[str, ...]) -> bool:
    return words[0].rpartition("/")[2] == "git" and words[1:2] != () and words[1] in GIT_LOCAL


def _stem(name: str) -> str:
    """Return the name without a version: `python3.11` is `python`."""
    return name if name in INTERPRETERS else name.rstrip("0123456789.-")


def _is_running(word: str, running: tuple[str, ...]) -> bool:
    return any(
        word.startswith(item[:-1]) if item.endswith("*") else word == item for item in running
    )


def _is_running_git(words: tuple[str, ...]) -> bool:
    """Tell whether git is given a transport that is a program, or a subcommand that runs one."""
    if any("::" in word for word in words):
        return True
    plain = len(words) > 1 and not words[1].startswith("-")
    return not GIT_RUNNING.isdisjoint(words[1:2] if plain else words[1:])


def _is_old_style(word: str) -> bool:
    """Tell whether tar's options without a dash name a program: `cfI`, `cfF`."""
    return not word.startswith("-") and any(letter in "IF" for letter in word)


def _is_harmless_sed(words: tuple[str, ...]) -> bool:
    return (
        len(words) > 2
        and words[1] == "-n"
        and _SED_HARMLESS.issuperset(words[2])
        and not any(word.startswith("-") for word in words[2:])
    )
