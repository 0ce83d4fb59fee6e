"""Profile files are read strictly: any text gives a profile or a list of problems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.programs import ProfileFault, Profiles
from policy.programs.profiles.profile_file import ProfileFile, read_profile_file
from policy.shell import Assignment, Word


def faults(text: str, file: str = "x.toml") -> tuple[ProfileFault, ...]:
    read = read_profile_file(file, text)
    return read if isinstance(read, tuple) else ()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("flags = 3\n", 1, "`flags` must be a string"),
        ("\nfoo = 1\n", 2, "`foo` is not a key of a profile"),
        ('flags = "-a -bc=d"\n', 1, "`-bc=d` is no option of the style `gnu`"),
        ('flags = "-a -a"\n', 1, "the option `-a` is defined twice"),
        ('flags = "-a"\n[options]\n"-a" = "read"\n', 3, "the option `-a` is defined twice"),
        ('[options]\n"-o" = "wirte"\n', 2, "`wirte` is not a role"),
        ('[options]\n"-o" = "flag argv..."\n', 2, "the role `argv...` takes words"),
        ('operands = "raed"\n', 1, "`raed` is not a role"),
        ('operands = "read... write..."\n', 1, "only one role"),
        ('always = ["write"]\nbare = ["x y"]\n', 2, "`x` is not a role of an effect"),
        ('style = "dos"\n', 1, "this is not a style"),
        ("[[variant]]\nunseen = true\n", 1, "a variant needs"),
        ('[[variant]]\ngiven = "-a"\nstyle = "gnu"\n', 3, "`style` is not a key of a variant"),
        ("[sub.a]\nunseen = 1\n", 2, "`unseen` must be true or false"),
        ('[sub.a]\nlike = "b"\n', 2, "there is no subcommand `b`"),
        ("[[examples]]\nreads = []\n", 1, "an example needs a script"),
        ("a = \n", 1, "the file is not valid TOML"),
        ('style = "gnu"\nflags = [\n\n', 2, "the file is not valid TOML"),
        ("a = " + "[" * 5000, 0, "the file is nested too deeply"),
    ],
)
def test_a_mistake_is_told_at_its_line(text: str, line: int, message: str) -> None:
    told = faults(text)

    assert [one.message for one in told if one.message.startswith(message)], told
    assert [one.line for one in told if one.message.startswith(message)] == [line]


def test_a_file_may_say_nothing() -> None:
    assert isinstance(read_profile_file("x.toml", ""), ProfileFile)


KEYS = st.sampled_from(
    "names style flags values guarded options operands bare always variant means sub stdin "
    "examples replace like given x".split()
)
VALUES = st.recursive(
    st.sampled_from(["true", "3", '""', '"-a|-b?"', '"read... write"', '"flag x"', "[]", '["x"]']),
    lambda inner: st.lists(st.tuples(KEYS, inner), max_size=3, unique_by=lambda one: one[0]).map(
        lambda pairs: "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"
    ),
    max_leaves=6,
)


@given(st.lists(st.tuples(KEYS, VALUES), max_size=5, unique_by=lambda one: one[0]))
def test_any_table_is_read_or_told_to_be_wrong(pairs: list[tuple[str, str]]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in pairs)
    told = faults(text)

    assert all(one.message and 0 <= one.line <= len(pairs) + 1 for one in told)
    if not told:
        assert Profiles.of({"x.toml": text}).profile("x") is not None


@given(st.text())
def test_any_text_is_read_or_told_to_be_wrong(text: str) -> None:
    read = read_profile_file("x.toml", text)

    assert isinstance(read, ProfileFile) or read


def test_programs_are_found_by_every_name_and_none_other() -> None:
    profiles = Profiles.of({"sed.toml": 'names = ["gsed", "sed4.*"]\n', "a.toml": ""})

    for name in ("sed", "gsed", "sed4.8"):
        found = profiles.profile(name)
        assert found is not None and found.name == "sed"
    for name in ("Sed", "G", "sed4", "gsed ", "environment", ""):
        assert profiles.profile(name) is None


def test_a_program_whose_file_cannot_be_read_may_do_all() -> None:
    found = Profiles.of({"x.toml": "flags = 3"}).profile("x")

    assert found is not None and found.hides and found.operands == ("unknown...",)


def test_later_files_add_and_override() -> None:
    early = 'flags = "-a -b"\noperands = "read..."\nalways = ["read x"]\n[sub.s]\nflags = "-a"\n'
    late = '[options]\n"-b" = "write"\n[sub.s]\nflags = "-c"\nunseen = true\n'
    found = Profiles.of({"x.toml": early}, {"programs/x.toml": late}).profile("x")

    assert found is not None
    assert found.options["-a"].role == "text"
    assert found.options["-b"].role == "write" and found.options["-b"].guarded
    assert found.operands == ("read...",) and found.always == (("read", "x"),)
    assert set(found.subcommands["s"].options) == {"-a", "-c"}
    assert found.subcommands["s"].unseen and not found.unseen


def test_what_later_files_replace_does_not_hold() -> None:
    early, late = 'flags = "-a"\n', 'replace = true\nflags = "-b"\n'
    found = Profiles.of({"x.toml": early}, {"x.toml": late}).profile("x")

    assert found is not None and set(found.options) == {"-b"}


def test_subcommands_take_over_what_holds_for_every_use() -> None:
    text = """
everywhere = true
unseen = true
always = ["connect ?"]
style = "posix"
flags = "-v"
[sub.a]
names = ["b"]
flags = "-x"
[sub.c]
like = "a"
unseen = false
"""
    found = Profiles.of({"x.toml": text}).profile("x")

    assert found is not None
    assert found.subcommands["b"] is found.subcommands["a"]
    assert set(found.subcommands["a"].options) == {"-v", "-x"}
    assert set(found.subcommands["c"].options) == {"-v", "-x"}
    assert found.subcommands["a"].always == (("connect", "?"),)
    assert found.subcommands["a"].unseen and not found.subcommands["c"].unseen
    # Options of a subcommand may stand after its operands all the same.
    assert found.subcommands["a"].style == "gnu"


def test_variables_are_found_by_name_and_by_glob() -> None:
    early = 'harmless = "LANG LC_*"\ncode = "LD_PRELOAD"\n'
    profiles = Profiles.of({"environment.toml": early}, {"environment.toml": 'command = "LC_X"\n'})

    assert profiles.variable("LC_ALL") == profiles.variable("LANG") == "harmless"
    assert profiles.variable("LD_PRELOAD") == "code"
    assert profiles.variable("LC_X") == "command"
    assert profiles.variable("lang") is None


def test_a_later_role_of_a_variable_ends_its_harmless_values() -> None:
    early = 'code = "X Y"\n[values]\n"X Y" = "-a --b=*"\n'
    later = Profiles.of({"environment.toml": early}, {"environment.toml": 'code = "X"\n'})

    def role(name: str, text: str, profiles: Profiles) -> str | None:
        return profiles.variable_set(Assignment(name, Word(text)))

    first = Profiles.of({"environment.toml": early})
    assert role("X", "-a --b=1", first) == role("X", "", first) == "harmless"
    assert role("X", "-a -c", first) == role("X", "--b=1 x", first) == "code"
    assert role("X", "-a", later) == "code"
    assert role("Y", "-a", later) == "harmless"


@pytest.mark.parametrize("text", ["values = 3\n", "[values]\nX = 1\n", "[values]\nX = ' '\n"])
def test_harmless_values_are_a_table_of_words(text: str) -> None:
    assert Profiles.of({"environment.toml": text}).faults()


@pytest.mark.parametrize(
    "text",
    [
        'links_at = "a"\n',
        'links = "never"\nlinks_at = "a"\n',
        'links = "below"\nlinks_at = "/a"\n',
        'links = "below"\nlinks_at = "a/../b"\n',
        'links = "below"\nlinks_at = 3\n',
        '[[variant]]\ngiven = "-x"\nlinks_at = "a"\n',
        'kept_links = "/a"\n',
        '[[variant]]\ngiven = "-x"\nkept_links = "a/../b"\n',
    ],
)
def test_places_of_links_are_below_what_is_written(text: str) -> None:
    assert faults(text)


def test_places_of_links_go_with_the_links_of_the_same_section() -> None:
    text = """
links = "below"
links_at = "a"
[sub.same]
[sub.other]
links = "below"
links_at = "b c"
[sub.all]
links = "below"
"""
    found = Profiles.of({"x.toml": text}).profile("x")
    assert found is not None
    names = {name: found.subcommands[name].links_at for name in ("same", "other", "all")}
    assert names == {"same": ("a",), "other": ("b", "c"), "all": ()}
