# SPDX-License-Identifier: GPL-2.0-only
"""Which tests a name means, what a failure says, and which options kernels get. No lab."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.kernels import names, parts
from harness.kernels.trees import PLAIN, PROGRAM, File
from harness.selftests import packetdrill, recipe, sources
from harness.selftests.choice import TOP, Test, all_in, chosen, limit_s
from plan.errors import MissingError, UsageError

DRILL = "net/packetdrill"
TREE = {
    f"{TOP}{DRILL}/ksft_runner.sh": PROGRAM,
    f"{TOP}{DRILL}/set_sysctls.py": PROGRAM,
    f"{TOP}{DRILL}/tcp_b.pkt": PLAIN,
    f"{TOP}{DRILL}/tcp_a.pkt": PLAIN,
    f"{TOP}net/fib_tests.sh": PROGRAM,
    f"{TOP}net/lib.sh": PLAIN,
    "net/ipv4/tcp.c": PLAIN,
}
KNOWN = all_in({path: File(mode, "") for path, mode in TREE.items()})


def test_a_tree_has_scripts_beside_a_runner_and_programs() -> None:
    names = [one.name for one in KNOWN]
    assert names == ["net/fib_tests.sh", f"{DRILL}/tcp_a.pkt", f"{DRILL}/tcp_b.pkt"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ([DRILL], ["tcp_a.pkt", "tcp_b.pkt"]),
        ([f"{DRILL}/"], ["tcp_a.pkt", "tcp_b.pkt"]),
        ([f"{DRILL}:tcp_b.pkt"], ["tcp_b.pkt"]),
        ([f"{TOP}{DRILL}/tcp_b.pkt", DRILL], ["tcp_a.pkt", "tcp_b.pkt"]),
        ([f"{DRILL}/tcp_[b]*"], ["tcp_b.pkt"]),
        (["net/fib_tests.sh"], ["fib_tests.sh"]),
    ],
)
def test_a_word_means_tests(asked: list[str], found: list[str]) -> None:
    assert [one.file for one in chosen("6.12", KNOWN, asked)] == found


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("net/packetdril", "did you mean net/packetdrill?"),
        (f"{DRILL}/tcp_c.pkt", f"did you mean {DRILL}/tcp_b.pkt?"),
        ("bpf", "write net/packetdrill, or FOLDER/FILE"),
        ("net", "but a folder with tests; write 'net/*' for all of them"),
        ("net/lib.sh", ""),
    ],
)
def test_an_unknown_test_is_told_with_what_is_near(word: str, meant: str) -> None:
    with pytest.raises(UsageError) as error:
        chosen("6.12", KNOWN, [DRILL, word])
    said = f"TEST {word}: the tree of kernel 6.12 has no such test"
    assert str(error.value).startswith(said) and meant in str(error.value)


def test_the_time_of_a_test_is_that_of_its_settings() -> None:
    assert [limit_s(text) for text in ("", "timeout=90\n", "timeout=0\n")] == [45, 90, 86_400]


def test_an_option_that_a_test_wants_as_a_module_is_built_in() -> None:
    first = "CONFIG_TUN=m\n# CONFIG_X is not set\nCONFIG_HZ=1000\nCONFIG_OVPN=m\n"
    texts = [first, "CONFIG_A=y\nCONFIG_B=17\n"]
    assert recipe.options(texts) == {"TUN": "y", "OVPN": "y", "A": "y", "B": "17"}
    config = (recipe.for_kernels(texts).root / "lab/kernel/config").read_text()
    assert "CONFIG_B=17\n" in config and "OVPN" not in config  # its source is not fetched


@pytest.mark.parametrize(
    ("name", "has"),
    [(names.SET_UP, "CONFIG_TUN=y\n"), (names.SET_UP, ""), ("7.3", "")],
)
def test_an_option_that_no_kernel_has_is_told(
    name: str, has: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """OVPN is left out of each build, so the build does not say that it lacks it."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / ".config").write_text(has)
    (tmp_path / "release").write_text("6.12.1\n")
    made = SimpleNamespace(folder=tmp_path, release="6.12.1", lacks=["X"])
    monkeypatch.setattr(sources.products, "kernel", lambda: tmp_path)
    monkeypatch.setattr(sources.store, "made", lambda *_: made)
    found = sources.Tests(
        kernel=name, place=tmp_path, chosen=[], configs=["CONFIG_TUN=y\nCONFIG_OVPN=m\n"],
        all_configs=[],
    )  # fmt: skip
    sources.tell.cache_clear()  # it says each line once
    sources.built(name, found)
    assert capsys.readouterr().err == f"kernel {name}: no OVPN, which the tests ask for\n"


def test_what_is_fetched_has_kernel_and_tests_and_names_nothing_twice() -> None:
    fetched = parts.lines(recipe.for_kernels().root / "lab/kernel/parts")
    assert parts.once(fetched) == fetched
    assert {"net", "drivers/net/netdevsim", "tools/testing/selftests/net"} <= set(fetched)


def test_packetdrill_is_found_in_a_clone_and_for_one_kernel(tmp_path: Path) -> None:
    built = tmp_path / "clone" / packetdrill.IN_CLONE
    other = tmp_path / "other"
    for path in (built, other):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    options = [str(tmp_path / "clone"), f"7.3={other}"]
    assert packetdrill.by_kernel(options, ["6.12", "7.3"]) == {"6.12": built, "7.3": other}


def test_a_path_of_packetdrill_may_have_an_equals_sign_or_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "of=2025" / "packetdrill"
    place.parent.mkdir()
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    kernels = ["6.12", "6.12,hz=250"]
    assert packetdrill.by_kernel([str(place)], ["6.12"]) == {"6.12": place}
    options = [f"6.12={place}", "6.12,hz=250=~/of=2025"]
    assert packetdrill.by_kernel(options, kernels) == dict.fromkeys(kernels, place)
    for twice in ([str(place)] * 2, [f"6.12={place}"] * 2):
        with pytest.raises(UsageError, match="has another one; name one only"):
            packetdrill.by_kernel(twice, ["6.12"])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("nowhere", "--packetdrill nowhere: nowhere does not exist; build"),
        ("empty", "--packetdrill empty: no built program packetdrill is in this folder; build"),
        ("6.1=empty", "--packetdrill 6.1=empty: 6.1 is no kernel of --kernel 6.12"),
        ("empty/text", "--packetdrill empty/text: this is no program; build"),
    ],
)
def test_a_wrong_packetdrill_is_refused(
    option: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "text").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="^" + said.replace(".", r"\.")):
        packetdrill.by_kernel([option], ["6.12"])


def test_a_missing_packetdrill_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="DIR; its source is at https://github.com/google/"):
        packetdrill.by_kernel([], ["6.12"])


def test_a_test_is_named_once() -> None:
    assert chosen("6.12", KNOWN, [DRILL, DRILL]) == [
        Test(DRILL, "tcp_a.pkt"),
        Test(DRILL, "tcp_b.pkt"),
    ]
