# SPDX-License-Identifier: GPL-2.0-only
"""Two trials side by side: segments read from a capture, where they part, what is said of it."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare import text
from analysis.compare.difference import changed_files, divergence
from analysis.compare.levels import Comparison, Comparisons, Response, compare, response
from analysis.compare.segments import connections
from analysis.errors import RecordError
from analysis.exports._capture import packets as exported
from analysis.records import Trial
from analysis.statistics import estimate
from plan import facts
from tests import made_plans

CLIENT, SERVER = ("10.1.0.2", 40000), ("10.2.0.2", 80)
SYN, ACK, PUSH = 0x02, 0x10, 0x08
T0_NS, OFFSET_NS = 2_000, 1_577_836_800_000_000_000

Packet = tuple[int, tuple[str, int], tuple[str, int], int, int, int, int]
HANDSHAKE: list[Packet] = [
    (1_000, CLIENT, SERVER, SYN, 4_294_967_290, 0, 0),
    (2_000, SERVER, CLIENT, SYN | ACK, 7_000, 4_294_967_291, 0),
    (3_000, SERVER, CLIENT, PUSH | ACK, 7_001, 4_294_967_291, 1024),
    (4_000, CLIENT, SERVER, ACK, 4_294_967_291, 8_025, 0),
]


def packet(at: Packet) -> bytes:
    """A packet of a capture: time, ends, flags, sequence, acknowledged, payload; 54 bytes kept."""
    time_ns, source, target, flags, sequence, acknowledged, payload = at
    ends = [bytes(map(int, end[0].split("."))) for end in (source, target)]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0) + b"".join(ends)
    tcp = struct.pack(">HHIIHHHH", source[1], target[1], sequence, acknowledged,
                      5 << 12 | flags, 500, 0, 0)  # fmt: skip
    data = bytes(12) + b"\x08\x00" + ip + tcp
    moment = time_ns + T0_NS + OFFSET_NS
    return struct.pack("<IIII", *divmod(moment, 10**9), len(data), len(data) + payload) + data


def trial(folder: Path, packets: list[Packet], *, level: str = "a", seed: int = 1) -> Trial:
    folder.mkdir()
    data = b"".join(map(packet, packets))
    (folder / "down.pcap").write_bytes(b"\x4d\x3c\xb2\xa1" + bytes(16) + b"\x01\0\0\0" + data)
    (folder / "cwnd.csv").write_text(
        "time_ns,pair,cwnd_segments,ssthresh_segments\n500,1,10,64\n2500,1,12,\n9000,1,99,9\n"
    )
    (folder / "run.json").write_text(folder.name)
    document = {"capture": {"clock_offset_ns": OFFSET_NS}, "source": {"t0_ns": T0_NS}}
    return Trial(
        name=folder.name, folder=folder, factors={"f": level, "g": "x"}, seed=seed,
        plan=made_plans.plan(), facts=facts.read(facts.TrialFacts, document), document=document,
        valid=True, checks=(), metrics={"efficiency": len(packets) / 10},
        published={},
    )  # fmt: skip


def test_numbers_count_from_the_first_of_their_direction(tmp_path: Path) -> None:
    (found,) = connections(trial(tmp_path / "a", HANDSHAKE))
    assert found.pair == 1
    numbers = [(s.time_ns, s.sequence, s.acknowledged, s.flags) for s in found.segments]
    assert numbers == [
        (1_000, 0, None, "S"), (2_000, 0, 1, "SA"), (3_000, 1, 1, "PA"), (4_000, 1, 1025, "A"),
    ]  # fmt: skip
    assert [s.payload_bytes for s in found.segments] == [0, 0, 1024, 0]


def test_other_ports_and_first_numbers_are_no_difference(tmp_path: Path) -> None:
    other = [
        (t, *((end[0], end[1] + 5) if end == CLIENT else end for end in (a, b)),
         flags, (s + 1000) % 2**32, (k + 1000) % 2**32, n)
        for t, a, b, flags, s, k, n in HANDSHAKE
    ]  # fmt: skip
    one, two = trial(tmp_path / "a", HANDSHAKE), trial(tmp_path / "b", other)
    assert divergence(one, two) is None and changed_files(one, two) == []


@pytest.mark.parametrize(
    ("changed", "number", "time_ns"),
    [
        (HANDSHAKE[:3], 4, 4_000),
        ([*HANDSHAKE[:2], (2_999, *HANDSHAKE[2][1:])], 3, 2_999),
        ([*HANDSHAKE[:2], (*HANDSHAKE[2][:6], 1023), HANDSHAKE[3]], 3, 3_000),
        ([], 1, 1_000),
    ],
)
def test_the_first_segment_that_differs(
    tmp_path: Path, changed: list[Packet], number: int, time_ns: int
) -> None:
    one, two = trial(tmp_path / "a", HANDSHAKE), trial(tmp_path / "b", changed, level="b")
    at = divergence(one, two)
    assert at is not None and (at.pair, at.number, at.time_ns) == (1, number, time_ns)
    window = {1: 10.0, 3: 12.0, 4: 12.0}[number]
    assert at.first.cwnd_segments == window and at.first.segment is not None
    assert (at.second.segment is None) == (len(changed) < number)
    one_of_all = Comparison(first=one, second=two, changed=[], divergence=at)
    compared = response("eff.", "efficiency", [(one, two)])
    assert compared is not None
    found = Comparisons(factor="f", levels=("a", "b"), each=[one_of_all], responses=[compared])
    said = list(text.lines(found))
    assert said[1] == (
        f"The first difference is segment {number} of pair 1 "
        f"at {time_ns / 1e9:.9f} s (g x, seed 1)"
    )
    assert found.differs(0) and not found.differs(10)
    assert found.differs(0.2) == (len(changed) < 4)  # efficiency 0.4 against that many tenths


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ([0.1], ["+0.1000", "n = 1 comparison, so there is no interval"]),
        ([0.1, 0.3], ["+0.2000 +- 1.2706", "n = 2 comparisons (2 combinations of the other"
                      " levels, 1 seed); the interval is over these comparisons"]),
        ([0.1] * 3, ["+0.1000", "n = 3 comparisons (3 combinations of the other levels, 1"
                     " seed); the interval is over these comparisons",
                     "a difference without an interval is the same in all comparisons"]),
    ],
)  # fmt: skip
def test_it_says_over_what_an_interval_goes(
    tmp_path: Path, differences: list[float], said: list[str]
) -> None:
    one = trial(tmp_path / "a", HANDSHAKE)
    each = [
        Comparison(first=replace(one, factors={"f": "a", "g": str(n)}), second=one, changed=["x"],
             divergence=None)
        for n, _ in enumerate(differences)
    ]  # fmt: skip
    found = Response(name="eff.", first=0.5, second=0.7, difference=estimate(differences))
    lines = list(text.lines(Comparisons(
        factor="f", levels=("a", "b"), each=each, responses=[found]
    )))  # fmt: skip
    assert [lines[-len(said)].split("  ")[-1], *lines[len(lines) - len(said) + 1 :]] == said


@pytest.mark.parametrize(
    ("changed", "files"),
    [
        ({"versions": {"kernel": "6.12.2", "bpf": "jit"}}, []),
        ({"virtual_s": 3.0}, ["lab.json"]),
        ({"versions": {}, "virtual_s": 3.0}, ["lab.json"]),
    ],
)
def test_who_made_the_facts_is_no_difference(
    tmp_path: Path, changed: dict[str, object], files: list[str]
) -> None:
    one, two = trial(tmp_path / "a", HANDSHAKE), trial(tmp_path / "b", HANDSHAKE)
    facts = {"versions": {"kernel": "6.12.1"}, "virtual_s": 2.0}
    (one.folder / "lab.json").write_text(json.dumps(facts))
    (two.folder / "lab.json").write_text(json.dumps(facts | changed))
    assert changed_files(one, two) == files


def compared(tmp_path: Path, first: float | None, second: float | None) -> Comparisons:
    """Two trials that differ, with a metric or without."""
    trials = [
        replace(trial(tmp_path / level, HANDSHAKE[: 4 - n], level=level), metrics={"fairness": x})
        for n, (level, x) in enumerate((("a", first), ("b", second)))
    ]
    return compare(trials, "f", ("a", "b"), {"fairness": "fair."})


def test_without_a_known_response_a_tolerance_has_no_answer(tmp_path: Path) -> None:
    found = compared(tmp_path, None, None)
    assert found.differs(0)
    with pytest.raises(RecordError, match="--tolerance cannot be used: no response"):
        found.differs(0.5)


def test_a_response_that_only_one_level_has_differs(tmp_path: Path) -> None:
    found = compared(tmp_path, 0.9, None)
    said = "\n".join(text.lines(found))
    assert found.differs(0.5) and "fair.         known at one level only" in said
    (tmp_path / "more").mkdir()
    assert not compared(tmp_path / "more", 0.9, 0.8).differs(0.5)


def test_a_trial_without_a_capture_is_named(tmp_path: Path) -> None:
    one = trial(tmp_path / "a", HANDSHAKE)
    (one.folder / "down.pcap").unlink()
    with pytest.raises(RecordError, match=r"a/down\.pcap does not exist"):
        connections(one)


@pytest.mark.parametrize("lacking", [1, 3, 20, 40, 60])
def test_a_capture_that_is_cut_within_its_last_packet_is_named(
    tmp_path: Path, lacking: int
) -> None:
    made = trial(tmp_path / "a", HANDSHAKE)
    path = made.folder / "down.pcap"
    path.write_bytes(path.read_bytes()[:-lacking])
    with pytest.raises(RecordError, match=r"down\.pcap.*(cut off|damaged)"):
        connections(made)
    with pytest.raises(RecordError, match=r"down\.pcap.*(cut off|damaged)"):
        list(exported(path))


def test_a_capture_that_is_cut_off_is_named(tmp_path: Path) -> None:
    one = trial(tmp_path / "a", HANDSHAKE)
    path = one.folder / "down.pcap"
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(RecordError, match="cut off"):
        connections(one)
