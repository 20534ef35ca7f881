# SPDX-License-Identifier: GPL-2.0-only
"""Video: its sizes, the rules by hand, and each player beside its replay."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.small import PROJECT
from workload.dash import client, replay, tables, video
from workload.dash.client import BrokenError
from workload.dash.parameters import Parameters
from workload.dash.player import Player
from workload.dash.replay import Stall
from workload.dash.rules import RULES, State, bola, buffer, rate_bit_per_s, throughput
from workload.dash.tables import Segment, StallRow
from workload.dash.video import Video
from workload.errors import WorkloadError

S = 1_000_000_000
FIVE = Parameters(
    ladder_bit_per_s=(1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000),
    segment_ms=1000, buffer_ms=10_000, play_from_ms=1000, reservoir_share=0.2, cushion_share=0.7,
)  # fmt: skip


def state(buffer_s: float = 0, level: int | None = None, *rates: float) -> State:
    return State(buffer_ns=round(buffer_s * S), level=level, rates_bit_per_s=rates)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_begins_with_the_lowest_level(rule: str) -> None:
    assert RULES[rule](FIVE, state()) == 0


def test_the_throughput_rule_takes_nine_tenths_of_the_mean_of_the_last_segments() -> None:
    params = replace(FIVE, samples=2)
    # 0.9 x (2 + 3) / 2 = 2.25
    assert throughput(params, state(9, 0, 100e6, 2e6, 3e6)) == 1
    assert throughput(replace(params, samples=3), state(9, 0, 100e6, 2e6, 3e6)) == 4
    assert throughput(replace(params, safety=1), state(9, 0, 2e6)) == 1, "a level may need it all"
    assert throughput(params, state(9, 4, 0.5e6)) == 0, "no level is low enough"


def test_a_segments_throughput_counts_from_its_request() -> None:
    assert rate_bit_per_s(1_000_000, 2 * S, 6 * S) == 2e6


def test_bola_changes_its_level_at_the_buffer_that_the_formula_has() -> None:
    """Both scores are equal at Q = V (5 - ln 2) for bit rates 1 and 2, and V = 9 / (5 + ln 2)."""
    two = replace(FIVE, ladder_bit_per_s=(1_000_000, 2_000_000))
    assert [bola(two, state(seconds)) for seconds in (0, 6.80, 6.82, 9)] == [0, 0, 1, 1]
    # With more weight on stalls, V is smaller, and the step comes at a fuller buffer.
    assert bola(replace(two, gamma_p=50.0), state(6.82)) == 0


def test_bola_reaches_the_highest_level_where_the_player_stops_to_ask() -> None:
    assert bola(FIVE, state(9)) == 4


def test_bba_keeps_its_level_until_the_map_passes_the_next_level() -> None:
    """At 4.6 s the map has 3.08 Mbit/s: 1 + 4 x (0.46 - 0.2) / 0.5."""
    chosen = [buffer(FIVE, state(4.6, before)) for before in (None, 0, 1, 2, 3, 4)]
    assert chosen == [2, 2, 2, 2, 3, 3]
    assert [buffer(FIVE, state(seconds, 2)) for seconds in (2.0, 7.0, 10.0)] == [0, 4, 4]


def test_bba_reaches_the_highest_level_where_the_player_stops_to_ask() -> None:
    """With the default keys: a player asks only where its buffer has room for a segment."""
    usual = Parameters(adaptation="buffer")
    full = state((usual.buffer_ms - usual.segment_ms) / 1000, len(usual.ladder_bit_per_s) - 2)
    assert buffer(usual, full) == len(usual.ladder_bit_per_s) - 1
    with pytest.raises(WorkloadError, match=r"cushion_share = 0.9: must be at most 0.88; a player"):
        replace(usual, cushion_share=0.9)


def test_the_sizes_follow_the_ladder_and_the_seed(tmp_path: Path) -> None:
    constant = Video(FIVE, 1)
    assert constant.size_bytes(2, 7) == 375_000
    drawn = Video(replace(FIVE, size_spread=0.5), 1)
    sizes = [drawn.size_bytes(2, segment) for segment in range(video.SEGMENTS)]
    assert 187_500 <= min(sizes) < 200_000 and 550_000 < max(sizes) <= 562_500
    assert sizes[3] != Video(drawn.params, 2).size_bytes(2, 3)
    assert drawn.size_bytes(2, 203) == sizes[3], "the video begins again"
    assert drawn.size_bytes(4, 3) == pytest.approx(sizes[3] * 5 / 3, abs=1)
    drawn.write(tmp_path / "files")
    for segment in range(drawn.most_segments()):
        found = tmp_path / "files" / drawn.path(1, segment).lstrip("/")
        assert found.stat().st_size == drawn.size_bytes(1, segment)


def watched(
    params: Parameters, seed: int, slow: float = 1
) -> tuple[list[Segment], list[Stall], int]:
    """Let a player watch over a path whose rate changes at random: its rows, stalls and start."""
    draw, start_ns = random.Random(seed), 300_000_000
    player, rows = Player(params, start_ns), list[Segment]()
    rates: list[float] = []
    while player.due_ns() < params.duration_ns:
        due_ns = player.due_ns()
        now_ns = due_ns + draw.choice((0, 1, 40))
        player.advance(now_ns)
        level = RULES[params.adaptation](params, State(
            buffer_ns=player.buffer_ns, level=rows[-1].level if rows else None,
            rates_bit_per_s=rates[-params.samples :],
        ))  # fmt: skip
        size = Video(params, seed).size_bytes(level, len(rows))
        last_ns = now_ns + round(size * 8e3 / draw.uniform(0.3, 9) * slow)
        done = last_ns < params.duration_ns
        rows.append(Segment(
            pair=1, segment=len(rows), level=level, bytes=size, due_ns=due_ns,
            requested_ns=now_ns, buffer_ns=player.buffer_ns,
            last_byte_ns=last_ns if done else None,
        ))  # fmt: skip
        if not done:
            break
        rates.append(rate_bit_per_s(size, now_ns, last_ns))
        player.complete(last_ns)
    player.advance(params.duration_ns)
    return rows, [(one.begin_ns, one.end_ns) for one in player.stalls], start_ns


def differing(params: Parameters, rows: list[Segment], stalls: list[Stall]) -> tuple[int, int]:
    unlike = replay.unlike_buffers(params, rows, stalls, start_ns=300_000_000, broken=False)
    return unlike, replay.unlike_levels(params, rows)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("play_from_ms", [1, 2500])
def test_player_and_replay_agree_on_paths_with_stalls(rule: str, play_from_ms: int) -> None:
    params = replace(FIVE, adaptation=rule, play_from_ms=play_from_ms, duration_s=100)  # type: ignore[arg-type]
    stalled = 0
    for seed in range(20):
        rows, stalls, start_ns = watched(params, seed, slow=4)
        assert differing(params, rows, stalls) == (0, 0)
        seen = replay.viewed(params, rows, start_ns)
        assert seen.stalls == len(stalls)
        stalled += len(stalls)
    assert stalled > 20, "the path is slow enough to test stalls"


def test_a_segment_that_comes_just_in_time_is_no_stall() -> None:
    player = Player(FIVE, 0)
    for second in (1, 2, 3):
        player.complete(second * S)
    assert (player.buffer_ns, player.stalls) == (S, [])
    assert replay.playback(FIVE, [1 * S, 2 * S, 3 * S], 4 * S).stalls == []


def test_the_replay_sees_each_cell_that_is_wrong() -> None:
    params = replace(FIVE, adaptation="bola", duration_s=100)
    rows, stalls, _ = watched(params, 1, slow=4)
    assert stalls and differing(params, rows, stalls) == (0, 0)
    for name, column in (("buffer_ns", 0), ("due_ns", 0), ("segment", 0), ("level", 1)):
        wrong = [replace(row) for row in rows]
        setattr(wrong[5], name, getattr(wrong[5], name) + 1)
        assert differing(params, wrong, stalls)[column] >= 1, name
    assert differing(params, rows, stalls[1:])[0] == 1
    assert differing(params, rows, [(0, 1), *stalls])[0] == 1
    assert differing(params, rows[:-1], stalls)[0] >= 1, "a request is missing"


def test_what_a_viewer_saw() -> None:
    """Three segments; the third comes 2 s after the buffer is empty."""
    params = replace(FIVE, duration_s=10)
    rows = [
        Segment(pair=1, segment=n, level=level, bytes=1, due_ns=0, requested_ns=0, buffer_ns=0,
                last_byte_ns=moment)
        for n, (level, moment) in enumerate([(0, 1 * S), (1, 2 * S), (1, 5 * S)])
    ]  # fmt: skip
    seen = replay.viewed(params, rows, S // 2)
    # It plays from 1 to 3 s and from 5 to 6 s, and stalls from 3 to 5 s and from 6 to 10 s.
    assert (seen.stalls, seen.stall_s, seen.switches, seen.start_up_s) == (2, 6.0, 1, 0.5)
    assert seen.video_mbit_per_s == pytest.approx(5 / 3)
    none = replay.viewed(params, [], S)
    assert (none.stalls, none.stall_s, none.video_mbit_per_s, none.start_up_s) == (0, 0, None, None)
    both = replay.figures([seen, none])
    assert both == {"stalls": 2, "stall_s": 3.0, "switches": 0.5, "video_mbit_per_s": None,
                    "start_up_s": None}  # fmt: skip


def test_the_tables_keep_what_is_missing(tmp_path: Path) -> None:
    rows = [StallRow(pair=1, begin_ns=3, end_ns=None), StallRow(pair=2, begin_ns=0, end_ns=7)]
    tables.write(tmp_path / "stalls.csv", StallRow, rows)
    assert (tmp_path / "stalls.csv").read_text() == "pair,begin_ns,end_ns\n1,3,\n2,0,7\n"
    assert tables.read(tmp_path / "stalls.csv", StallRow) == rows


def test_the_head_of_an_answer() -> None:
    assert client.read_head(b"HTTP/1.1 404 Not Found\r\ncontent-LENGTH: 12") == (404, 12)
    with pytest.raises(BrokenError, match="no status or no length: HTTP/1.1 200 OK"):
        client.read_head(b"HTTP/1.1 200 OK\r\nServer: x")


def serve(listener: socket.socket, video: Video) -> None:
    """Answer the requests of one connection, the end of each a moment later than its begin."""
    connection, _ = listener.accept()
    with connection:
        while request := connection.recv(4096):
            level, segment = map(int, request.split()[1].strip(b"/").split(b"/"))
            body = bytes(video.size_bytes(level, segment))
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            connection.sendall(head + body[:-1])
            time.sleep(0.01)
            connection.sendall(body[-1:])


def test_the_client_plays_from_a_server_on_this_machine(tmp_path: Path) -> None:
    """Its tables are those of the replay, and its bytes those of the kernel."""
    params = replace(FIVE, duration_s=2, segment_ms=100, buffer_ms=500, play_from_ms=100)
    params = replace(params, start_jitter_ms=50)
    shown = Video(params, 1)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, shown), daemon=True).start()
    read_end, write_end = os.pipe()
    with listener, socket.create_connection(listener.getsockname()) as end:
        (tmp_path / "spec").write_text(json.dumps({
            "folder": str(tmp_path), "seed": 1, "parameters": asdict(params), "start": read_end,
            "pairs": [{"pair": 1, "descriptor": end.fileno(), "address": "127.0.0.1"}],
        }))  # fmt: skip
        started = subprocess.Popen(
            [sys.executable, "-m", "workload.dash.client", tmp_path / "spec"], cwd=PROJECT,
            pass_fds=[end.fileno(), read_end], stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert started.stdout is not None and started.stdout.readline() == "ready\n"
        os.write(write_end, time.monotonic_ns().to_bytes(8, "little"))
        [facts] = json.loads(started.communicate()[0])
    os.close(read_end)
    os.close(write_end)
    assert (facts["unexplained_bytes"], facts["bad_status"], facts["broken"]) == (0, 0, "")
    rows = tables.read(tmp_path / "segments.csv", Segment)
    assert facts["sent"] == len(rows) > 10 and facts["received_bytes"] > 1_000_000
    begin_ns = video.start_ns(params, 1, 1)
    stalls = [(one.begin_ns, one.end_ns) for one in tables.read(tmp_path / "stalls.csv", StallRow)]
    assert replay.unlike_buffers(params, rows, stalls, start_ns=begin_ns, broken=False) == 0
    assert replay.unlike_levels(params, rows) == 0


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"ladder_bit_per_s": (2000, 1000)},
            r"^workload.ladder_bit_per_s = .*above the one before",
        ),
        ({"ladder_bit_per_s": (2000,)}, "must be 2 to 30 bit rates"),
        ({"buffer_ms": 5999}, r"^workload.buffer_ms = 5999: must be at least 6000"),
        ({"play_from_ms": 24_001}, r"^workload.buffer_ms = 25000: must be at least 27000"),
        ({"duration_s": 1, "start_jitter_ms": 1001}, "must be at most 1000, the duration"),
        ({"reservoir_share": 0.9}, r"^workload.reservoir_share = 0.9: must be below"),
        ({"adaptation": "best"}, r"^workload.adaptation = best: "),
    ],
)
def test_bad_keys_have_a_line(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        Parameters(**keys)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)
