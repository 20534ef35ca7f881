# SPDX-License-Identifier: GPL-2.0-only
"""`cellq load`: every bad parameter is refused by name, on one line (Show 6)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from topology import libcellq

GOOD = {
    "name": "down",
    "policy": "sd",
    "buffer-cells": "531",
    "threshold-ppm": "800000",
    "z-ppm": "800000",
    "rate-bit-per-s": "45000000",
    "access-rate-bit-per-s": "149760000",
    "access-delay-ns": "5000",
    "vcs": "100",
    "ifindex-base": "1000",
    "verdict-dev": "down",
    "announce-list": "hosts",
}


@pytest.fixture(scope="session")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The loader's command line, compiled without libbpf."""
    out = tmp_path_factory.mktemp("parse")
    program = out / "parse"
    make = ["make", "-s", "-C", libcellq.SOURCE, f"OUT={out}", out / "policy_list.h"]
    subprocess.run(make, check=True)
    here = Path(__file__).parent
    source = [here / "parse_main.c", libcellq.SOURCE / "loader/options.c"]
    subprocess.run(
        ["cc", "-Wall", "-Werror", f"-I{libcellq.SOURCE}", f"-I{out}", *source, "-o", program],
        check=True,
    )
    return program


def parse(parser: Path, options: dict[str, str], *more: str) -> subprocess.CompletedProcess[str]:
    """Run the parser with these options."""
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return subprocess.run([parser, *words, *more], capture_output=True, text=True, check=False)


def without(name: str) -> dict[str, str]:
    """The good options less one."""
    return {key: value for key, value in GOOD.items() if key != name}


def test_good_options(parser: Path) -> None:
    """R = floor(0.8 x 531); 424 bits at 45 Mbit/s; whole ns on the access link."""
    done = parse(parser, GOOD, "--record-frames", "--record-drops")
    assert (done.returncode, done.stdout) == (0, "424 800000 9422222 2831000 1366\n")


@pytest.mark.parametrize(
    ("options", "threshold"),
    [
        ({"threshold-minus-cells": "36"}, 495),
        ({"threshold-minus-cells": "531"}, 0),
        ({"threshold-ppm": "0"}, 0),
        ({"threshold-ppm": "1000000"}, 531),
        ({"threshold-ppm": "999999"}, 530),
    ],
)
def test_thresholds(parser: Path, options: dict[str, str], threshold: int) -> None:
    done = parse(parser, without("threshold-ppm") | options)
    assert done.stdout.split()[0] == str(threshold)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "a/b"),
        ("name", "a.b"),
        ("name", ""),
        ("name", "x" * 65),
        ("policy", "red"),
        ("buffer-cells", "0"),
        ("buffer-cells", "-1"),
        ("buffer-cells", "1048577"),
        ("buffer-cells", "531x"),
        ("buffer-cells", ""),
        ("threshold-ppm", "1000001"),
        ("z-ppm", "0"),
        ("z-ppm", "-800000"),
        ("z-ppm", "0.8"),
        ("rate-bit-per-s", "999999"),
        ("rate-bit-per-s", "622080001"),
        ("rate-bit-per-s", "45e6"),
        ("access-rate-bit-per-s", "1"),
        ("access-rate-bit-per-s", "99999999999999999999"),
        ("access-delay-ns", "-5"),
        ("access-delay-ns", "1000000001"),
        ("vcs", "0"),
        ("vcs", "1025"),
        ("ifindex-base", "2147483647"),
        ("verdict-dev", "a-name-of-16-let"),
        ("sample-ns", "9999"),
        ("max-frame-cells", "0"),
        ("max-frame-cells", "1367"),
        ("late-tolerance-ns", "-1"),
    ],
)
def test_bad_value(parser: Path, name: str, value: str) -> None:
    """Status 2, one line, with the option's name and the value."""
    done = parse(parser, GOOD | {name: value})
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"cellq: --{name} {value}: must be ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", [n for n in GOOD if n != "threshold-ppm"])
def test_missing(parser: Path, name: str) -> None:
    done = parse(parser, without(name))
    assert done.returncode == 2
    assert done.stderr.startswith(f"cellq: --{name} is missing")


@pytest.mark.parametrize(("policy", "needed"), [("epd", True), ("fba", True), ("ppd", False)])
def test_threshold_missing(parser: Path, policy: str, needed: bool) -> None:
    done = parse(parser, without("threshold-ppm") | {"policy": policy})
    assert (done.returncode == 2) == needed
    assert ("--threshold-minus-cells is missing" in done.stderr) == needed


@pytest.mark.parametrize(
    ("options", "more", "says"),
    [
        (GOOD | {"threshold-minus-cells": "3"}, [], "--threshold-minus-cells cannot be"),
        (without("threshold-ppm") | {"threshold-minus-cells": "532"}, [],
         "--threshold-minus-cells 532: must be 0 to 531 (--buffer-cells)"),
        (GOOD, ["--colour", "red"], "this command has no option --colour"),
        (GOOD, ["--vcs"], "--vcs needs a value"),
        (GOOD, ["stray"], "stray: not an option"),
        (GOOD | {"json": ""}, [], "this command has no option --json"),
    ],
)  # fmt: skip
def test_bad_combination(parser: Path, options: dict[str, str], more: list[str], says: str) -> None:
    done = parse(parser, options, *more)
    assert done.returncode == 2
    assert done.stderr.startswith(f"cellq: {says}")
    assert done.stderr.count("\n") == 1
