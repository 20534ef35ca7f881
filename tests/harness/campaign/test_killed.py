# SPDX-License-Identifier: GPL-2.0-only
"""kill -9 of a campaign at random moments: of its owner, of any one of its processes, of all of
them, and of all but its labs at once. Nothing runs on; run again it gives what it would have given.

20 kills; with CELLBED_SLOW_TESTS=1 it is 200. CELLBED_KILL_SEED repeats the choices of a run.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import events
from harness.campaign.merge import merge
from harness.events import CampaignEnded, Event, TrialEnded
from harness.machine import clean
from tests.small import PROJECT, TINY

pytestmark = pytest.mark.lab
SEEDS = 4
WAIT_S = 300.0
GONE_S = 20.0
KILLS = 200 if "CELLBED_SLOW_TESTS" in os.environ else 20
KINDS = ("owner", "one", "all but the labs", "all")
# What tells of the run and not of the trial, and the checksums, which have it in them.
OF_THE_RUN = {"run.json", "SHA256SUMS"}


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    """`cellbed run` in the background."""
    experiment = folder / "tiny.toml"
    experiment.write_text(TINY.replace('"iperf", duration_s = 2', '"www", duration_s = 1'))
    words = ["run", experiment, "--seeds", SEEDS, "--out", folder / "out"]
    words += more or ("--jobs", "2")
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(folder / "tmp")},
        # Whoever runs the tests in the background has SIGINT ignored, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def whole(folder: Path) -> dict[str, int]:
    """Records under their names, with the file system's number of each."""
    records = folder / "out" / "trials"
    return {p.parent.name: p.parent.stat().st_ino for p in records.glob("[!.]*/trial.json")}


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a campaign's records that tell of the trials."""
    records = folder / "trials"
    files = [p for p in records.rglob("*") if p.is_file() and p.name not in OF_THE_RUN]
    return {str(path.relative_to(records)): path.read_bytes() for path in files}


def processes(folder: Path) -> dict[int, bytes]:
    """What runs of a campaign and its labs, known by the folder in their environment: number
    and command line."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes()
    return found


def wait_for_records(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    end = time.monotonic() + WAIT_S
    while len(whole(folder)) < count:
        assert process.poll() is None and time.monotonic() < end, "the campaign does not go on"
        time.sleep(0.01)


@dataclass(frozen=True)
class Undisturbed:
    """A campaign that nobody disturbed."""

    contents: dict[str, bytes]
    took_s: float


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    begin = time.monotonic()
    end_well(start(folder), folder)
    return Undisturbed(contents(folder / "out"), time.monotonic() - begin)


def end_well(process: subprocess.Popen[str], folder: Path) -> None:
    """Let a campaign end by itself; nothing is left but its records."""
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, said
    assert len(whole(folder)) == SEEDS
    assert {path.name for path in (folder / "out" / "trials").iterdir()} == set(whole(folder))
    assert not processes(folder) and not list((folder / "tmp").iterdir())


@pytest.mark.parametrize(
    ("number", "code", "why"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")],
)
def test_interrupted(tmp_path: Path, number: signal.Signals, code: int, why: str) -> None:
    """Ctrl-C and SIGTERM keep what is whole, leave no lab and no temporary file, and say so."""
    process = start(tmp_path)
    wait_for_records(process, tmp_path, 1)
    process.send_signal(number)
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == code
    there = len(whole(tmp_path))
    assert 1 <= there < SEEDS
    has = "has" if there == 1 else "have"
    out = tmp_path / "out"
    again = f"./cellbed run {tmp_path / 'tiny.toml'} --seeds {SEEDS} --out {out} --jobs 2"
    assert said.splitlines()[-1] == (
        f"cellbed: {why}; {there} of {SEEDS} trials {has} a record in {out}, and no lab is"
        f" left running; to go on, type {again}"
    )
    assert not processes(tmp_path)
    assert not list((tmp_path / "tmp").iterdir())


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, said


def test_a_killed_shard_is_resumed(
    tmp_path: Path, undisturbed: Undisturbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two at once. Merged they are the campaign that was never cut in parts."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    shards = {number: tmp_path / "out" / f"{number}-of-2" for number in (1, 2)}
    begun = {number: start(tmp_path, "--shard", f"{number}/2", "--jobs", "1") for number in shards}
    while not list(shards[2].glob("trials/[!.]*")):
        assert begun[2].poll() is None, "the shard does not go on"
        time.sleep(0.01)
    begun[2].kill()
    begun[2].communicate()
    finish(begun[1])
    check_end(tmp_path)
    kept = {path.name: path.stat().st_ino for path in shards[2].glob("trials/[!.]*")}
    first = merge(tmp_path / "all", list(shards.values()))
    assert len(first.missing) == SEEDS - first.copied <= 1 and not first.refused
    finish(start(tmp_path, "--shard", "2/2", "--jobs", "1"))
    resumed = {path.name: path.stat().st_ino for path in shards[2].glob("trials/[!.]*")}
    assert kept.items() <= resumed.items() and len(resumed) == SEEDS // 2
    assert merge(tmp_path / "all", list(shards.values())).missing == []
    assert contents(tmp_path / "all") == undisturbed.contents


def victims(kind: str, owner: int, running: dict[int, bytes], chance: random.Random) -> list[int]:
    """Whom a kill of a kind hits, of all that runs."""
    of_labs = {pid for pid, words in running.items() if words.startswith(b"host/linux")}
    return {
        "owner": [owner],
        "one": [chance.choice(sorted(set(running) - {owner}) or [owner])],
        "all but the labs": [pid for pid in running if pid not in of_labs],
        "all": list(running),
    }[kind]


def kill_once(folder: Path, kind: str, moment_s: float, chance: random.Random) -> bool:
    """Run the campaign of a folder and kill at a moment; False when it had ended by then."""
    kept = whole(folder)
    process = start(folder)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment_s)
    if process.poll() is not None:
        end_well(process, folder)
        return False
    hit = victims(kind, process.pid, processes(folder), chance)
    for pid in hit:
        with contextlib.suppress(ProcessLookupError):  # one before took it along
            os.kill(pid, signal.SIGKILL)
    if process.pid in hit:
        process.communicate()
        check_end(folder)
    else:
        # In a lab it costs a trial, which is tried once more; before that it is one sentence.
        _, said = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0 or said.splitlines()[-1].startswith("cellbed: "), said
        assert not processes(folder) and not list((folder / "tmp").iterdir())
    assert kept.items() <= whole(folder).items(), "a trial that was done has been run again"
    ended = {event.trial for event in told(folder) if isinstance(event, TrialEnded)}
    assert ended <= set(whole(folder))
    return True


def told(folder: Path) -> list[Event]:
    """What a campaign's stream of events says, wherever its writing was cut off."""
    path = folder / "out" / events.NAME
    return [event for _, event in events.read(path)] if path.exists() else []


def check_end(folder: Path) -> None:
    """Whose owner is gone: all processes end by themselves, and clean removes the rest."""
    end = time.monotonic() + GONE_S
    while running := processes(folder):
        assert time.monotonic() < end, f"still there after {GONE_S} s: {running}"
        time.sleep(0.05)
    left = clean.remove_leftovers()
    assert not left.stayed and not list((folder / "tmp").iterdir())


def random_kills(chance: random.Random, longest_s: float) -> Iterator[tuple[str, float]]:
    """Kinds in turn, each at a moment of the campaign's time."""
    while True:
        for kind in KINDS:
            yield kind, chance.uniform(0.0, longest_s)


def test_killed_at_random_moments(
    tmp_path: Path, undisturbed: Undisturbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Again and again in one folder, until the campaign is through; then in a fresh one."""
    seed = int(os.environ.get("CELLBED_KILL_SEED", random.randrange(10**6)))
    print(f"CELLBED_KILL_SEED={seed}")
    chance = random.Random(seed)
    moments = random_kills(chance, undisturbed.took_s)
    kills = campaigns = 0
    while kills < KILLS:
        folder = tmp_path / str(campaigns)
        folder.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(folder / "tmp"))
        while kills < KILLS and len(whole(folder)) < SEEDS:
            kind, moment_s = next(moments)
            kills += kill_once(folder, kind, moment_s, chance)
            print(f"{kills}: {kind} at {moment_s:.2f} s: {len(whole(folder))} records")
        end_well(start(folder), folder)
        assert contents(folder / "out") == undisturbed.contents
        assert told(folder)[-1] == CampaignEnded(finished=SEEDS, failed=0)
        campaigns += 1
