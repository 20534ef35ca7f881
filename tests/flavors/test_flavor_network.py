# SPDX-License-Identifier: GPL-2.0-only
"""The network of model senders by itself, and a trial in the kernel beside it, frame for frame."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pytest

from harness.design.trials import PlannedTrial
from studies.ubrplus_1998.model.links import NS_PER_S, Clock, Frame, Segment
from studies.ubrplus_1998.model.network import Network
from studies.ubrplus_1998.model.server import DelayedAck, nginx_header_bytes
from tests.bpf import replay
from tests.small import run_trials, trials_of
from topology import libcellq

# The senders of ubrplus-www.toml and of ubrplus-www-rfc.toml, on a slow link: windows in bytes,
# timeouts, losses of each cause; what is sent again cut anew, and whole small segments joined.
EXPERIMENT = """
name = "frames"
title = "every frame of three connections"
[factors]
flavor = ["Vanilla", "Reno", "NewReno", "SACK"]
senders = ["text", "later"]
[base]
topology = { pairs = 3, rate_bit_per_s = 3_000_000, delay_us = 20_000, mss_bytes = 1024 }
queue = { policy = "sd", buffer_cells = 300, threshold = 0.8, z = 0.8 }
workload = { kind = "www", duration_s = 12.0, server_stream = "joined" }
tcp.window_bytes = 65_535
tcp.ssthresh_bytes = 15_000
tcp.server_quickack = false
tcp.sysctl.tcp_retrans_collapse = 1
record.frames = true
[base.tcp.parameters]
byte_window = true
rto_min_ticks = 2
[[rule]]
when = { senders = "text" }
[rule.set.tcp.parameters]
newreno_partial = "reset"
newreno_flywheel = true
multiple_fast_retransmits = true
sack_pipe = "segments"
ssthresh_rule = "window"
resend_boundaries = "anew"
[[rule]]
when = { senders = "later" }
[rule.set.tcp.parameters]
newreno_partial = "deflate"
newreno_flywheel = false
multiple_fast_retransmits = false
sack_pipe = "bytes"
ssthresh_rule = "flight"
resend_boundaries = "kept"
[[rule]]
when = { flavor = "Vanilla" }
set = { tcp.flavor = "vanilla" }
[[rule]]
when = { flavor = "Reno" }
set = { tcp.flavor = "reno" }
[[rule]]
when = { flavor = "NewReno" }
set = { tcp.flavor = "newreno" }
[[rule]]
when = { flavor = "SACK" }
set = { tcp.flavor = "sack" }
"""
# The kernel has a nanosecond more here and there, for each time it reads the clock.
SAME_TIME_NS = 1000
LAST_RECORDED_NS = 100_000_000  # before the end: what leaves then may not have been judged


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libcellq.build(tmp_path_factory.mktemp("bpf"))


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> list[PlannedTrial]:
    return trials_of(tmp_path_factory.mktemp("frames"), EXPERIMENT)


@pytest.mark.parametrize("place", range(8))
def test_nothing_appears_or_is_lost(trials: list[PlannedTrial], library: Path, place: int) -> None:
    """All files arrive whole, though frames are lost."""
    with Network(trials[place].plan, library) as network:
        network.clock.run(600 * NS_PER_S)
        asked = [0] * 3
        for request in network.requests:
            asked[request.pair - 1] += nginx_header_bytes(request.size_bytes) + request.size_bytes
        assert network.received == asked
        assert [server.sender.una for server in network.servers.values()] == asked
        lost = [frame for frame in network.down.frames if frame.cause != "delivered"]
        assert 20 < len(lost) < len(network.down.frames) / 5


def test_the_first_frames_take_the_time_of_their_links(
    trials: list[PlannedTrial], library: Path
) -> None:
    """A request of four cells, cell by cell; 20 ms; the file's first segment at once."""
    with Network(trials[0].plan, library) as network:
        network.run()
        access_ns, service_ns = 2831, 141_333
        first = network.down.frames[0]
        # Over the slow link the cells of three requests take turns: its last is the tenth.
        expected = 5000 + access_ns + 10 * service_ns + 20_000_000 + 5000 + 4 * access_ns
        assert abs(first.sent_ns - expected) < 10
        assert (first.vc, first.cells, first.cause) == (1, 23, "delivered")


def test_clients_ask_so_long_after_one_another(trials: list[PlannedTrial], library: Path) -> None:
    with Network(trials[0].plan, library, apart_ns=1000) as network:
        network.clock.run(NS_PER_S // 100)
        assert [(frame.vc, frame.sent_ns) for frame in network.up.frames] == [
            (1, 0), (2, 1000), (3, 2000),
        ]  # fmt: skip


def test_an_ack_waits_for_data_until_it_has_waited_in_vain() -> None:
    """As Linux has it: pingpong mode, 40 ms in ticks of 1 ms, and the tick after."""
    clock, sent = Clock(), []
    acks = DelayedAck(clock, lambda: sent.append(clock.now_ns // 1_000_000))
    script = [
        (3, acks.received),  # answered
        (4, acks.data_sent),
        (100, acks.received),  # not answered: an ACK of its own at 141
        (300, acks.received),  # so this one does not wait
        (301, acks.data_sent),  # an answer: from now on they wait again
        (407, acks.received),
        (600, acks.received),
        (601, acks.data_sent),
        (700, acks.received),
        (729, acks.looked_at),
        (731, acks.looked_at),  # the last quarter of its time: now
    ]
    for ms, action in script:
        clock.at(ms * 1_000_000, action)
    clock.run(NS_PER_S)
    assert sent == [141, 300, 448, 600, 731]


@pytest.mark.parametrize(
    ("segment", "cells"),
    [
        (Segment(), 2),
        (Segment(sacked=((1, 2), (3, 4))), 2),
        (Segment(length=128), 4),
        (Segment(length=128, sacked=((1, 2),)), 5),
        (Segment(length=1024), 23),
        (Segment(length=9180), 193),
    ],
)
def test_cells_of_a_segment(segment: Segment, cells: int) -> None:
    """98-0876R1, section 7; a SACK option is four bytes and eight a block (RFC 2018, 3)."""
    assert segment.cells == cells


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('server_stream = "joined"', 'server_stream = "nginx"', "server_stream"),
        ("rto_min_ticks = 2", "idle_restart = true", "idle_restart"),
        ("rto_min_ticks = 2", 'rto_clock = "common"', "rto_clock"),
    ],
)
def test_what_is_not_modelled_is_refused(
    tmp_path: Path, library: Path, old: str, new: str, says: str
) -> None:
    (trial, *_) = trials_of(tmp_path, EXPERIMENT.replace(old, new))
    with pytest.raises(ValueError, match=says):
        Network(trial.plan, library)


def test_a_lost_request_is_an_error(tmp_path: Path, library: Path) -> None:
    text = EXPERIMENT.replace("z = 0.8", "z = 0.8, return_buffer_cells = 3")
    (trial, *_) = trials_of(tmp_path, text)
    with (
        Network(trial.plan, library) as network,
        pytest.raises(RuntimeError, match="lost a request"),
    ):
        network.run()


@pytest.mark.lab
def test_the_kernel_sends_the_same_frames(
    tmp_path: Path, trials: list[PlannedTrial], library: Path
) -> None:
    """Down and up: of each connection the same frames, at the same time, with the same fate."""
    run_trials(tmp_path, trials)
    for trial in trials:
        with Network(trial.plan, library) as network:
            network.run()
            for direction, way in (("down", network.down), ("up", network.up)):
                kernel = recorded(tmp_path / "trials" / trial.name, direction)
                model = sorted(way.frames, key=attrgetter("vc", "sent_ns"))
                compare(kernel, model, f"{trial.name} {direction}")


def recorded(folder: Path, direction: str) -> list[Frame]:
    """A port's frames from the first request on, by VC; times count from there."""
    request_cells = Segment(length=128).cells
    up = replay.read(folder / "up.cellq").frames
    start = next(frame.announce_ns for frame in up if frame.cells == request_cells)
    frames = [
        Frame(
            sent_ns=frame.announce_ns - start,
            vc=frame.vc,
            cells=frame.cells,
            cause=libcellq.CAUSES[frame.cause],
        )
        for frame in replay.read(folder / f"{direction}.cellq").frames
        if frame.announce_ns >= start
    ]
    return sorted(frames, key=attrgetter("vc", "sent_ns"))


def compare(kernel: list[Frame], model: list[Frame], where: str) -> None:
    """Those that left well before the end.

    Raises:
        AssertionError: two differ; names the first ones of that connection.
    """
    end_ns = 12 * NS_PER_S - LAST_RECORDED_NS
    for vc, frames in groupby(model, key=attrgetter("vc")):
        mine = [frame for frame in frames if frame.sent_ns < end_ns]
        theirs = [frame for frame in kernel if frame.vc == vc and frame.sent_ns < end_ns]
        for one, other in zip(theirs, mine, strict=False):
            same = (one.cells, one.cause) == (other.cells, other.cause)
            assert same and abs(one.sent_ns - other.sent_ns) < SAME_TIME_NS, (where, one, other)
        assert len(theirs) == len(mine) > 50, where
