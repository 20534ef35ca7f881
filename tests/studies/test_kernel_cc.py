# SPDX-License-Identifier: GPL-2.0-only
"""The suite for kernels: its matrix, what it measures of a trial, what it says has changed."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis import kept_trials
from analysis.kept import Kept
from analysis.records import Record, read_campaign, read_facts, record_of
from analysis.report.keep import keep
from analysis.report.model import Sheet
from analysis.report.results import results_of
from harness.api import verify
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.judge import studies
from harness.records.seal import seal
from plan.atm import CELL_BYTES
from plan.facts import TrialFacts, read
from studies.kernel_cc import (
    abstract,
    days,
    fast,
    findings,
    mixed,
    others,
    reading,
    threshold,
    window,
)
from studies.kernel_cc.changes import RESPONSES, changes, mean_change
from studies.kernel_cc.pages import of_seeds
from studies.kernel_cc.study import (
    STUDY,
    convergence_s,
    efficiency,
    fairness,
    first_threshold_segments,
    late_share,
    queue_delay_ms,
    second_reduction_s,
    segments_per_ack,
    segments_per_packet,
)
from tests.analysis import synthetic
from tests.made_plans import plan_json
from workload.iperf.iperf3 import starts_ns

FILE = studies.folder("kernel_cc") / "kernel-cc.toml"
S = 1_000_000_000
PLAN = plan_json(
    {
        "study": "kernel_cc",
        "topology": {"pairs": 2, "mss_bytes": 1460, "rate_bit_per_s": 32 * CELL_BYTES * 8 * 1000},
        "workload": {"measure_from_s": 5, "duration_s": 10},
    },
    workload="iperf",
)
LEVELS = {"rate": 5, "rtt": 40, "queue": "EPD", "flows": 1, "flavor": "bbr"}


@pytest.fixture(scope="module")
def trials() -> list[PlannedTrial]:
    return planned(experiment.load(FILE), FILE)


def test_the_matrix_is_that_of_the_study(trials: list[PlannedTrial]) -> None:
    found = [trial.factors for trial in trials]
    for factor, levels in STUDY.cell.items():
        assert {str(levels_of[factor]) for levels_of in found} == set(levels)
    on = [(levels["kernel"], levels["queue"] == "EPD") for levels in found]
    assert (on.count(("6.1", False)), on.count(("6.1", True))) == (72, 0)
    assert on.count(("6.12", True)) == on.count(("7.3", True)) == 24
    assert len(found) == 72 + 96 + 96


def test_buffers_are_products_of_rate_and_round_trip_and_no_window_binds(
    trials: list[PlannedTrial],
) -> None:
    for trial in trials:
        levels, queue = trial.factors, trial.plan.queue.down
        product_bytes = float(levels["rate"]) * 1e6 * float(levels["rtt"]) / 1e3 / 8
        if levels["queue"] == "EPD":
            assert queue.buffer_cells == pytest.approx(product_bytes / CELL_BYTES, abs=1)
        elif levels["queue"] != "fq-codel":
            products = int(str(levels["queue"])[-1])
            packets = product_bytes / (32 * CELL_BYTES)
            assert products * (packets - 1) <= queue.limit_packets <= products * packets
        share = 5 * product_bytes / trial.plan.topology.pairs
        assert trial.plan.tcp.window_bytes > 1.5 * share


def test_of_two_flavors_the_second_comes_when_the_measuring_begins() -> None:
    path = FILE.with_name("kernel-shared.toml")
    found = planned(experiment.load(path), path)
    assert len(found) == 36
    for one in found:
        names = str(one.factors["flavor"]).split("+")
        assert [flavor.congestion for flavor in one.plan.tcp.flavors] == names
        load, pairs = one.plan.workload, one.plan.topology.pairs
        assert pairs == one.factors["flows"]
        starts = [start / S for start in starts_ns(load, one.plan.seed, pairs)]
        assert max(starts[::2]) < 0.1 and 4.9 <= min(starts[1::2]) <= max(starts[1::2]) < 5
        assert load.measure_from_s == 5 and load.duration_s == 25


def test_two_of_three_losses_are_the_same_share() -> None:
    path = FILE.with_name("kernel-losses.toml")
    found = planned(experiment.load(path), path)
    losses = {one.factors["loss"]: one.plan.topology.loss for one in found}
    assert len(found) == 18
    shares = {name: (loss.share, loss.burst_packets) for name, loss in losses.items() if loss}
    assert shares == {"1 in 1000": (0.001, None), "1 in 100": (0.01, None), "bursts": (0.01, 5)}


def write_trial(
    folder: Path, kernel: str, tables: dict[str, Sequence[Sequence[Any]]], seed: int = 1
) -> Path:
    trial = folder / "trials" / f"{kernel}-s{seed}"
    trial.mkdir(parents=True)
    for name, rows in tables.items():
        with (trial / f"{name}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows(rows)
    record = {
        "trial": trial.name, "factors": {"kernel": kernel, **LEVELS}, "seed": seed, "valid": True,
        "checks": [], "plan": PLAN, "metrics": {"efficiency": len(tables["cwnd"]) / 10},
        "virtual_s": 10.0, "wall_s": 1.0, "cpu_s": 1.0,
    }  # fmt: skip
    synthetic.write_record(trial, record)
    return trial


def record(folder: Path, name: str, rows: Sequence[Sequence[Any]]) -> Record:
    trial = write_trial(folder, "6.12", {"cwnd": [], name: rows})
    return record_of(trial, read_facts(trial))


def test_the_queue_s_delay_is_that_of_what_waits(tmp_path: Path) -> None:
    """Packets of 32 cells over a link of 32,000 cells a second: 1 ms each."""
    head = ("time_ns", "port", "backlog_packets")
    rows = [(4 * S, "down", 99), (5 * S, "down", 1), (6 * S, "up", 99), (9 * S, "down", 4)]
    found = record(tmp_path, "queue", [head, *rows, (10 * S, "down", 99)])
    assert queue_delay_ms(found) == pytest.approx(2.5)


def test_the_late_share_is_that_of_the_second_flavor(tmp_path: Path) -> None:
    head = ("pair", "received_bytes", "flavor")
    rows = [(1, 30, "cubic-rack"), (2, 5, "bbr"), (3, 10, "cubic-rack"), (4, 5, "bbr")]
    assert late_share(record(tmp_path / "two", "flows", [head, *rows])) == pytest.approx(0.2)
    alone = [(pair, received) for pair, received, _ in rows]
    assert late_share(record(tmp_path / "one", "flows", [head[:2], *alone])) is None


def test_what_was_held_before_the_interval_is_not_counted_in_it(tmp_path: Path) -> None:
    """A link of 32,000 cells a second carries 1,000 segments in it; of these 900 came."""
    rows = [("pair", "received_bytes"), (1, 1_200 * 1460), (2, 300 * 1460)]
    old = record(tmp_path / "old", "flows", rows)
    source = {"measured_s": 1.0, "delivered_bytes": [500 * 1460, 400 * 1460]}
    now = replace(old, facts=read(TrialFacts, {"source": source}))
    assert efficiency(now) == pytest.approx(0.9)
    assert fairness(now) == pytest.approx(900**2 / (2 * (500**2 + 400**2)))
    before = replace(old, facts=read(TrialFacts, {"source": {"measured_s": 1.0}}))
    assert efficiency(before) == pytest.approx(1.5)  # all that there is of it


@pytest.mark.parametrize(
    ("second_flow", "converged"),
    [
        ([9, 9, 9, 9, 9], 0),
        ([9, 1, 1, 9, 9], 3),
        ([9, 9, 9, 9, 1], None),
    ],
)
def test_flows_have_converged_when_their_windows_stay_alike(
    tmp_path: Path, second_flow: Sequence[int], converged: float | None
) -> None:
    rows = [
        (second * S, pair, window)
        for second, other in enumerate(second_flow, start=5)
        for pair, window in ((1, 9), (2, other))
    ]
    found = record(tmp_path, "cwnd", [("time_ns", "pair", "cwnd_segments"), (S, 1, 9), *rows])
    assert convergence_s(found) == converged


HEAD = ("time_ns", "pair", "cwnd_segments")


def changed_rows(folder: Path) -> list[list[Any]]:
    """What the report says of the trials that were written into a folder."""
    document = {"format": "cellbed-campaign/1", "name": "made", "title": "made", "text": ""}
    text = "[factors]\n" + 'kernel = ["6.1", "6.12", "7.3"]\n'
    (folder / "campaign.json").write_text(json.dumps(document | {"text": text}))
    section = changes(results_of(read_campaign(folder), STUDY, {}))
    assert section is not None
    [sheet] = section.parts
    assert isinstance(sheet, Sheet)
    return [[*row[len(LEVELS) : len(LEVELS) + 5]] for row in sheet.rows]


def test_what_is_the_same_on_two_kernels_and_what_is_not(tmp_path: Path) -> None:
    for kernel, rows in (("6.1", [HEAD]), ("6.12", [HEAD]), ("7.3", [HEAD, (5 * S, 1, 9)])):
        write_trial(tmp_path, kernel, {"cwnd": rows})
    assert changed_rows(tmp_path) == [
        ["6.1", "6.12", 1, "yes", 0],
        ["6.12", "7.3", 1, "no", pytest.approx(0.1)],
    ]


def test_a_kept_seed_stays_in_the_table_when_another_is_kept(tmp_path: Path) -> None:
    """Its records are gone, so what changed in it cannot be found again."""
    for seed, same in ((1, [HEAD]), (2, [HEAD, (5 * S, 1, 9)])):
        folder = tmp_path / f"seed-{seed}"
        for kernel, rows in (("6.1", [HEAD]), ("6.12", same), ("7.3", same)):
            seal(write_trial(folder, kernel, {"cwnd": rows}, seed))
        changed_rows(folder)
        kept = keep(read_campaign(folder), STUDY, tmp_path / "study", "0123456789ab")
    with (kept / "changes.csv").open(newline="") as stream:
        found = [(row["from"], row["seed"], row["same"]) for row in csv.DictReader(stream)]
    assert found == [
        ("6.1", "1", "yes"),
        ("6.12", "1", "yes"),
        ("6.1", "2", "no"),
        ("6.12", "2", "yes"),
    ]


def test_two_kernels_are_compared_where_they_have_the_same_seed(tmp_path: Path) -> None:
    """A trial may be missing on one of them, as one that was not valid is."""
    one, two = [HEAD], [HEAD, (5 * S, 1, 9)]
    for kernel, seed, rows in (
        ("6.1", 1, one), ("6.1", 2, two),
        ("6.12", 2, two), ("6.12", 3, one),
        ("7.3", 1, one),
    ):  # fmt: skip
        write_trial(tmp_path, kernel, {"cwnd": rows}, seed)
    assert changed_rows(tmp_path) == [["6.1", "6.12", 2, "yes", 0]]


def change_row(seed: int, flows: int, efficiency: object) -> dict[str, str]:
    path = {"rate": "5", "rtt": "40", "queue": "EPD", "flows": str(flows)}
    return {**path, "seed": str(seed), "efficiency": str(efficiency)}


def test_a_mean_change_is_one_observation_a_seed_over_the_paths_that_all_seeds_have() -> None:
    both = [change_row(1, 1, 0.1), change_row(1, 6, 0.3), change_row(2, 1, 0.2)]
    alone = mean_change([*both, change_row(2, 6, "")], "efficiency")
    assert alone is not None and alone.n == 2 and alone.mean == pytest.approx(0.15)
    whole = mean_change([*both, change_row(2, 6, 0.6)], "efficiency")
    assert whole is not None and whole.mean == pytest.approx((0.2 + 0.4) / 2)
    assert mean_change([change_row(1, 1, 0.1), change_row(2, 6, 0.3)], "efficiency") is None


def kept_changes(folder: Path, changed: dict[str, Sequence[Sequence[float]]]) -> Kept:
    """Changes of bbr from 6.12 to 7.3: of a figure, those of each path, a value a seed."""
    head = ["rate", "rtt", "queue", "flows", "flavor", "from", "to", "seed", "same", *RESPONSES]
    seeds = len(next(iter(changed.values()))[0])
    rows = [
        ["5", "40", queue, "6", "bbr", "6.12", "7.3", seed + 1, "no"]
        + [changed[name][path][seed] if name in changed else 0.0 for name in RESPONSES]
        for path, queue in enumerate(("EPD", "fq-codel"))
        for seed in range(seeds)
    ]
    (folder / "kernel-cc").mkdir()
    with (folder / "kernel-cc" / "changes.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])
    return Kept(folder)


SURE, UNSURE = [30.0, 30.1, 29.9], [500.0, -300.0, 10.0]


def test_each_figure_has_its_places_that_surely_changed(tmp_path: Path) -> None:
    kept = kept_changes(tmp_path, {"fairness": [UNSURE, SURE], "retransmits": [SURE, UNSURE]})
    assert [(row[4], row[6]) for row in findings.places(kept).rows] == [
        ("fq-codel", "fairness"),
        ("EPD", "sent again"),
    ]
    numbers = findings.of_places(kept)
    assert (numbers["fairness_places"], numbers["fairness_sure"]) == (2, 1)
    assert numbers["efficiency_places"] == 0


def test_a_change_that_is_the_same_with_each_seed_is_named_without_a_test(tmp_path: Path) -> None:
    kept = kept_changes(tmp_path, {"retransmits": [[-2.0] * 3, [0.0] * 3]})
    [row] = findings.places(kept).rows
    assert (row[4], row[6], row[7]) == ("EPD", "sent again", "−2 (all 3 seeds)")
    numbers = findings.constant_again(kept)
    assert (numbers["without"], numbers["unchanged"], numbers["others"]) == (2, 1, 1)
    assert str(numbers["which"]).startswith(" It is −2 (bbr from 6.12 to 7.3")
    assert findings.constant({("one seed",): [-2.0]}) == {}


@pytest.mark.parametrize(("values", "said"), [(SURE, "it is sure"), (UNSURE, "it is not sure")])
def test_a_change_is_told_with_its_verdict(
    tmp_path: Path, values: Sequence[float], said: str
) -> None:
    kept = kept_changes(tmp_path, {"retransmits": [values, values]})
    numbers = findings.bbr_again(kept)
    assert (numbers["verdict"], numbers["seeds"]) == (said, 3)


@pytest.mark.parametrize(
    ("values", "fewer"), [(SURE, 0), ([-x for x in SURE], 1), ([-x for x in UNSURE], 0)]
)
def test_fewer_segments_sent_again_are_told_only_if_it_is_sure(
    tmp_path: Path, values: Sequence[float], fewer: int
) -> None:
    kept = kept_changes(tmp_path, {"retransmits": [values, values]})
    place = ("6.12", "7.3", "bbr", RESPONSES["retransmits"])
    assert abstract.again(kept, place)["again_fewer"] == fewer
    assert abstract.again(kept, ("6.1", *place[1:]))["again"] is None


def test_the_largest_change_of_a_delay_may_not_be_the_largest_sure_change(tmp_path: Path) -> None:
    numbers = findings.delays(kept_changes(tmp_path, {"queue_delay_ms": [SURE, UNSURE]}))
    assert numbers["is_sure"] == 0
    assert "fq-codel" in str(numbers["largest"]) and "EPD" in str(numbers["largest_sure"])


def test_the_largest_change_of_a_delay_may_be_sure(tmp_path: Path) -> None:
    numbers = findings.delays(kept_changes(tmp_path, {"queue_delay_ms": [[0.0] * 3, SURE]}))
    assert numbers["is_sure"] == 1 and numbers["largest"] == numbers["largest_sure"]


def test_no_change_of_a_delay_may_be_sure(tmp_path: Path) -> None:
    numbers = findings.delays(kept_changes(tmp_path, {"queue_delay_ms": [UNSURE, UNSURE]}))
    assert numbers["largest_sure"] == "none"


@pytest.mark.parametrize("name", ["kernel-losses", "kernel-shared"])
def test_a_kept_trial_of_a_kernel_is_found_again_in_its_experiment(name: str) -> None:
    """These experiments name no kernel: the kept lines have the names that --kernel had."""
    file = FILE.with_name(f"{name}.toml")
    lines = kept_trials.read(FILE.parent / "results" / name / kept_trials.FILE)
    design = replace(experiment.load(file), seeds=max(line.seed for line in lines))
    names = verify.kernels(design.factors, lines)
    assert list(names) == ["6.1", "6.12", "7.3"]
    assert verify.kernels({"kernel": names}, lines) == ()
    found = planned(experiment.with_kernels(design, file, names), file)
    keys = {(frozenset((k, str(v)) for k, v in x.factors.items()), x.plan.seed) for x in found}
    assert {line.key for line in lines} <= keys


def test_at_1_gbit_per_s_the_queue_is_one_product_and_the_hosts_offload() -> None:
    path = FILE.with_name("kernel-fast.toml")
    found = planned(experiment.load(path), path)
    assert len(found) == 6
    for one in found:
        topology, queue = one.plan.topology, one.plan.queue.down
        product_bytes = topology.rate_bit_per_s / 8 * float(one.factors["rtt"]) / 1e3
        assert topology.rate_bit_per_s == one.factors["rate"] * 1_000_000 == 10**9
        assert queue.limit_packets == int(product_bytes / (32 * CELL_BYTES))
        assert topology.coalesce_ns == 50_000 and topology.access_rate_bit_per_s == 10**10
        assert one.plan.tcp.window_bytes > 5 * product_bytes


def test_packets_and_acks_are_counted_in_segments(tmp_path: Path) -> None:
    """The middle link's ports are not hosts; without offload there is nothing to say."""
    trial = record(tmp_path, "cwnd", [HEAD])
    assert segments_per_packet(trial) is None and segments_per_ack(trial) is None
    offload = {"sw2-s1": [10, 300], "sw2-s2": [10, 100], "sw1-c1": [90, 90], "sw2-sat": [1, 9]}
    links = {"sw1-c1": [90, 280, 0], "sw1-c2": [10, 120, 0], "sw1-sat": [400, 7, 0]}
    now = replace(trial, facts=read(TrialFacts, {"offload": offload, "links": links}))
    assert segments_per_packet(now) == 20 and segments_per_ack(now) == 4


def test_at_1_gbit_per_s_one_seed_tests_nothing() -> None:
    assert fast.verdict(1, 0, 0).startswith("With one seed, no change can be tested.")
    assert "4 changes can be tested" in fast.verdict(3, 4, 1)
    assert "1 of them surely" in fast.verdict(3, 4, 1)


def test_the_largest_change_at_1_gbit_per_s_is_named() -> None:
    places: fast.Changes = {
        ("6.1", "6.12", "reno", "1"): [3.0, 1.0],
        ("6.12", "7.3", "bbr", "4"): [-9.0, -3.0],
    }
    assert fast.largest(places, "+.1f") == "−6.0 (bbr from 6.12 to 7.3, 4 flows)"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({1: ["2026-11-23"]}, "Seed 1 ran on 23 November 2026"),
        (
            {1: ["2026-11-23"], 2: ["2026-11-23"], 3: ["2026-11-23"], 4: ["2026-11-25"]},
            "The seeds 1 to 3 ran on 23 November 2026. Seed 4 ran on 25 November 2026",
        ),
        ({1: ["2026-11-23"], 3: ["2026-11-23"]}, "The seeds 1 and 3 ran on 23 November 2026"),
        (
            {1: ["2026-11-29"], 2: ["2026-11-29", "2026-11-30"], 3: ["2026-11-30", "2026-12-01"]},
            "Seed 1 ran on 29 November 2026. Seed 2 ran on 29 and 30 November 2026. Seed 3 ran on"
            " 30 November 2026 and 1 December 2026",
        ),
    ],
)
def test_the_days_of_the_seeds_in_words(found: dict[int, list[str]], words: str) -> None:
    assert days.in_words(found) == words


def test_the_days_and_releases_are_those_of_the_kept_trials(tmp_path: Path) -> None:
    (tmp_path / "kernel-cc").mkdir()
    lines = "seed,ended\n2,2026-11-24T00:01:00+00:00\n2,2026-11-23T23:59:00+00:00\n"
    (tmp_path / "kernel-cc" / "trials.csv").write_text(lines)
    versions = [{"kernel": f"6.{one}"} for one in ("12.118", "1.192", "12.20", "12.118")]
    manifest = {"format": "cellbed-kept/1", "versions": versions}
    (tmp_path / "kernel-cc" / "manifest.json").write_text(json.dumps(manifest))
    kept = Kept(tmp_path)
    assert days.days_of(kept, "kernel-cc") == {2: ["2026-11-23", "2026-11-24"]}
    assert days.releases_of(kept, "6.12") == ["6.12.20", "6.12.118"]


@pytest.mark.parametrize(
    ("own", "known", "shown"),
    [(5, 5, 7.4), (5, 2, "7 (2 of 5)"), (3, 3, "7 (n = 3)"), (3, 1, "7 (1 of 3)")],
)
def test_a_mean_over_some_of_the_trials_is_marked(own: int, known: int, shown: object) -> None:
    cell = {"seeds": str(own), "convergence_s": "7.4"}
    assert of_seeds(cell, "convergence_s", ".0f", (known, 5)) == shown


def falls(*values: int) -> list[tuple[int, ...]]:
    """Samples of one flow's slow start threshold, 0.1 s apart."""
    return [(i * S // 10, 1, 10, value) for i, value in enumerate(values)]


def test_the_falls_of_the_threshold_are_found(tmp_path: Path) -> None:
    """A new connection's threshold is larger: no fall."""
    head = ("time_ns", "pair", "cwnd_segments", "ssthresh_segments")
    rows = falls(2147483647, 2147483647, 1178, 1178, 1178, 589, 2147483647)
    trial = record(tmp_path / "one", "cwnd", [head, *rows])
    one = replace(trial, plan=replace(trial.plan, topology=replace(trial.plan.topology, pairs=1)))
    assert first_threshold_segments(one) == 1178
    assert second_reduction_s(one) == pytest.approx(0.3)
    still = record(tmp_path / "two", "cwnd", [head, *falls(9, 9, 10)])
    same = replace(still, plan=one.plan)
    assert first_threshold_segments(same) is None and second_reduction_s(same) is None


def kept_ends(folder: Path, delays: Mapping[str, float]) -> Kept:
    """Two seeds of each flavor and pair of ends; reno's delays as given, others' all 5 ms."""
    head = (
        "ends,flavor,seed,trial,plan,digest,virtual_s,wall_s,ended,"
        "queue_delay_ms,retransmits,first_threshold_segments,second_reduction_s"
    )
    lines = [
        f"{ends},{flavor},{seed},t,p,d,1,1,2026-11-26,"
        f"{(delays[ends] if flavor == 'reno' else 5) + seed / 100},1,"
        f"{1178 if ends == mixed.CONTROL else 1177},{seed}"
        for flavor in mixed.FLAVORS
        for ends in mixed.ENDS
        for seed in (1, 2)
    ]
    (folder / mixed.MIXED).mkdir(parents=True)
    (folder / mixed.MIXED / "trials.csv").write_text("\n".join([head, *lines, ""]))
    about = {"format": "cellbed-kept/1", "trials": len(lines), "left_out": 0}
    (folder / mixed.MIXED / "manifest.json").write_text(json.dumps(about))
    return Kept(folder)


def test_a_change_that_needs_both_ends_is_told_from_one_that_needs_one(tmp_path: Path) -> None:
    low, high = 300.0, 340.0
    both = dict.fromkeys(mixed.ENDS, high) | {"6.12": low, mixed.CONTROL: low}
    found = mixed.mixed(kept_ends(tmp_path / "both", both))
    assert found["need_both"] == 1 and found["receivers"] == "+40.00 ± 0.00"
    assert found["first_new"] == "1178" and found["first_old"] == "1177" and found["later"] == "0.0"
    single = {"6.12": low + 1}
    lab = mixed.one_lab(kept_ends(tmp_path / "lab", both | single))
    assert lab["one_lab_flavor"] == "reno" and lab["one_lab"] == "+1.00 ± 0.00"
    assert lab["single_ms"] == pytest.approx(1)
    receivers = both | {"6.1 to 6.12": low}
    assert mixed.mixed(kept_ends(tmp_path / "one", receivers))["need_both"] == 0


@pytest.mark.parametrize(("values", "said"), [(SURE, "it is sure"), (UNSURE, "it is not sure")])
def test_a_change_with_losses_is_told_with_its_verdict(
    tmp_path: Path, values: Sequence[float], said: str
) -> None:
    """A value a seed: the change from 6.1 to 6.12, of one flavor and path."""
    head = ["rtt", "loss", "flavor", "from", "to", "seed", "efficiency"]
    rows = [["40", "bursts", "bbr", "6.1", "6.12", seed, x] for seed, x in enumerate(values, 1)]
    folder = tmp_path / others.LOSSES
    folder.mkdir()
    with (folder / "changes.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])
    (folder / "cells.csv").write_text("kernel,seeds\n6.1,3\n6.12,3\n")
    numbers = others.losses_changes(Kept(tmp_path))
    assert (numbers["tests"], numbers["verdict"], numbers["seeds"]) == (1, said, "3 seeds")
    assert "bbr from 6.1 to 6.12, 40 ms, bursts" in str(numbers["largest"])


def test_a_pair_with_patches_is_held_against_the_same_place_and_seed(tmp_path: Path) -> None:
    """Seed 2 and the later kernels have no pair with patches."""
    head = ["rate", "rtt", "queue", "flows", "flavor", "from", "to", "seed", window.SENT_AGAIN]
    made = {
        "kernel-cc": [("6.1", "6.12", 1, -8), ("6.1", "6.12", 2, 5), ("6.12", "7.3", 1, 4)],
        window.WINDOW: [("6.1 with a patch", "6.12 with a patch", 1, 0)],
    }
    for name, rows in made.items():
        (tmp_path / name).mkdir()
        with (tmp_path / name / "changes.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows(
                [head, *(["5", "40", "EPD", "1", "reno", *row] for row in rows)]
            )
    both = window.pairs(Kept(tmp_path))["reno"]
    assert len(both) == 1
    assert window.unchanged(both, window.SENT_AGAIN) == (0, 1)
    assert window.sizes(both, window.SENT_AGAIN) == (8, 0)
    assert window.differing([row for _, row in both], window.SENT_AGAIN) == 0
    assert window.most([row for row, _ in both], window.SENT_AGAIN) == 8


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([1, 1], "one seed"),
        ([3, 3], "3 seeds"),
        ([10, 6, 10], "10 seeds (1 cell has only 6)"),
        ([9, 6, 10, 9], "10 seeds (1 cell has only 6, 2 cells have only 9)"),
    ],
)
def test_cells_with_fewer_seeds_are_told(counts: Sequence[int], words: str) -> None:
    assert others.seeds_in_words(counts) == words


def test_the_time_of_a_reading_is_found_from_the_whole_bytes() -> None:
    """34,807,061 bytes came until 20.003 s."""
    capacity = 17216981.13207547
    assert reading.fitting_ms(34_807_061 * 8 / 20.003 / capacity, capacity) == {3}
    assert reading.fitting_ms(34_807_061.5 * 8 / 20.003 / capacity, capacity) == set()


def test_the_kept_trials_of_the_patched_kernels_stand_beside_the_others() -> None:
    kept = Kept(FILE.parent / "results")
    rows = threshold.table(kept).rows
    assert [row[0] for row in rows] == list(threshold.ROWS)
    assert all(value is not None for row in rows for value in row)
