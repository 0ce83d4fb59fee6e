"""No option, abbreviation of one, or list of words lets a program bypass a rule.

The whole engine decides, with the profiles that ship with Placet, under a policy that allows any
program inside a workspace, under one of patterns, and under one that denies a few things.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.generation import shipped_profile_texts
from policy.model import Verdict
from policy.programs import Profile, Profiles
from policy.programs.profiles.profile import Option
from tests.corpora.judging import judge, told

INSIDE = """\
policy for every agent

default deny
a: allow bash_exec when runs only anything and reads only workspace and writes only workspace
     and connects only to nothing and sends only to nothing
"""
DENIES = """\
policy for every agent

default allow
d: deny * when writes "keep/**"
e: deny * when reads "secret.txt"
f: deny * when connects to "evil.example"
"""
OUTSIDE = """\
declare -n r=PATH; r=/x/bin2; cat a
typeset -gn r=PATH; r=/x/bin2; cat a
gcc -wrapper sh,-c,id f.c
gcc -Xlinker -o -Xlinker /x/LNK f.c
gcc -Wl,-o,/x/LNK f.c
gcc -fplugin=./x.so f.c
gcc -specs=x f.c
gcc -B. f.c
git --exec-path=x status
xargs --process-slot-var=PATH cat
xz --files=f
xz --files0=f
zstd --filelist=f
patch -g 1 -p1 -i a.diff
ssh-keygen -O write-attestation=/x/a -t ed25519-sk -f k
python3 -m json.tool a /x/b
python3 -m zipfile -e a.zip /x
python3 -m pytest --junitxml=/x/b
python3 -m venv /x/env
python3 -X pycache_prefix=/x/pc a.py
coverage html -d /x/html
mail -s x < f
pytest --pdb -x
xmllint --shell a.xml
unzip -: -o e.zip
tar -xPf a.tar
tar xPf a.tar
tar --absolute-names -x -f a.tar -C sub
bsdtar -xPf a.tar
bsdtar -cf - -L /etc/shadow
cd a/b && tar -cf - -C .. -C .. -C .. outside.txt
cd a/b && tar -C .. -C .. -C .. -xf ../../b.tar
sed -i'/x/SED*' s/a/b/ f
sed --in-place=/x/* s/a/b/ f
patch -b -B /x/pre- f p.diff
patch -b -Y ../../pre- f p.diff
patch -b -z /../../x f p.diff
csplit -f sub -b '/../../CSP%d' f 1
strings @/x/outside.txt
strings -n @/x/outside.txt
nm @/x
objdump -d @/x
readelf -h @/x
size @/x
ar @/x
7z l @/x
ruff check @/x
diff /etc sub/shadow
sdiff /etc sub/shadow
cpio -i < a.cpio
7z x -spf a.7z
ar xP a.a
git repack --expire-to=/x
zip -i@/x/names a.zip b"""
DENIED = """\
tar -cf - -C sub ../secret.txt
tar -cf - -C sub/.. secret.txt
tar -xf b.tar f -C sub
tar -xf b.tar -C sub -C ../keep
diff -N . e
diff secret.txt e
split -a1 f kee
split -a1 f keep/x
csplit -f keep/ f 1
cp -b -S.x f keep/y
strings @secret.txt
nm -j secret.txt
zstd -T secret.txt
last -f secret.txt
gcc -wrapper sh,-c,id f.c
ssh -L 80:evil.example:80 web.example
cmake --help-full keep/x"""
BY_PATTERN = {
    "tar -xf * -C *": "tar -xPf a.tar -C sub",
    "strings *": "strings @x",
    "java *": "java @x",
    "rustc *": "rustc @x",
    "mypy *": "mypy @x",
    "sed -i *": "sed -i/x/y s/a/b/ f",
    "strace -o * ls": "strace -o '|touch x' ls",
    "gcc *": "gcc -wrapper touch,x a.c",
    "patch *": "patch -b -B /x/pre- f p.diff",
}
FINE = """\
tar -xzf a.tgz
tar -xzf a.tgz -C sub
tar czf a.tgz -C sub .
tar -cf x.tar -C a b
cd a/b && tar -xf ../../b.tar
diff -u a.txt b.txt
diff -r sub keep
sed -i s/a/b/ x.txt
sed -i.bak s/a/b/ x.txt
split -l 10 f sub/part
csplit f 10
patch -p1 -i p.diff
unzip -o a.zip -d sub
strings f
nm -C a.o
cp -b a.txt b.txt
strace -f -o out.txt ls
git diff --stat
zstd -T0 f
declare -r LC_ALL=C"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options") / "ws"
    for name in ("a/b", "sub", "keep"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.mark.parametrize("script", OUTSIDE.splitlines())
def test_no_option_leads_out_of_the_workspace(script: str, workspace: Path) -> None:
    decision = judge(INSIDE, "bash_exec", {"command": script}, workspace=workspace)
    assert decision.verdict is not Verdict.ALLOW, told(decision)


@pytest.mark.parametrize("script", DENIED.splitlines())
def test_no_option_leads_past_a_deny(script: str, workspace: Path) -> None:
    decision = judge(DENIES, "bash_exec", {"command": script}, workspace=workspace)
    assert decision.verdict is not Verdict.ALLOW, told(decision)


@pytest.mark.parametrize(("pattern", "script"), BY_PATTERN.items())
def test_no_wildcard_covers_an_option_with_further_effects(
    pattern: str, script: str, workspace: Path
) -> None:
    rules = f"policy for every agent\n\ndefault deny\na: allow bash_exec when runs only {[pattern]}"
    policy = rules.replace("'", '"') + "\n"
    decision = judge(policy, "bash_exec", {"command": script}, workspace=workspace)
    assert decision.verdict is not Verdict.ALLOW, told(decision)


@pytest.mark.parametrize("script", FINE.splitlines())
def test_ordinary_options_stay_inside(script: str, workspace: Path) -> None:
    decision = judge(INSIDE, "bash_exec", {"command": script}, workspace=workspace)
    assert decision.verdict is Verdict.ALLOW, told(decision)


@given(
    folders=st.lists(st.sampled_from(["..", "a", "sub", "a/..", "../.."]), max_size=4),
    name=st.sampled_from(["secret.txt", "../secret.txt", "./../secret.txt"]),
)
def test_directory_options_of_tar_add_up(folders: list[str], name: str) -> None:
    """A member counts from all folders before it, so that no chain of them reaches the secret."""
    place = Path("/nowhere/ws")
    chain = " ".join(f"-C {folder}" for folder in folders)
    at: list[str] = list(place.parts[1:])
    for part in "/".join((*folders, name)).split("/"):
        at = at[:-1] if part == ".." else at if part == "." else [*at, part]
    found = judge(
        DENIES, "bash_exec", {"command": f"tar -cf x.tar {chain} {name}"}, workspace=place
    )
    hit = "/" + "/".join(at) == str(place / "secret.txt")
    assert (found.verdict is Verdict.DENY) == hit, told(found)


# Endings of names of options whose value is a file, a folder, a command or a part of a name.
_TELLING = (
    "file", "files", "dir", "directory", "folder", "output", "outfile", "command", "cmd", "exec",
    "script", "plugin", "suffix", "prefix", "logfile", "rcfile", "socket", "include",
)  # fmt: skip


def _plain(profile: Profile) -> dict[str, Option]:
    return {
        spelling: option
        for spelling, option in profile.options.items()
        if option.takes in ("value", "glued") and option.role == "text" and not option.guarded
        if spelling.lower().lstrip("-").rsplit("-")[-1] in _TELLING
    }


# Values of these only name something (a pattern, a format, a part of what is printed), or cannot
# hold a `/`: somebody has read the manual of each.
_REVIEWED = """
ack: --ignore-dir --ignore-directory --ignore-file --noignore-dir --noignore-directory
ag: --ignore-dir
aws: --include --output
basename numfmt pipx: --suffix
bat batcat: --ignored-suffix
black bsdtar coverage hg rsync: --include
blkid df findmnt helm journalctl lsblk lscpu lsmem lsmod lsns lspci lsusb nstat prlimit stdbuf
    ibmcloud systemctl tokei: --output
bzgrep xzgrep zegrep zfgrep zgrep: --binary-files --exclude-dir --include --include-dir
egrep fgrep grep rgrep: --binary-files --include-dir
cargo fmt: --prefix
cloc scc: --exclude-dir
cmake: --help-command
deno: --node-modules-dir
diff: --starting-file
dotnet: --version-suffix
golangci-lint: --path-prefix --skip-files
git: --add-virtual-file --directory --dirstat-by-file --dst-prefix
    --include --line-prefix --prefix --resolve-git-dir --src-prefix
    --subject-prefix --submodule-prefix --untracked-files
gpg: --max-output
tar: --include --starting-file --xattrs-include
kubectl: --command --prefix
logger: --prio-prefix
make: --new-file --old-file
mix tsx: --include
mypy: --command --output
netstat ss: --socket
npm: --include --save-prefix
nsenter: --net-socket
pandoc: --id-prefix --title-prefix
pytest: --junit-prefix
rustc: --remap-path-prefix
scc: --exclude-file
yq: --lua-prefix --lua-suffix --xml-attribute-prefix --xml-proc-inst-prefix
"""


def _reviewed() -> set[str]:
    found = set()
    for line in _REVIEWED.strip().replace("\n    ", " ").splitlines():
        programs, _, names = line.partition(": ")
        found |= {f"{one}:{name}" for one in programs.split() for name in names.split()}
    return found


def test_every_option_named_like_a_file_was_reviewed() -> None:
    shipped = Profiles.of(shipped_profile_texts())
    found = set()
    for file in shipped.files():
        top = shipped.profile(file.program)
        open_ = [top] if top else []
        while open_:
            profile = open_.pop()
            found |= {f"{file.program}:{name}" for name in _plain(profile)}
            open_ += {id(one): one for one in profile.subcommands.values()}.values()
    reviewed = _reviewed()
    assert found == reviewed, sorted(found ^ reviewed)


# Long names of one option that no `*` covers, by program: a pattern with one covers the others.
_SAME = """
ansible-playbook: --inventory --inventory-file
nodemon: -x --exec
ts-node: -e --eval
ts-node: -p --print
ansible-playbook: --vault-password-file --vault-pass-file
bsdtar: --extract --get
cargo: --artifact-dir --out-dir
dnf: --downloaddir --destdir
docker-compose: --project-directory --workdir
docker: --context --connection
docker: --host --url
docker: --network --net
docker: --project-directory --workdir
git: --force --discard-changes
git: --receive-pack --exec
git: --upload-pack --exec
gpg: --log-file --logger-file
gpgv: --log-file --logger-file
isort: --settings-path --sp --settings --settings-file
java: -cp -classpath --class-path
java: -m --module
java: -p --module-path
javac: -cp -classpath --class-path
javac: -p --module-path
javac: -processorpath --processor-path
javac: -sourcepath --source-path
jest: --testEnvironment --env
make: --file --makefile
mvn: -f --file
mvn: -gs --global-settings
mvn: -gt --global-toolchains
mvn: -l --log-file
mvn: -s --settings
mvn: -t --toolchains
node: --report-dir --report-directory
npx: --script-shell --shell
objdump: -S --source
pandoc: --self-contained --embed-resources
pip: --config-settings --config-setting
pip: --index-url --pypi-url
pytest: --junit-xml --junitxml
rsync: --remove-source-files --remove-sent-files
tar: --extract --get
tar: --info-script --new-volume-script
tox: --workdir --envdir
uv: --allow-insecure-host --trusted-host
uv: --config-setting --config-settings
vitest: --inspectBrk --inspect-brk
vitest: --root --dir
yt-dlp: --config-location --config-locations
yt-dlp: --downloader --external-downloader
yt-dlp: --downloader-args --external-downloader-args
yt-dlp: --postprocessor-args --ppa
"""


def _long_names(option: Option, *, style: str) -> list[str]:
    words = style in ("words", "listed")
    return [one for one in option.spellings if words or one.startswith("--")]


def test_every_option_with_two_long_names_was_reviewed() -> None:
    shipped = Profiles.of(shipped_profile_texts())
    found = set()
    for file in shipped.files():
        top = shipped.profile(file.program)
        open_ = [top] if top else []
        while open_:
            profile = open_.pop()
            for option in profile.options.values():
                names = _long_names(option, style=profile.style)
                if option.guarded and len(names) > 1:
                    found.add(f"{file.program}: {' '.join(names)}")
            open_ += {id(one): one for one in profile.subcommands.values()}.values()
    assert found == set(_SAME.strip().splitlines()), sorted(found ^ set(_SAME.strip().splitlines()))
