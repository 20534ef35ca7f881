# SPDX-License-Identifier: GPL-2.0-only
"""Labs on cores: each on one of its own, then on those that have the fewest."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import psutil
import pytest

from harness.supervisor import cores as supervisor


@pytest.fixture(autouse=True)
def own_places(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[int]]:
    """Places that no lab of this machine has; the tests' own cores are as before afterwards."""
    monkeypatch.setattr(supervisor, "PLACE", f"\0cellbed-test-{os.getpid()}-{{}}-{{}}")
    cores = os.sched_getaffinity(0)
    yield cores
    os.sched_setaffinity(0, cores)


def start_lab(cores: set[int], until: ExitStack) -> int:
    """Take a core as a lab does that may run on these."""
    os.sched_setaffinity(0, cores)
    place = supervisor.take_core(list(cores))
    assert place is not None
    until.callback(place.name.close)
    [core] = os.sched_getaffinity(0)
    return core


def test_labs_spread_evenly(own_places: set[int]) -> None:
    cores = own_places
    with ExitStack() as until:
        for labs in range(1, 4):
            taken = Counter(start_lab(cores, until) for _ in cores)
            assert taken == dict.fromkeys(cores, 1), f"not one each in round {labs}"


def test_a_core_is_free_again_when_its_lab_has_ended(own_places: set[int]) -> None:
    with ExitStack() as others:
        for _ in own_places:
            start_lab(own_places, others)
        with ExitStack() as until:
            core = start_lab(own_places, until)
        again = [start_lab(own_places, others) for _ in own_places]
        assert core in again and len(set(again)) == len(own_places)


def test_only_cores_that_the_owner_may_use(own_places: set[int]) -> None:
    allowed = {max(own_places)}
    with ExitStack() as until:
        assert {start_lab(allowed, until) for _ in range(3)} == allowed


def test_the_first_choice_is_not_always_the_same(own_places: set[int]) -> None:
    first = set()
    for _ in range(64):
        with ExitStack() as until:
            first.add(start_lab(own_places, until))
    ranks = [supervisor.sibling_rank(core) for core in own_places]
    assert len(first) == ranks.count(min(ranks))


def test_a_lab_moves_from_a_shared_core_to_one_that_is_free(
    own_places: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all its processes, and no sooner than a core is free."""
    monkeypatch.setattr(supervisor, "MOVE_S", 0.05)
    allowed = sorted(own_places)
    others = {core: taken for core in allowed if (taken := supervisor.find_place([core], 1))}
    lab = subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True)
    try:
        place = supervisor.take_core(allowed)
        assert place is not None and place.rank == 1
        supervisor.move(lab.pid, place.core)
        read_end, write_end = os.pipe()
        free = next(core for core in allowed if core != place.core)
        waiting = Thread(target=supervisor.wait, args=([read_end], lab.pid, place, allowed))
        waiting.start()
        time.sleep(0.3)
        assert cores_of(lab.pid) == {place.core}
        others[free].name.close()
        deadline = time.monotonic() + 10
        while cores_of(lab.pid) != {free} and time.monotonic() < deadline:
            time.sleep(0.05)
        assert cores_of(lab.pid) == {free}
        assert supervisor.find_place([free], 1) is None, "its place can be taken"
        os.write(write_end, b"x")
        waiting.join()
    finally:
        os.killpg(lab.pid, signal.SIGKILL)
        lab.wait()


@pytest.mark.parametrize(
    ("siblings", "ranks"),
    [("0", [0]), ("0,2", [0, None, 1]), ("0-3", [0, 1, 2, 3]), ("0,2-3", [0, None, 1, 2])],
)
def test_the_threads_of_a_core_are_a_list_or_a_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, siblings: str, ranks: list[int | None]
) -> None:
    for core, rank in enumerate(ranks):
        if rank is not None:
            (tmp_path / str(core)).write_text(f"{siblings}\n")
    monkeypatch.setattr(supervisor, "SIBLINGS", f"{tmp_path}/{{}}")
    for core, rank in enumerate(ranks):
        assert supervisor.sibling_rank(core) == (rank or 0)


def cores_of(session: int) -> set[int]:
    """Those on which any process of a session may run."""
    found: set[int] = set()
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            if os.getsid(pid) == session:
                found |= os.sched_getaffinity(pid)
    return found
