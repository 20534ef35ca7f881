# SPDX-License-Identifier: GPL-2.0-only
"""ns-2 beside the kernel: the trace that it is given, what it makes of it, and what is kept."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis import witness
from analysis.errors import RecordError
from harness.cli import witnessed
from harness.cli.witnessed import Chosen
from harness.design import experiment
from harness.design.trials import planned
from harness.judge import studies
from plan.errors import UsageError
from plan.plan import Plan
from studies.web_2003.ns2 import options, simulate, traffic
from studies.web_2003.ns2.simulate import Exchange, Outcome, Port
from studies.web_2003.ns2.traffic import Connection
from studies.web_2003.ns2.witness import WITNESS, figures
from studies.web_2003.study import STUDY
from tests.small import PROJECT

needs_ns_2 = pytest.mark.skipif(shutil.which("ns") is None, reason="apt-get install ns2")
FOLDER = studies.folder("web_2003")


def plans(*only: str) -> list[Plan]:
    path = FOLDER / "web-witness.toml"
    return [trial.plan for trial in planned(experiment.load(path), path, only, seeds=1)]


def connection(
    number: int, *, start_s: float = 1.0, half_s: float = 0.05, request: int = 400,
    delay_s: float = 0.01, response: int = 1460, direction: str = "down",
) -> Connection:  # fmt: skip
    return Connection(direction, number, start_s, half_s, request, delay_s, response)


# ---- the trace ----

HEAD = "cellbed-packmime/1 {}\n" + traffic.COLUMNS + "\n"
DOWN = "down,0,2000000000,100000000,411,5000000,2319\n"
UP = "up,0,1000000000,30000000,1500,0,80\n"


def test_a_trace_is_read_in_the_order_of_its_starts(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text(HEAD + DOWN + UP + "end,2\n")
    first, second = traffic.read(path)
    assert first == Connection("up", 0, 1.0, 0.015, 1500, 0.0, 80)
    assert second.line() == "2.000000000 down 0 0.0500000000 411 0.005000000 2319\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot read"),
        (HEAD, "cannot read"),
        (HEAD + DOWN + UP, "cut short"),
        (HEAD + DOWN + "end,2\n", "cut short"),
        (HEAD + DOWN + "up,0,1\n" + "end,2\n", "cannot read"),
        (HEAD + DOWN + DOWN + "end,2\n", "two exchanges"),
    ],
)
def test_a_damaged_trace_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "trace"
    path.write_text(text)
    with pytest.raises(RecordError, match=message):
        traffic.read(path)


def test_the_link_of_ns_2_carries_a_trace_in_the_same_time() -> None:
    """Nine packets without payload, of 2 cells or 97 bytes, and two full ones, 32 or 1,557."""
    one = connection(0, request=1460)
    assert sorted(one.payloads(1460)) == [0] * 9 + [1460] * 2
    cells, octets = 53 * (9 * 2 + 2 * 32), 9 * 97 + 2 * 1557
    header = traffic.header_bytes(1460)
    found = traffic.rate_bit_per_s([one], 10_000_000, 1460, header)
    assert found == pytest.approx(1e7 * octets / cells)


# ---- the plan ----


def test_ns_2_is_given_the_plan_s_queues_and_senders() -> None:
    found = {
        tuple(map(str, plan.factors.values())): options.options(
            plan, [connection(0)], "as the plan"
        )
        for plan in plans("load=80")
        if options.link(plan)
    }
    assert {levels[2] for levels in found} == {
        "drop-tail", "ARED as in ns-2", "ARED+ECN as in ns-2",
    }  # fmt: skip
    tail = found["80", "SACK", "drop-tail"]
    assert (tail["queue"], tail["limit"], tail["ecn"], tail["sender"]) == (
        "DropTail",
        120,
        0,
        "SACK",
    )
    assert (tail["segments"], tail["first_window"], tail["rto_data"]) == (44, 2, 3.0)
    assert tail["give_up"] == 1 + 2 + 4 + 8 + 16 + 32 + 64
    [plan] = plans("load=80", "sender=Reno", "queue=drop-tail")
    plain = options.options(plan, [connection(0, request=1460)], "plain packets")
    # Eleven packets of 40 bytes and two payloads, in the time of 82 cells.
    assert plain["rate"] == pytest.approx(1e7 * (11 * 40 + 2 * 1460) / (82 * 53))
    red = found["80", "Reno", "ARED+ECN as in ns-2"]
    assert (red["queue"], red["gentle"], red["count_bytes"], red["ecn"]) == ("RED", 1, 0, 1)
    assert red["sender"] == "Reno"


# ---- ns-2 ----

PLAIN = {"rate": 10_000_000, "header": 40, "mss": 1460}


def sent_s(*payloads: int) -> float:
    """On a link of 10 Mbit/s, with 40 bytes each beside the payload."""
    return sum(8 * (40 + payload) for payload in payloads) / 1e7


def idle_s(one: Connection) -> float:
    """A response of up to three segments, nothing in its way: the handshake, its ACK and the
    request, the server's delay, the response; of three segments the last waits for an ACK of the
    first, with an initial window of 2.
    """
    before = 4 * one.half_s + sent_s(0, 0, 0, one.request_bytes) - one.half_s + one.server_delay_s
    if one.response_bytes <= 1460:
        return before + sent_s(one.response_bytes) + one.half_s
    return before + sent_s(1460, 0, one.response_bytes - 2 * 1460) + 3 * one.half_s


@needs_ns_2
@pytest.mark.parametrize("sender", ["Reno", "SACK"])
@pytest.mark.parametrize("queue", ["DropTail", "RED"])
def test_ns_2_does_what_arithmetic_says(sender: str, queue: str) -> None:
    trace = [
        connection(0),
        connection(1, start_s=2, half_s=0.2, delay_s=0.1, response=700),
        connection(0, start_s=4, request=1000, response=3000, direction="up"),
    ]
    found = simulate.run(trace, {**PLAIN, "sender": sender, "queue": queue})
    for one in found.exchanges:
        assert one.begun_s == one.connection.start_s
        assert one.last_byte_s is not None
        assert one.last_byte_s - one.begun_s == pytest.approx(idle_s(one.connection), abs=1e-9)
        # SYN/ACK, the request's ACK, FIN, and the ACK of the client's FIN.
        assert (one.sent_bytes, one.acks, one.timeouts) == (one.connection.response_bytes, 4, 0)
    # To the client 4 and the response; to the server SYN, ACK, request, an ACK a segment, FIN, ACK.
    down, up = 2 * (4 + 1) + (4 + 1 + 3), 2 * (4 + 1 + 1) + (4 + 3)
    assert found.ports == {"down": Port(down, 0, 0), "up": Port(up, 0, 0)}


@needs_ns_2
def test_a_syn_that_finds_the_queue_full_is_sent_again_after_a_second() -> None:
    """One is sent, one waits, two are lost: and so again a second later, when all find room."""
    trace = [connection(number, half_s=0.05 * (number + 1)) for number in range(4)]
    found = simulate.run(trace, {**PLAIN, "limit": 1})
    late = [
        (one.last_byte_s or 0) - one.begun_s - idle_s(one.connection) for one in found.exchanges
    ]
    assert late == pytest.approx([0, sent_s(0), 1, 1 + sent_s(0)], abs=1e-9)
    assert found.ports["up"].dropped == 2


@needs_ns_2
def test_a_client_without_an_answer_gives_up() -> None:
    """The two SYNs that are lost would go again after a second; one that is answered stays."""
    trace = [connection(number, half_s=0.05 * (number + 1), delay_s=2) for number in range(4)]
    found = simulate.run(trace, {**PLAIN, "limit": 1, "give_up": 0.75})
    assert [one.last_byte_s is None for one in found.exchanges] == [False, False, True, True]
    assert [one.sent_bytes for one in found.exchanges] == [1460, 1460, 0, 0]


@needs_ns_2
def test_ns_2_s_own_words_are_told() -> None:
    with pytest.raises(RecordError, match="unknown option speed"):
        simulate.run([connection(0)], {"speed": 1})


# ---- figures ----


def test_an_exchange_that_is_missing_is_no_result() -> None:
    trace = [connection(0), connection(1)]
    line = "exchange down 0 1.0 1.5 1460 0 4 0 0\n"
    ports = "queue down 9 3 1\nqueue up 9 0 0\n"
    assert simulate.outcome(trace[:1], line + ports).ports["down"] == Port(9, 3, 1)
    for text in (line + ports, line):
        with pytest.raises(RecordError, match="ns-2 told of 1 exchanges"):
            simulate.outcome(trace, text)


def outcome(ends_s: Sequence[float | None], sent_bytes: Sequence[int]) -> Outcome:
    exchanges = [
        Exchange(connection(number), 1.0, end_s, sent, 0, 4)
        for number, (end_s, sent) in enumerate(zip(ends_s, sent_bytes, strict=True))
    ]
    return Outcome(exchanges, {"down": Port(10, 2, 4), "up": Port(10, 1, 0)})


def test_the_figures_of_a_run() -> None:
    found = figures(outcome([1.1, 1.2, 1.3, None], [1460, 2920, 1460, 0]))
    assert found["median_ms"] == pytest.approx(200)
    assert found["p90_ms"] is None
    assert (found["unfinished_share"], found["resent_share"]) == (0.25, 0.25)
    assert found["resent_bytes_share"] == 0.25
    assert (found["dropped_share"], found["dropped_share_up"]) == (0.2, 0.1)
    assert found["marked_share"] == 0.5


# ---- what is kept ----


def test_a_line_takes_the_place_of_the_one_of_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "results" / "ns-2.csv"
    one, other = plans("load=80,105", "sender=SACK", "queue=drop-tail")
    witness.write(path, [witness.line(one, "as the plan", {"median_ms": 1.5, "p90_ms": None})])
    witness.write(path, [witness.line(other, "as the plan", {"median_ms": 2.5})])
    witness.write(path, [witness.line(one, "bytes", {"median_ms": 4.0})])
    witness.write(path, [witness.line(one, "as the plan", {"median_ms": 3.5, "p90_ms": 7})])
    found = [
        (row["load"], row["variant"], row["median_ms"], row["p90_ms"]) for row in witness.read(path)
    ]
    assert found == [
        ("80", "as the plan", "3.5", "7"), ("105", "as the plan", "2.5", ""),
        ("80", "bytes", "4.0", ""),
    ]  # fmt: skip


def test_a_witness_is_asked_for_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ubr_1996: the study has no witness"):
        list(witnessed.run(studies.find("ubr_1996"), tmp_path, (), 1, Chosen(), again=False))
    with pytest.raises(UsageError, match="--variant x: write one of as the plan"):
        list(witnessed.run(STUDY, tmp_path, (), 1, Chosen(variant="x"), again=False))
    with pytest.raises(UsageError, match="--experiment x: write one of web-witness, web"):
        list(witnessed.run(STUDY, tmp_path, (), 1, Chosen(experiment="x"), again=False))


def test_an_experiment_is_carried_into_its_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of the long experiment is no run of the short one, and the other way round."""
    monkeypatch.setattr(witnessed, "carried", lambda witness, plan, variant: {"median_ms": 1.0})
    for name in WITNESS.experiments:
        copy = tmp_path / f"{name}.toml"
        copy.write_text((FOLDER / f"{name}.toml").read_text(), encoding="utf-8")
    only = ("load=80", "sender=SACK", "queue=drop-tail")
    for name in (None, "web"):
        chosen = Chosen(experiment=name)
        [told] = witnessed.run(STUDY, tmp_path, only, 1, chosen, again=False)
        assert told.endswith("seed 1, as the plan: done")
    for name in WITNESS.experiments:
        [line] = witness.read(WITNESS.file(tmp_path, name))
        assert (line["load"], line["queue"], line["median_ms"]) == ("80", "drop-tail", "1.0")


def test_every_variant_is_an_option_of_the_script() -> None:
    script = simulate.SCRIPT.read_text()
    known = script.partition("array set option {")[2].partition("}\n")[0].split()[::2]
    assert {name for wanted in options.VARIANTS.values() for name in wanted} <= set(known)
    assert WITNESS.variants[0] == "as the plan" and not options.VARIANTS["as the plan"]
    for name in WITNESS.experiments:
        assert (PROJECT / "studies/web_2003" / f"{name}.toml").is_file()
