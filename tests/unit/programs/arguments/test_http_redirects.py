"""Which commands may be redirected to a host that they do not name."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import Profiles, analyse_script
from policy.values import Unreadable

_PROFILES = Profiles.of(shipped_profile_texts())

FOLLOW = """\
curl -L https://a.example
curl -sSfL https://a.example
curl -Lo out a.example/x
curl --location a.example
curl --location-t a.example
curl --location-trusted a.example
curl --follow a.example
curl --no-location -L a.example
curl -L --max-redirs 3 a.example
curl -L --max-redirs 0 --max-redirs -1 a.example
curl -L --max-redirs $n a.example
curl -L --proto-redir =https a.example
curl -L a.example --next --no-location b.example
curl -L a.example -: --max-redirs 0 b.example
curl -L $url
curl -L --url https://a.example
sudo curl -L a.example
wget a.example
wget -qO- https://a.example/x
wget --spider https://a.example
wget -P out https://a.example
wget --max-redirect=5 https://a.example
wget --max-redirect 0 --max-redirect 1 https://a.example
http -F a.example
aria2c https://a.example/x
git clone https://a.example/r.git
git clone http://a.example/r.git
git fetch https://a.example/r.git
git pull https://a.example/r.git main
git ls-remote https://a.example/r.git
git submodule add https://a.example/r.git
git -c http.followRedirects=true clone https://a.example/r.git
git -c http.followRedirects=initial clone https://a.example/r.git
pip install https://a.example/x.whl
pip download -i https://a.example/simple x
pip install git+https://a.example/r.git
npm install https://a.example/x.tgz
npm install --registry https://a.example x
npx --registry https://a.example x
cargo install --git https://a.example/r.git
gem install --source https://a.example x
go get a.example/x
helm pull https://a.example/x.tgz
docker pull a.example/x
ffmpeg -i https://a.example/x.mp4 out.mp4"""
STAY = """\
curl https://a.example
curl -sSf https://a.example
curl -L --no-location https://a.example
curl -L --max-redirs 0 https://a.example
curl --max-redirs 5 https://a.example
curl --post301 https://a.example
curl -L ftp://a.example/x
curl -L --help
wget --max-redirect=0 https://a.example
wget --max-redirect 0 -P out https://a.example
wget ftp://a.example/x
wget --version
git -c http.followRedirects=false clone https://a.example/r.git
git -c http.followredirects=no clone https://a.example/r.git
git clone ssh://a.example/r.git
git clone git@a.example:r.git
git clone ./r
git push origin main
git fetch
git status
pip install requests
npm install
npm install react
cargo build
ssh a.example ls
scp x a.example:
psql -h a.example"""


def _may_follow(script: str) -> bool:
    read = analyse_script(script, _PROFILES)
    assert not isinstance(read, Unreadable)
    return any(effect.redirected for command in read.walk() for effect in command.effects)


@pytest.mark.parametrize("script", FOLLOW.splitlines())
def test_a_command_may_be_sent_on(script: str) -> None:
    assert _may_follow(script)


@pytest.mark.parametrize("script", STAY.splitlines())
def test_a_command_goes_where_it_says(script: str) -> None:
    assert not _may_follow(script)


def test_the_reason_names_the_program() -> None:
    read = analyse_script("curl -L https://a.example", _PROFILES)

    assert not isinstance(read, Unreadable)
    (effect,) = (one for one in read.commands[0].effects if one.redirected)
    assert effect.why == "`curl` may follow a redirect to another host"
    assert effect.by == ("--location",)
