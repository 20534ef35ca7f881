# SPDX-License-Identifier: GPL-2.0-only
"""QUIC: its keys, its qlog files beside what was on the wire, and the checks of both."""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import tracemalloc
import zipfile
from functools import partial
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

import pytest

from harness.design import experiment
from harness.design.trials import planned
from harness.labs.layers import layer_of
from plan.errors import UsageError
from plan.facts import TrialFacts, read
from plan.layout import Link
from plan.plan import from_json
from tests.made_plans import plan_json
from tests.small import PROJECT, trials_of
from workload.errors import WorkloadError
from workload.quic import checks, qlog, stacks, wire
from workload.quic.lines import header, line
from workload.quic.parameters import Parameters
from workload.quic.qlog import Sent
from workload.quic.source import totals
from workload.quic.wire import Access, Datagram
from workload.www import schedule
from workload.www.parameters import Parameters as OfWww

MS = 1_000_000
ACCESS = Access(link=Link(rate_bit_per_s=149_760_000, delay_ns=5000))
FULL_NS = 32 * 2831  # a datagram of 1472 bytes has 32 cells
EXPERIMENT = """
name = "quic"
title = "quic"
[factors]
workload.stack = ["ngtcp2"]
[base]
topology = { pairs = 1, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 300 }
tcp = { flavor = "cubic", window_bytes = 65_535, ssthresh_bytes = 12_500 }
workload = { kind = "quic" }
"""


def test_the_requests_are_those_of_www():
    ours, theirs = (kind(duration_s=50) for kind in (Parameters, OfWww))
    assert schedule.schedule(ours, 7, 3) == schedule.schedule(theirs, 7, 3)


def test_a_stack_has_only_its_own_congestion_controls():
    with pytest.raises(WorkloadError, match=r"^workload.congestion = bbr: aioquic has only cubic"):
        Parameters(stack="aioquic", congestion="bbr")
    Parameters(stack="ngtcp2", congestion="bbr")


def test_a_path_must_carry_the_packets_of_a_handshake(tmp_path: Path):
    with pytest.raises(UsageError, match=r"topology.mss_bytes = 1024: .* must be at least 1188"):
        trials_of(tmp_path, EXPERIMENT)
    [trial] = trials_of(tmp_path, EXPERIMENT.replace("1024", "1188"))
    assert trial.layer is None, "who only plans makes nothing"


def test_aioquic_has_no_larger_packets(tmp_path: Path):
    with pytest.raises(UsageError, match=r"topology.mss_bytes = 1489: .* must be at most 1488"):
        trials_of(tmp_path, EXPERIMENT.replace("1024", "1489"))


def test_a_list_of_flavors_has_no_meaning_without_the_kernels_tcp(tmp_path: Path):
    text = EXPERIMENT.replace("1024", "1460").replace("pairs = 1", "pairs = 2")
    text = text.replace('flavor = "cubic"', 'flavor = ["sack", "cubic"]')
    with pytest.raises(UsageError, match=r"small.toml, line 9: tcp.flavor: .* only 1 is allowed"):
        trials_of(tmp_path, text)


@pytest.mark.parametrize("lab", ["vm", "native"])
def test_another_lab_says_in_a_line_that_it_has_no_quic(tmp_path: Path, lab: str):
    path = tmp_path / "quic.toml"
    path.write_text(EXPERIMENT.replace("1024", "1460"))
    with pytest.raises(
        UsageError, match=rf"quic.toml, .*workload.kind = quic: not with --lab {lab}"
    ):
        planned(experiment.load(path), path, layers=partial(layer_of, lab))


def test_no_other_workload_has_a_layer():
    assert layer_of("native", from_json(plan_json())) is None


def test_the_recipe_lists_what_the_stacks_need():
    text = (PROJECT / "lab" / "quic" / "packages").read_text()
    names = [found for row in text.splitlines() if (found := row.split("#")[0].strip())]
    assert names == ["ngtcp2-server", "python3-aioquic"]


# What a server's qlog says beside its wire.


def of_wire(*rows: tuple[int, int]) -> list[Datagram]:
    """Datagrams that were sent at these moments with nothing before them: as tcpdump sees them."""
    return [Datagram(ACCESS.seen_ns(at, 0, length), length) for at, length in rows]


def test_a_packet_that_waits_for_the_access_link_is_not_late():
    seen = [Datagram(5000 + (n + 1) * FULL_NS, 1472) for n in range(3)]
    found = wire.compare(seen, [Sent(7 * MS, "1RTT", 1472)] * 3, ACCESS)
    assert (found.unlike, found.off_ns) == (0, 0)
    assert wire.offset_ns(seen[0], Sent(7 * MS, "1RTT", 1472), ACCESS) == -7 * MS


@pytest.mark.parametrize("off_ns", [-1500, 1, 2 * MS])
def test_a_packet_that_leaves_at_another_moment_is_off(off_ns: int):
    seen = of_wire((0, 1472), (10 * MS + off_ns, 900))
    logged = [Sent(0, "1RTT", 1472), Sent(10 * MS, "1RTT", 900)]
    assert wire.compare(seen, logged, ACCESS).off_ns == off_ns


def test_packets_that_only_one_of_both_has_are_counted():
    seen = of_wire((0, 1472), (MS, 1472), (2 * MS, 60))
    logged = [Sent(0, "1RTT", 1472), Sent(MS, "1RTT", 1472), Sent(2 * MS, "1RTT", 60)]
    assert wire.compare(seen, logged, ACCESS).unlike == 0
    assert wire.compare(seen[:2], logged, ACCESS).unlike == 1
    assert wire.compare(seen, logged[:2], ACCESS).unlike == 1
    assert wire.compare([], logged, ACCESS).unlike == 3
    longer = [*logged[:2], Sent(2 * MS, "1RTT", 61)]
    assert wire.compare(seen, longer, ACCESS).unlike == 2


def test_packets_share_a_datagram_and_only_an_initial_one_is_padded():
    logged = [Sent(0, "initial", 169), Sent(0, "handshake", 529), Sent(0, "1RTT", 700)]
    assert wire.compare(of_wire((0, 1398)), logged, ACCESS).unlike == 0
    assert wire.compare(of_wire((0, 1472)), logged[:2], ACCESS).unlike == 0
    assert wire.compare(of_wire((0, 1472)), logged[1:], ACCESS).unlike == 3


def test_what_follows_shows_how_many_packets_a_padded_datagram_has():
    logged = [Sent(0, "initial", 176), Sent(0, "handshake", 513), Sent(MS, "1RTT", 232)]
    seen = [Datagram(5000 + FULL_NS, 1472), Datagram(5000 + FULL_NS + 12 * 2831, 513)]
    seen += of_wire((MS, 232))
    found = wire.compare(seen, logged, ACCESS)
    assert (found.unlike, found.off_ns) == (0, 0)


def capture(
    path: Path,
    rows: list[tuple[int, int]],
    magic: int = wire.NANOSECONDS,
    version: bytes = b"\x45",
) -> Path:
    """A file as tcpdump writes it: Ethernet, IPv4, UDP, without payload."""
    data = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 64, 1)
    for at, length in rows:
        packet = bytes(14) + version + bytes(19) + struct.pack("!HHHH", 443, 40_000, length + 8, 0)
        data += struct.pack("<4I", at // 10**9, at % 10**9, len(packet), length + 42) + packet
    path.write_bytes(data)
    return path


def test_a_capture_is_read_whole_or_refused(tmp_path: Path):
    rows = [(1_577_836_800_000_000_001, 1472), (1_577_836_801_000_000_000, 40)]
    path = capture(tmp_path / "s1.pcap", rows)
    assert wire.read(path) == [Datagram(*row) for row in rows]
    whole = path.read_bytes()
    for missing in (1, 42 + 3):  # in a packet, and in its head
        path.write_bytes(whole[:-missing])
        with pytest.raises(WorkloadError, match="the last packet is cut short"):
            wire.read(path)
    with pytest.raises(WorkloadError, match="a packet is not UDP over IPv4"):
        wire.read(capture(path, rows, version=b"\x60"))
    with pytest.raises(WorkloadError, match="no capture with nanoseconds"):
        wire.read(capture(path, rows, magic=0xA1B2C3D4))


def test_a_server_that_does_not_begin_or_end_is_told(monkeypatch: pytest.MonkeyPatch):
    def server(program: str) -> Popen[str]:
        return Popen([sys.executable, "-c", program], stdout=PIPE, stderr=STDOUT, text=True)

    with server("raise SystemExit('no such file')") as process:
        process.wait()
        with pytest.raises(RuntimeError, match="server 3 did not begin: no such file"):
            stacks.began(process, os.getpid(), "server 3")
    monkeypatch.setattr(stacks, "END_S", 0)
    with server("input()") as process:
        with pytest.raises(RuntimeError, match="a server did not end within 0 s of SIGINT"):
            stacks.last_output(process)
        process.kill()


def test_a_request_that_was_due_and_not_sent_is_counted():
    """The check of the requests then fails; `unsent` was always 0 before."""
    row = {"sent": 1, "answered": 1, "unsent": 2, "under_way": 1, "bad_status": 0, "late_ns": 0}
    found = totals([{**row, "unexplained_bytes": 0, "ended": ""}], offered=4)
    assert found["offered"] == found["answered"] + found["outstanding"] + found["unsent"]
    assert found["unsent"] == 2


# qlog files.


def write(path: Path, *events: tuple[float, str, dict]) -> Path:
    head = line(header("aioquic", "server", "ab12", "0.3"))
    rows = [line({"time": at, "name": name, "data": data}) for at, name, data in events]
    path.write_text(head + "".join(rows))
    return path


def read_log(path: Path) -> tuple[qlog.Log, list[qlog.Event]]:
    """A file's log after its events, and these."""
    log = qlog.Log(path)
    return log, list(log.events())


def metrics(cwnd: int, **more: float) -> dict:
    return {"congestion_window": cwnd, "bytes_in_flight": 0, **more}


def test_windows_begin_with_what_held_at_the_start(tmp_path: Path):
    path = write(
        tmp_path / "s1.sqlog",
        (10, "recovery:metrics_updated", metrics(14_720)),
        (20, "recovery:metrics_updated", metrics(20_000, smoothed_rtt=100.5)),
        (1030, "recovery:metrics_updated", metrics(20_000)),
        (1040, "recovery:metrics_updated", metrics(10_000, ssthresh=10_000)),
        (1050, "recovery:metrics_updated", metrics(10_000, ssthresh=10_000)),
    )
    log, events = read_log(path)
    assert log.mended == 0
    rows = list(qlog.windows(events, 3, -1000 * MS))
    assert rows == [
        [0, 3, 20_000, None, 0, 100_500],
        [40 * MS, 3, 10_000, 10_000, 0, 100_500],
    ]
    assert list(qlog.windows(events[:2], 3, -1000 * MS)) == rows[:1]  # nothing happens later


def test_packets_sent_and_lost_are_found(tmp_path: Path):
    raw = {"header": {"packet_type": "1RTT"}, "raw": {"length": 1472}}
    path = write(
        tmp_path / "s1.sqlog",
        (1.5, "transport:packet_sent", raw),
        (2, "recovery:packet_lost", {"header": {}}),
        (3, "transport:packet_received", raw),
    )
    log, _ = read_log(path)
    assert log.sent == [Sent(1_500_000, "1RTT", 1472)] == [qlog.Log(path).first_sent()]
    assert log.lost == 1


def test_a_qlog_that_is_cut_short_is_refused(tmp_path: Path):
    path = write(tmp_path / "s1.sqlog", (1, "recovery:metrics_updated", metrics(1)))
    for cut in (9, 1):
        path.write_text(path.read_text()[:-cut])
        with pytest.raises(WorkloadError, match=r"s1.sqlog:2: not a line of qlog: it is cut short"):
            read_log(path)


def test_an_end_without_a_connection_has_no_events(tmp_path: Path):
    log, events = read_log(tmp_path / "s1.sqlog")
    assert (events, log.sent, log.first_sent()) == ([], [], None)


def test_the_same_files_make_the_same_archive(tmp_path: Path):
    path = write(tmp_path / "of-a-server", (1, "recovery:metrics_updated", metrics(1)))
    for name in ("one", "other"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for entry in ("s1.sqlog", "s2.sqlog"):
                with qlog.entry(archive, entry, path) as copy:
                    list(qlog.Log(path).events(copy))
        os.utime(path, (0, 0))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    with zipfile.ZipFile(tmp_path / "one") as archive:
        assert archive.namelist() == ["s1.sqlog", "s2.sqlog"]
        assert archive.read("s2.sqlog") == path.read_bytes()


def test_a_client_s_file_is_stored_without_reading_it_whole(tmp_path: Path):
    path = tmp_path / "c1.sqlog"
    path.write_bytes(bytes(20 * qlog.PIECE_BYTES) + b"end")
    with zipfile.ZipFile(tmp_path / "qlog.zip", "w") as archive:
        tracemalloc.start()
        qlog.store(archive, "c1.sqlog", path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 4 * qlog.PIECE_BYTES
    with zipfile.ZipFile(tmp_path / "qlog.zip") as archive:
        assert archive.read("c1.sqlog") == path.read_bytes()


def test_a_long_file_is_copied_in_few_pieces(tmp_path: Path):
    """Each write reads the clock, and many readings at one moment take time in a lab."""
    events = [(at, "recovery:metrics_updated", metrics(at)) for at in range(30_000)]
    path = write(tmp_path / "s1.sqlog", *events)
    pieces = Pieces()
    assert len(list(qlog.Log(path).events(pieces))) == len(events)
    assert b"".join(pieces.written) == path.read_bytes()
    assert len(pieces.written) <= path.stat().st_size / qlog.PIECE_BYTES + 1


class Pieces(io.BytesIO):
    """A file that keeps what each call wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.written.append(data)
        return len(data)


def test_a_packet_whose_event_ngtcp2_began_with_an_old_one_is_mended(tmp_path: Path):
    sent = {"frames": [], "header": {"packet_type": "handshake"}, "raw": {"length": 520}}
    path = write(
        tmp_path / "s1.sqlog",
        (199, "transport:packet_sent", sent),
        (199, "recovery:metrics_updated", metrics(1)),
        (199, "transport:packet_sent", sent),
    )
    rest = '{"frame_type":"padding"}],"header":{"packet_type":"1RTT"},"raw":{"length":493}}}\n'
    path.write_text(path.read_text() + rest)
    log, _ = read_log(path)
    assert log.mended == 1
    assert log.sent == [
        Sent(199 * MS, "handshake", 520), Sent(199 * MS, "1RTT", 493),
    ]  # fmt: skip
    # Where the line before is no copy, nobody knows what the rest belongs to.
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]) + rest)
    with pytest.raises(WorkloadError, match="not a line of qlog"):
        read_log(path)


# The checks.

PLAN = from_json(plan_json(workload="quic"))


def facts(**source: object) -> TrialFacts:
    good = {"ended": [""], "unlike_packets": [0], "off_ns": [999_999]}
    return read(TrialFacts, json.loads(json.dumps({"source": {**good, **source}})))


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (checks.connections, {"ended": ["0x1 INTERNAL_ERROR"]}),
        (checks.connections, {"ended": []}),
        (checks.sent_packets, {"unlike_packets": [1]}),
        (checks.sent_packets, {"unlike_packets": []}),
        (checks.sent_moments, {"off_ns": [1_000_001]}),
        (checks.sent_moments, {"off_ns": [-1_000_001]}),
        (checks.sent_moments, {"off_ns": []}),
    ],
)
def test_each_check_fails_where_its_fact_is_wrong(check, bad: dict):
    assert check(facts(), PLAN)["ok"]
    assert not check(facts(**bad), PLAN)["ok"]
