# SPDX-License-Identifier: GPL-2.0-only
"""The board of RFC 9743: its design, what it measures of a trial, and its verdicts."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis import read_campaign
from analysis.cells import Cell
from analysis.claims import Verdict, claims_of
from analysis.kept import Kept
from analysis.records import Trial
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.judge import studies
from plan.atm import CELL_BITS, segment_cells
from plan.facts import TrialFacts, read
from studies.cc_board import board, figures, findings
from studies.cc_board.study import ALIKE, CASES, STUDY
from tests.analysis import synthetic
from topology.queues.drop_tail import Queue as DropTail
from workload.iperf import Parameters as Iperf
from workload.quic_bulk import Parameters as QuicBulk

FILE = studies.folder("cc_board") / "cc-board.toml"
PLANS = planned(experiment.load(FILE), FILE)
KEPT = Kept(FILE.parent / "results")
NS = 1e9


def plan_of(case: str, flavor: str = "Reno") -> PlannedTrial:
    """The first seed of a cell."""
    levels = {"case": case, "flavor": flavor}
    return next(one for one in PLANS if one.factors == levels and one.plan.seed == 1)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """A record without tables."""
    cells = dict([*synthetic.paper_cells().items()][:1])
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1])
    [found] = read_campaign(tmp_path).trials
    return found


def of(trial: Trial, case: str, flavor: str = "Reno", **source: object) -> Trial:
    """The record as one of a case, with facts of its workload."""
    return replace(
        trial,
        factors={"case": case, "flavor": flavor},
        plan=plan_of(case, flavor).plan,
        facts=read(TrialFacts, {"source": source}),
    )


def write_bytes(trial: Trial, step_s: float, totals: np.ndarray) -> None:
    """throughput.csv: the bytes of each pair by each moment."""
    rows = ["time_ns,pair,ip_bytes"]
    for number, line in enumerate(totals):
        for pair, total in enumerate(np.atleast_1d(line), 1):
            rows.append(f"{number * step_s * NS:.0f},{pair},{total:.0f}")
    (trial.folder / "throughput.csv").write_text("\n".join(rows) + "\n")


def write_queue(trial: Trial, rows: list[tuple[float, int, int]]) -> None:
    """queue.csv: second, packets that wait, packets dropped so far; and a queue up that is full."""
    lines = ["time_ns,port,backlog_packets,backlog_bytes,dropped_packets,marked_packets"]
    for second, waiting, dropped in rows:
        lines += [f"{second * NS:.0f},down,{waiting},0,{dropped},0"]
        lines += [f"{second * NS:.0f},up,900,0,900,0"]
    (trial.folder / "queue.csv").write_text("\n".join(lines) + "\n")


def test_each_case_has_a_criterion_and_five_seeds() -> None:
    assert {str(one.factors["case"]) for one in PLANS} == set(CASES)
    assert {board.case(claim) for claim in claims_of(STUDY)} == set(CASES)
    assert {one.plan.seed for one in PLANS} == {1, 2, 3, 4, 5}
    assert len(PLANS) == 3 * 5 * len(CASES)


def test_dctcp_is_in_the_case_with_marks_alone() -> None:
    file = FILE.with_name("cc-board-marks.toml")
    trials = planned(experiment.load(file), file)
    assert {one.plan.seed for one in trials} == {1, 2, 3, 4, 5}
    other = plan_of("FQ-CoDel marks").plan
    same = replace(
        trials[0].plan, tcp=other.tcp, experiment=other.experiment, factors=other.factors
    )
    assert same == other
    assert trials[0].plan.tcp.flavor.name == "dctcp"


def test_bbr_3_is_in_all_cases_as_version_1(tmp_path: Path) -> None:
    """Its kernel is another. Nothing else is: not the path, the queue or the standard senders."""
    file = tmp_path / "cc-board-bbr3.toml"
    text = FILE.with_name(file.name).read_text()
    file.write_text(text.replace("patch=bbr3.patch,", "").replace('"cc-board.toml"', f'"{FILE}"'))
    trials = planned(experiment.load(file), file)
    assert [one.plan.seed for one in trials].count(1) == len(CASES)
    for one in trials:
        if one.plan.seed == 1:
            other = plan_of(str(one.factors["case"]), "BBR").plan
            for part in ("topology", "queue", "tcp", "workload", "record"):
                assert getattr(one.plan, part) == getattr(other, part)


def test_prague_is_in_all_cases_with_the_paths_and_queues_of_the_others() -> None:
    """Its kernel and its flavor are others. The standard senders are the same."""
    file = FILE.with_name("cc-board-prague.toml")
    trials = [one for one in planned(experiment.load(file), file) if one.plan.seed == 1]
    assert len(trials) == len(CASES)
    for one in trials:
        other = plan_of(str(one.factors["case"]), "BBR").plan
        for part in ("topology", "queue", "workload", "record"):
            assert getattr(one.plan, part) == getattr(other, part)
        pairs = range(1, other.topology.pairs + 1)
        mine, theirs = ([plan.tcp.of_pair(pair) for pair in pairs] for plan in (one.plan, other))
        for here, there in zip(mine, theirs, strict=True):
            names = here.flavor.congestion, there.flavor.congestion
            assert names == ("prague", "bbr") or here == there


def test_the_buffers_are_the_products_that_the_cases_name() -> None:
    packets = 20e6 * 0.040 / (segment_cells(1460) * CELL_BITS)
    for case, products in {
        "one flow": 1, "shallow buffer": 0.1, "deep buffer": 8, "half a product": 0.5,
        "beside Reno 0.5": 0.5, "beside Reno 4": 4,
    }.items():  # fmt: skip
        queue = plan_of(case).plan.queue.down
        assert isinstance(queue, DropTail)
        assert queue.limit_packets == pytest.approx(products * packets, abs=0.6)


def test_the_bound_of_many_flows_is_below_what_flows_without_backoff_lose() -> None:
    """findings.py has the numbers of the case, and claims.toml the loss that follows from them."""
    plan, queue = plan_of("many flows").plan, plan_of("many flows").plan.queue.down
    assert isinstance(queue, DropTail)
    assert (plan.topology.pairs, plan.topology.rate_bit_per_s, queue.limit_packets) == (
        findings.FLOWS, findings.CROWDED_BIT_PER_S, findings.CROWDED_PACKETS,
    )  # fmt: skip
    [claim] = [one for one in claims_of(STUDY) if one.id == "load-collapse"]
    lost = findings.no_backoff_percent()
    assert f"{lost:.1f} %" in claim.reading and claim.parameters["at_most"] < lost
    # A flow sends for one round trip or one timeout: (1 - p) of what 59 flows send is the link.
    rate, share = 92.1285, lost / 100
    sent = 59 / ((1 - share) * (0.04 + 4 / rate) + share * 0.2)
    assert sent * (1 - share) == pytest.approx(rate, rel=1e-4)


def test_the_control_has_half_of_the_link_of_its_case() -> None:
    case, control = (plan_of(name).plan for name in ("beside Reno FQ-CoDel", "alone FQ-CoDel"))
    assert control.topology.rate_bit_per_s == case.topology.rate_bit_per_s / 2
    assert control.queue == case.queue


@pytest.mark.parametrize("case", sorted(figures.STANDARD))
def test_a_standard_sender_is_beside_the_tested_sender(case: str) -> None:
    for flavor, name in {"Reno": "linux-reno", "CUBIC": "cubic-rack", "BBR": "bbr"}.items():
        tcp = plan_of(case, flavor).plan.tcp
        assert tcp.of_pair(1).flavor.name == figures.STANDARD[case]
        assert tcp.of_pair(2).flavor.name == name


def test_the_share_of_the_standard_sender(trial: Trial) -> None:
    """Half of 20 Mbit/s of cells is 8.608 Mbit/s of payload."""
    one = of(trial, "beside CUBIC", delivered_bytes=[1_076_000, 9], measured_s=1.0)
    assert figures.standard_share(one) == pytest.approx(1, abs=1e-3)
    module = replace(one, plan=plan_of("one flow", "BBR").plan)  # what --module does
    assert figures.standard_share(module) is None


def test_shares_of_parking_lots(trial: Trial) -> None:
    trips = of(trial, "two round trips", delivered_bytes=[1, 4, 9], measured_s=1.0)
    assert figures.long_over_short(trips) == 0.25
    assert figures.efficiency(trips) is None
    lot = of(trial, "parking lot", delivered_bytes=[538_000, 1, 1, 1], measured_s=1.0)
    assert figures.long_share(lot) == pytest.approx(1, abs=1e-3)


def test_efficiency_of_a_path_whose_rate_changes(trial: Trial) -> None:
    """The interval begins when the rate grows, so the link has 20 Mbit/s in it."""
    payload = 20e6 / 8 * 1460 / (segment_cells(1460) * CELL_BITS / 8)
    one = of(trial, "rate quadruples", delivered_bytes=[round(payload)], measured_s=1.0)
    assert figures.efficiency(one) == pytest.approx(1, abs=1e-6)


def test_delays_of_the_queue_are_those_of_the_measured_interval(trial: Trial) -> None:
    one = of(trial, "deep buffer")
    write_queue(one, [(65, 400, 0), (66, 59, 0), (100, 0, 0), (210, 400, 0)])
    assert figures.queue_mean_ms(one) == pytest.approx(20, abs=0.1)
    assert figures.queue_p95_ms(one) == pytest.approx(38, abs=0.1)


def test_losses_are_those_after_the_change(trial: Trial) -> None:
    one = of(trial, "rate halves")
    write_queue(one, [(9, 0, 50), (10, 0, 60), (14.9, 0, 70), (16, 0, 900)])
    write_bytes(one, 5, np.array([0, 0, 1_500_000, 1_500_000 + 1500 * 190, 9e9]))
    assert figures.lost_percent(one) == pytest.approx(5)
    assert figures.lost_percent(of(one, "one flow")) is None


def test_segments_in_silence_are_those_sent_again(trial: Trial) -> None:
    (trial.folder / "flows.csv").write_text("pair,retransmits\n1,3\n")
    assert figures.sent_in_silence(of(trial, "silence")) == 3
    assert figures.sent_in_silence(of(trial, "one flow")) is None


def test_the_time_until_the_link_is_full_counts_from_the_change(trial: Trial) -> None:
    """10 Mbit/s until second 12.5, then what the link carries."""
    one = of(trial, "rate quadruples")
    whole = figures.ip_bit_per_s(one.plan, 20e6) / 8
    rates = np.where(np.arange(0, 20, 0.1) < 12.45, whole / 2, whole)
    write_bytes(one, 0.1, np.concatenate([[0], np.cumsum(rates * 0.1)]))
    # A second that is full to nine tenths has four fifths of it after 12.5 s.
    assert figures.adapted_after_s(one) == pytest.approx(2.3)


def test_a_time_that_does_not_come_counts_until_the_end(trial: Trial) -> None:
    one = of(trial, "rate quadruples")
    write_bytes(one, 0.1, np.arange(0, 201) * 1000.0)
    assert figures.adapted_after_s(one) == pytest.approx(10)


def test_a_late_comer(trial: Trial) -> None:
    """It comes at 10 s, has all of the link for 5 s, and then half."""
    moments = np.arange(0, 45.01, 0.1)
    late = np.interp(moments, [10, 15, 45], [0, 10e6, 40e6])
    first = np.interp(moments, [0, 10, 15, 45], [0, 20e6, 20e6, 50e6])
    one = of(trial, "late comer")
    write_bytes(one, 0.1, np.array([first, late]).T)
    # Two thirds of a second at a half and a third alone: three fifths of the bytes.
    assert figures.fair_after_s(one) == pytest.approx(4.7, abs=0.11)
    assert figures.slower_start(one) == pytest.approx(1, abs=1e-6)


def test_a_connection_that_exists_before_the_trial_is_no_start(trial: Trial) -> None:
    """QUIC's handshake has more bytes than iperf3's control connection."""
    moments = np.arange(0, 45.01, 0.1)
    late = 4563 + np.interp(moments, [10, 15, 45], [0, 10e6, 40e6])
    first = 4563 + np.interp(moments, [0, 10, 15, 45], [0, 20e6, 20e6, 50e6])
    one = of(trial, "late comer")
    write_bytes(one, 0.1, np.array([first, late]).T)
    assert figures.fair_after_s(one) == pytest.approx(4.7, abs=0.11)
    assert figures.slower_start(one) == pytest.approx(1, abs=1e-6)


def test_a_late_comer_that_has_its_share_only_after_the_trial_has_none(trial: Trial) -> None:
    """The first flow may have stopped by then, so its share says nothing."""
    moments = np.arange(0, 45.01, 0.1)
    late = np.interp(moments, [10, 36, 45], [0, 46.8e6, 55.8e6])
    first = np.interp(moments, [0, 10, 36, 45], [0, 20e6, 25.2e6, 34.2e6])
    one = of(trial, "late comer")
    write_bytes(one, 0.1, np.array([first, late]).T)
    end_s = one.plan.workload.duration_s
    assert figures.fair_after_s(one) == pytest.approx(end_s - 10, abs=0.11)


@pytest.mark.parametrize(
    ("name", "stack"), [("cc-board-quic.toml", "ngtcp2"), ("cc-board-aioquic.toml", "aioquic")]
)
def test_quic_has_the_settings_of_the_case_but_for_its_workload(name: str, stack: str) -> None:
    """In each case of the board in which nothing needs a second workload or counts segments."""
    file = FILE.with_name(name)
    trials = planned(experiment.load(file), file)
    left_out = {"silence", *figures.STANDARD}
    assert {str(one.factors["case"]) for one in trials} == set(CASES) - left_out
    for one in (one for one in trials if one.plan.seed == 1):
        other = plan_of(str(one.factors["case"]), "CUBIC").plan
        ours, load, theirs = one.plan, one.plan.workload, other.workload
        assert (ours.topology, ours.queue) == (other.topology, other.queue)
        assert isinstance(load, QuicBulk) and (load.stack, load.congestion) == (stack, "cubic")
        assert isinstance(theirs, Iperf)
        for field in ("duration_s", "measure_from_s", "jitter_us", "late_start_us"):
            assert getattr(load, field) == getattr(theirs, field)


def test_one_seed_has_a_figure_and_no_verdict() -> None:
    metrics = {"efficiency": {1: 0.95}}
    cell = Cell(levels={"case": "one flow", "flavor": "Reno"}, metrics=metrics)
    rows = board.places([cell], ["Reno"])
    assert rows[0][0].text == "0.950" and not board.counts(rows)


CLAIM = next(claim for claim in claims_of(STUDY) if claim.id == "wired-alone")


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.95, 0.96, 0.95], Verdict.HOLDS),
        ([0.80, 0.81, 0.80], Verdict.FAILS),
        ([0.80, 0.99, 0.95], Verdict.UNDECIDED),
    ],
)
def test_a_verdict_needs_an_interval_on_one_side(values: list[float], verdict: Verdict) -> None:
    metrics = {"efficiency": dict(enumerate(values, 1))}
    cell = Cell(levels={"case": "one flow", "flavor": "Reno"}, metrics=metrics)
    reno, bbr = board.places([cell], ["Reno", "BBR"])[0]
    assert reno.claim == CLAIM or reno.claim.id == CLAIM.id
    assert reno.finding.verdict is verdict
    assert reno.text is not None and reno.text.endswith(f", {verdict.value}")
    assert bbr.text is None


def test_a_verdict_can_fall_to_the_adjustment_for_all_tests() -> None:
    """Its p is 0.03, which is enough alone, and too large in a family of 40."""
    close = dict(enumerate([0.95, 0.94, 0.99, 0.91, 0.93], 1))
    sure = dict(enumerate([0.950, 0.951, 0.950, 0.949, 0.950], 1))
    found = [
        Cell(levels={"case": "one flow", "flavor": name}, metrics={"efficiency": values})
        for name, values in {"Reno": close, "CUBIC": sure}.items()
    ]
    rows = board.places(found, ["Reno", "CUBIC", "BBR"])
    tests, left_open = board.not_adjusted(rows)
    assert (tests, left_open) == (2, [])
    tests, left_open = board.not_adjusted(rows * 20)
    assert tests == 40 and {place.flavor for place in left_open} == {"Reno"}


def test_two_senders_are_compared_seed_by_seed() -> None:
    """A sender does not differ from itself, and the order of two gives only the sign."""
    same = board.changes(KEPT, "BBR", "BBR")
    assert {one.p for one in same} == {1.0} and not any(one.differs for one in same)
    there = board.changes(KEPT, "BBR", "BBRv3")
    back = board.changes(KEPT, "BBRv3", "BBR")
    assert [one.p for one in there] == [one.p for one in back]
    assert [one.difference.difference for one in there] == pytest.approx(
        [-one.difference.difference for one in back]
    )


def test_seeds_with_almost_the_same_start_can_count_as_one() -> None:
    values = {1: 0.5, 2: 0.7, 3: 0.8, 4: 0.9, 5: 1.0}
    metrics = {"efficiency": values}
    cells = [
        Cell(levels={"case": name, "flavor": "Reno"}, metrics=metrics)
        for name in ("one flow", "PIE")
    ]
    alike, random = board.merged(cells)
    assert alike.metrics["efficiency"] == pytest.approx({1: 0.5, 5: 1.0, 2: 0.8})
    assert random == cells[1]
    [one] = board.merged([replace(cells[0], metrics={"efficiency": {1: 0.5}})])
    assert one.metrics["efficiency"] == {1: 0.5}


def test_the_cases_whose_seeds_are_alike_have_one_flow_and_no_random_path() -> None:
    for case in CASES:
        plan = plan_of(case).plan
        random = case in ("random loss", "mobile rate") or plan.queue.down.kind == "pie"
        assert (case in ALIKE) == (plan.topology.pairs == 1 and not random)


def test_the_page_has_the_largest_difference_of_reno_and_cubic_in_high_delay() -> None:
    with (KEPT.folder / "cc-board" / "trials.csv").open(encoding="utf-8", newline="") as stream:
        uses = {
            (row["flavor"], row["seed"]): float(row["efficiency"])
            for row in csv.DictReader(stream)
            if row["case"] == "high delay"
        }
    gaps = [abs(uses["Reno", seed] - uses["CUBIC", seed]) for seed in "12345"]
    page = (KEPT.folder.parent / "README.md").read_text(encoding="utf-8")
    assert f"Reno and CUBIC differ by up to {max(gaps):.5f} in a seed" in page
