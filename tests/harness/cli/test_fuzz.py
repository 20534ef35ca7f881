# SPDX-License-Identifier: GPL-2.0-only
"""10,000 inputs: no traceback, no hang, exit codes of docs/commands.md, one line each.

Experiment files, command lines, result tables, and campaign directories. The same inputs each
time; CELLBED_FUZZ=10 makes ten times as many, and new ones.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness.campaign.campaign import CampaignRun
from harness.labs import LABS
from harness.records import record
from harness.runners.options import Options
from tests.analysis.synthetic import write_campaign
from tests.harness.cli.fuzz import cellbed, no_lab
from tests.paper import PaperLab, finish
from tests.small import SMALL, TINY, small_trials, write_small


def fuzzed(examples: int) -> settings:
    """So many inputs, the same each time; or as many times more as CELLBED_FUZZ says, new ones."""
    times = os.environ.get("CELLBED_FUZZ")
    return settings(
        max_examples=round(examples * float(times or 1)),
        derandomize=times is None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


NUMBERS = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**400]),
    st.floats(),
    st.sampled_from([1e-9, 1e-6, 0.5, 1e308]),
)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", ".", "..", "-x", "a/b", "a\nb", "\0", "\x1b[31m", "nan", "1e400", "x" * 300]
    ),
    st.sampled_from(["WAN", "SACK", "sack", "www", "iperf", "wrk", "epd", "none", "ubrplus_1998"]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(TEXTS, below, max_size=4)),
    max_leaves=6,
)
TOKENS = re.compile(r'"[^"]*"|[\w.]+|[^\w\s]')
WORDS = sorted(set(TOKENS.findall(SMALL + TINY))) + [
    "nan", "inf", "1e400", "-1", "0", "[]", "{}", "true", '""', '"\\u0000"', "1979-05-27",
    "extends", "[[only]]", "seeds", "study", '"ubr_1996"', "queue.z", '"sd"', '"fba"', '"wrk"',
    '"iperf"', "record.pcap", '["down"]', "tcp.sysctl", "tcp.initial_window_segments", "9" * 400,
    "9" * 5000,
    "[" * 2000, "'''", "#", "\n", "small.toml", '"small.toml"', '"input.toml"',
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("fuzz")
    with no_lab(made):
        write_small(made)
        yield made


# Experiment files.


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """The text of an experiment with some of its words exchanged, bytes put in, its end cut off."""
    text = draw(st.sampled_from([SMALL, TINY, 'extends = "small.toml"\nname = "x"\n[factors]\n']))
    for _ in range(draw(st.integers(1, 4))):
        found = list(TOKENS.finditer(text))
        if not found:
            break
        at = draw(st.sampled_from(found))
        text = text[: at.start()] + draw(st.sampled_from(WORDS)) + text[at.end() :]
    data = text.encode()
    if draw(st.integers(0, 9)) == 0:
        at_byte = draw(st.integers(0, len(data)))
        data = data[:at_byte] + draw(st.binary(max_size=4)) + data[at_byte:]
    if draw(st.integers(0, 9)) == 0:
        data = data[: draw(st.integers(0, len(data)))]
    return data


def toml(value: Any) -> str:
    """A value as TOML; what TOML has not becomes something else."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value) if "e" not in repr(value) else f"{value:e}"
    return json.dumps(value)


BASE: dict[str, Any] = {
    "name": "tiny",
    "title": "t",
    "factors": {"flavor": ["SACK", "Reno"], "x": [1, 2]},
    "base": {
        "topology": {"pairs": 2, "rate_bit_per_s": 10_000_000, "delay_us": 500, "mss_bytes": 1024},
        "queue": {"policy": "sd", "buffer_cells": 300, "threshold": 0.8, "z": 0.8},
        "tcp": {"flavor": "sack", "window_bytes": 65_535, "ssthresh_bytes": 12_500},
        "workload": {"kind": "www", "duration_s": 2},
        "record": {"queue_sample_ms": 1, "cwnd_sample_ms": 1, "cwnd_pairs": [1]},
    },
    "only": [{"x": [1, 2]}],
    "rule": [{"when": {"x": 1}, "set": {"tcp": {"flavor": "reno"}}}],
}
MORE_KEYS = st.sampled_from(
    ["seeds", "study", "extends", "duration_s", "period_s", "requests_mean", "requests_min"]
    + ["requests_max", "gap_min_ms", "gap_max_ms", "first_batch", "jitter_ms", "poisson_fit"]
    + ["threshold_minus_packets", "return_policy", "return_buffer_cells", "parameters", "sysctl"]
    + ["byte_window", "rto_tick_ms", "initial_window_segments", "frames", "drops", "pcap", "kind"]
    + ["server_quickack", "server_stream"]
)


def set_somewhere(draw: st.DrawFn, value: Any, keys: st.SearchStrategy[str]) -> Any:
    """The same value with something in it changed, added or taken away."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.one_of(st.sampled_from(sorted(value)), st.sampled_from(sorted(value)), keys))
        if draw(st.integers(0, 9)) == 0:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: set_somewhere(draw, value.get(key), keys)}
    if isinstance(value, list) and value and draw(st.integers(0, 2)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], set_somewhere(draw, value[at], keys), *value[at + 1 :]]
    return draw(VALUES)


@st.composite
def generated(draw: st.DrawFn) -> bytes:
    """A whole experiment with some values of any kind."""
    table: Any = BASE
    for _ in range(draw(st.integers(1, 3))):
        changed = set_somewhere(draw, table, st.one_of(MORE_KEYS, TEXTS))
        table = changed if isinstance(changed, dict) else {"x": changed}
    return "\n".join(f"{json.dumps(k)} = {toml(v)}" for k, v in table.items()).encode()


@fuzzed(2500)
@given(mangled())
def test_experiment_files_with_words_exchanged(data: bytes) -> None:
    Path("input.toml").write_bytes(data)
    cellbed("run", "input.toml", "--dry-run")


@fuzzed(2500)
@given(generated())
def test_experiment_files_with_values_exchanged(data: bytes) -> None:
    Path("input.toml").write_bytes(data)
    cellbed("run", "input.toml", "--dry-run")


# Command lines.

ARGUMENTS = st.one_of(
    st.sampled_from(
        ["small.toml", "table.csv", ".", "..", "nowhere", "/dev/null", "/dev/zero", "-"]
    )
    | st.sampled_from(
        ["", "network=WAN", "network=", "=", "network=WAN,GEO", "0", "1", "-1", "nan"]
    )
    | st.sampled_from(
        ["uml", "vm", "native", "real", "virtual", "up", "a,b", "response", "99999999"]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["\udc80", "x" * 5000, "a\nb", "\x1b[2J", "tcp://[", "tls://x:y", "[/red]"]),
)
OPTIONS = st.sampled_from(
    "--only --seeds --jobs --scheduler --lab --clock --pcap --out --json --port --host --tls "
    "--results --response --factors --where --confidence --order --help -h --plot --no --".split()
)
COMMANDS = st.sampled_from(
    "run run run shell clean judge report anova anova flavors scheduler worker setup nope".split()
)


@fuzzed(3000)
@given(COMMANDS, st.lists(st.one_of(ARGUMENTS, OPTIONS), max_size=7))
def test_command_lines(command: str, words: list[str]) -> None:
    Path("table.csv").write_text("a,b,response\nx,1,2\nx,2,3\ny,1,4\ny,2,7\n")
    # A campaign would begin; that of a lab which is not there is a test of its own.
    cellbed(command, *(["--dry-run"] if command == "run" else []), *words)


# Result tables.

FIELDS = st.one_of(
    st.sampled_from(["1", "2.5", "x", "y", "", "nan", "inf", "1e308", '"', "a,b"]), TEXTS
)


@fuzzed(1000)
@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=4), max_size=9),
    st.sampled_from(["a", "b", "a,b", "a,b,c", "", ",", "a,a"]),
    st.lists(
        st.sampled_from(["--json", "--order=1", "--order=0", "--confidence=nan", "--where=a=x"])
    ),
    st.booleans(),
)
def test_result_tables(
    rows: list[list[str]], factors: str, options: list[str], square: bool
) -> None:
    if square:  # else most are refused for the number of their fields
        rows = [["a", "b", "r"], *([*row, "1", "2", "3"][:3] for row in rows)]
    text = "\n".join(",".join(row) for row in rows)
    Path("table.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    cellbed("anova", "table.csv", "--response", "r", "--factors", factors, *options)


# CampaignRun directories.


@pytest.fixture(scope="module")
def campaigns(folder: Path) -> dict[str, Path]:
    """A campaign of the paper's design, and one of paper labs' records of small.toml."""
    # Both of one name, so that a dry run looks into either.
    cells = {("WAN", "SACK", policy, 1.0): (0.9, 0.8) for policy in ("EPD", "SD")}
    design = write_campaign(folder / "design", seeds=(1, 2), cells=cells, with_series=True)
    header = design / "campaign.json"
    header.write_text(header.read_text().replace('"name": "synthetic"', '"name": "small"'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LABS, "paper", PaperLab)
        patch.setattr(record, "finish", finish)
        trials = small_trials(folder)
        header = {"name": "small", "title": "t", "text": SMALL}
        made = CampaignRun(folder / "small", trials, header, Options(lab="paper"))
        assert len(made.run()) == len(trials), made.failures
    return {"design": design, "small": folder / "small"}


@st.composite
def damage(draw: st.DrawFn) -> list[tuple[int, str, Any]]:
    """What is done to which files of a campaign, one after the other."""
    kinds = ["delete", "empty", "cut", "binary", "json", "json", "json", "csv", "csv", "folder"]
    kinds += ["fifo", "link", "loop", "stray", "format", "unreadable", "parent"]
    one = st.tuples(st.integers(0, 999), st.sampled_from(kinds), st.randoms(use_true_random=False))
    return [(*one_of, draw(VALUES)) for one_of in draw(st.lists(one, min_size=1, max_size=3))]


def do(kind: str, path: Path, random: Any, value: Any) -> None:
    """Damage one file."""
    readable = path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)
    data = path.read_bytes() if readable else b""
    if kind == "parent":
        shutil.rmtree(path.parent)
        return
    path.unlink()
    if kind in ("cut", "empty", "binary"):
        cut = data[: random.randrange(len(data) + 1)]
        path.write_bytes({"cut": cut, "empty": b"", "binary": cut + random.randbytes(20)}[kind])
    elif kind == "json":
        path.write_text(json.dumps(changed(data, random, value)))
    elif kind == "format":
        path.write_bytes(data.replace(b"/1", b"/2"))
    elif kind == "csv":
        lines = data.split(b"\n")
        at = random.randrange(len(lines))
        lines[at] = random.choice([b"", b"a,b", b"," * 20, str(value).encode("utf-8", "replace")])
        path.write_bytes(b"\n".join(lines))
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(random.choice(["/dev/zero", "nowhere", "/", "campaign.json"]))
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "stray":
        stray = path.with_name("stray")
        if stray.is_symlink() or not stray.exists() or stray.is_file():
            stray.unlink(missing_ok=True)  # a link would be followed
            stray.write_bytes(data)
    elif kind == "unreadable":
        path.write_bytes(data)
        path.chmod(0)


def changed(data: bytes, random: Any, value: Any) -> Any:
    """A JSON document with a value at a random place of it."""
    try:
        document = json.loads(data)
    except ValueError:
        return value
    at = document
    while isinstance(at, dict | list) and at:
        key = random.choice(sorted(at)) if isinstance(at, dict) else random.randrange(len(at))
        below = at[key]
        if not isinstance(below, dict | list) or not below or random.random() < 0.2:
            if random.random() < 0.3:
                del at[key]
            else:
                at[key] = value
            return document
        at = below
    return value


@contextmanager
def damaged(campaign: Path, damages: list[Any]) -> Iterator[Path]:
    """A copy of a campaign with its files damaged."""
    with tempfile.TemporaryDirectory(prefix="copy") as above:
        copy = Path(above) / "campaign"
        shutil.copytree(campaign, copy)
        for place, kind, random, value in damages:
            files = sorted(p for p in copy.rglob("*") if not p.is_dir() or p.is_symlink())
            if files:
                do(kind, files[place % len(files)], random, value)
        yield copy


@fuzzed(850)
@given(st.sampled_from(["design", "small"]), damage())
def test_campaign_directories(campaigns: dict[str, Path], name: str, damages: list[Any]) -> None:
    with damaged(campaigns[name], damages) as copy:
        cellbed("run", "small.toml", "--dry-run", "--out", copy)
        cellbed("judge", copy)
        cellbed("clean", "--results", copy)


@fuzzed(150)
@given(st.sampled_from(["design", "design", "small"]), damage())
def test_reports(campaigns: dict[str, Path], name: str, damages: list[Any]) -> None:
    with damaged(campaigns[name], damages) as copy:
        cellbed("report", copy)
