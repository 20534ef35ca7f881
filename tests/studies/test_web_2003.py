# SPDX-License-Identifier: GPL-2.0-only
"""The web study: its experiment, what it measures of exchanges, its claims and its report."""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.cells import cells_of
from analysis.claims import Claim, Evidence, Method
from analysis.claims.checks import CHECKS as ENGINE
from analysis.errors import RecordError
from analysis.records import read_campaign, read_facts, record_of
from analysis.report import Written, write_report
from analysis.report.results import results_of
from harness.design import experiment
from harness.design.trials import planned
from harness.judge import studies
from harness.judge.judgement import measured
from studies.web_2003.checks import CHECKS
from studies.web_2003.study import (
    AS_IN_NS2,
    LOADS,
    OF_EXCHANGES,
    QUEUES,
    SENDERS,
    STUDY,
    sack_share,
)
from studies.web_2003.times import NEEDED, exchanges_in
from tests.analysis import synthetic
from tests.made_plans import plan_json

FOLDER = studies.folder("web_2003")
MS = 1_000_000
Row = tuple[object, ...]


def test_the_experiment_is_the_slides_matrix() -> None:
    path = FOLDER / "web.toml"
    trials = planned(experiment.load(path), path, seeds=1)
    cells = {tuple(str(trial.factors[factor]) for factor in STUDY.cell) for trial in trials}
    assert cells == set(itertools.product(LOADS, SENDERS, [*QUEUES, *AS_IN_NS2]))
    for trial in trials:
        workload, queue = trial.plan.workload, trial.plan.queue.down
        assert workload.load_percent == float(trial.factors["load"])
        assert workload.exchanges == 250_000
        name, *reading = str(trial.factors["queue"]).split(" as in ")
        assert queue.kind == ("pfifo" if name == "drop-tail" else "red_ns2" if reading else "red")
        assert trial.plan.tcp.flavor.name == str(trial.factors["sender"]).lower()
        marks = name == "ARED+ECN"
        assert trial.plan.tcp.flavor.sysctl["tcp_ecn"] == int(marks)
        assert marks == getattr(queue, "ecn", False)


@pytest.mark.parametrize("name", ["web", "web-today"])
def test_both_ends_serve_with_the_initial_window_that_is_asked_for(name: str) -> None:
    path = FOLDER / f"{name}.toml"
    for trial in planned(experiment.load(path), path, seeds=1):
        today = 2 if trial.factors["sender"] == "CUBIC window 2" else 10
        route = trial.plan.tcp.flavor.route
        segments = today if name == "web-today" else 2
        assert [route[end]["initcwnd"] for end in ("server", "client")] == [segments] * 2


@pytest.mark.parametrize("name", ["web", "web-quick", "web-red", "web-small"])
def test_the_handshake_is_the_first_sample_and_any_ack_ends_the_backoff(name: str) -> None:
    """As in ns-2's FullTcp; FullTcp and 4.4BSD time the SYN."""
    path = FOLDER / f"{name}.toml"
    for trial in planned(experiment.load(path), path, seeds=1):
        parameters = trial.plan.tcp.flavor.parameters
        assert parameters["rto_first_sample"] == 0  # the handshake
        assert parameters["backoff_clear"] == 1  # any ACK of new data
        assert parameters["rto_first_ms"] == 3000


def test_the_quick_one_has_the_slides_loads_and_fewer_pairs() -> None:
    path = FOLDER / "web-quick.toml"
    trials = planned(experiment.load(path), path)
    assert {80, 105} < {trial.factors["load"] for trial in trials}
    assert {trial.plan.workload.exchanges for trial in trials} == {10_000}


def exchange(
    took_ms: float | None, size: int = 1000, resent: int | None = 0, marks: int = 0
) -> Row:
    """A row: begun at 1 ms, its request sent at 3 ms, the first byte half a ms before the last."""
    end = None if took_ms is None else MS + round(took_ms * MS)
    first = None if end is None else end - MS // 2
    return (20 * MS, size, MS, 3 * MS, first, end, resent, marks)


TAILS = dict.fromkeys(("down", "up"), {"kind": "drop-tail", "limit_packets": 120})


def write_trial(
    folder: Path, levels: Mapping[str, Any], seed: int, rows: list[Row], **facts: object
) -> Path:
    name = "-".join(map(str, [*levels.values(), seed]))
    trial = folder / "trials" / name
    trial.mkdir(parents=True)
    with (trial / "exchanges.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(NEEDED)
        table.writerows(rows)
    record = {
        "trial": name, "factors": levels, "seed": seed, "valid": True, "checks": [],
        "plan": {**plan_json({"study": "web_2003"}, workload="packmime"), "queue": TAILS},
        "metrics": {"dropped_share": 0.01},
        "virtual_s": 60.0, "wall_s": 8.0, "cpu_s": 7.5, **facts,
    }  # fmt: skip
    synthetic.write_record(trial, record)
    facts = read_facts(trial)
    judgement = trial / "judgement.json"
    document = json.loads(judgement.read_text())
    document["metrics"] |= measured(record_of(trial, facts), STUDY, [])
    judgement.write_text(json.dumps(document))
    return trial


def metrics_of(tmp_path: Path, rows: list[Row], **facts: object) -> dict[str, Any]:
    levels = {"load": 80, "sender": "SACK", "queue": "ARED"}
    trial = write_trial(tmp_path, levels, 1, rows, **facts)
    found: dict[str, Any] = json.loads((trial / "judgement.json").read_text())["metrics"]
    return found


def test_the_drops_of_the_queue_up_are_measured(tmp_path: Path) -> None:
    """The metric of each trial has the queue down."""
    queue = {"down": {"sent": 60, "drops": 40}, "up": {"sent": 90, "drops": 10}}
    assert metrics_of(tmp_path, [exchange(1)], queue=queue)["dropped_share_up"] == 0.1


def test_a_record_without_counters_has_no_drops(tmp_path: Path) -> None:
    assert metrics_of(tmp_path, [exchange(1)])["dropped_share_up"] is None


def test_what_is_measured_of_a_trial(tmp_path: Path) -> None:
    """Ten of 1 to 10 ms; beside them a large one sent again, a marked one, one that never came."""
    rows = [exchange(ms) for ms in range(1, 11)]
    rows += [exchange(500, size=60_000, resent=2), exchange(20, marks=1), exchange(None)]
    found = metrics_of(tmp_path, rows)
    assert (found["median_ms"], found["p90_ms"]) == (7, 500)
    assert found["p99_ms"] is None  # the one that never came
    assert found["unfinished_share"] == pytest.approx(1 / 13)
    assert found["resent_share"] == found["sack_share"] == pytest.approx(1 / 13)
    assert found["marked_share_of_exchanges"] == pytest.approx(1 / 13)
    assert found["large_median_ms"] == 500
    assert found["small_median_ms"] == 6  # of twelve, the one without an end among them


def test_sack_has_nothing_to_say_of_short_responses(tmp_path: Path) -> None:
    rows = [exchange(9, size=5839, resent=1), exchange(9, size=5840, resent=1), exchange(9)]
    found = metrics_of(tmp_path, rows)
    assert (found["resent_share"], found["sack_share"]) == (2 / 3, 1 / 3)


def test_sack_has_nothing_to_say_of_a_handshake_s_segments(tmp_path: Path) -> None:
    """A SYN/ACK sent again is a retransmit; it is no byte of a response."""
    levels = {"load": 80, "sender": "SACK", "queue": "ARED"}
    trial = write_trial(tmp_path, levels, 1, [exchange(9, size=9000, resent=1)] * 2)
    path = trial / "exchanges.csv"
    head, *rows = path.read_text().split()
    path.write_text("\n".join([f"{head},resent_bytes", f"{rows[0]},0", f"{rows[1]},1460", ""]))
    copy = tmp_path / "copy"
    path.parent.rename(copy)
    found = exchanges_in(copy)
    assert found is not None
    assert (sack_share(found), OF_EXCHANGES["resent_share"](found)) == (0.5, 1.0)
    assert OF_EXCHANGES["resent_bytes_share"](found) == 1460 / 18_000


def begun_later(row: Row, ms: int) -> Row:
    """The same, begun so much later."""
    round_trip, size, *times, resent, marks = row
    later = [time + ms * MS if isinstance(time, int) else None for time in times]
    return (round_trip, size, *later, resent, marks)


def test_the_source_counts_what_had_come_when_the_last_one_began(tmp_path: Path) -> None:
    """At 0, 100 and 200 ms; the first of the three took 50, the second 150 ms; a fourth no end."""
    rows = [exchange(50), begun_later(exchange(150), 100), begun_later(exchange(20), 200)]
    found = metrics_of(tmp_path, [*rows, exchange(None)])
    assert found["source_median_ms"] == found["source_p99_ms"] == 50
    assert found["source_share"] == 0.25
    assert found["median_ms"] == 50 and found["p90_ms"] is None


def test_the_source_counts_none_where_all_begin_at_once(tmp_path: Path) -> None:
    found = metrics_of(tmp_path, [exchange(50), exchange(60)])
    assert (found["source_median_ms"], found["source_share"]) == (None, 0)


def test_no_class_without_exchanges_has_a_quantile(tmp_path: Path) -> None:
    assert metrics_of(tmp_path, [exchange(9)])["large_median_ms"] is None


@pytest.mark.parametrize("damage", ["begun_ns", "1000000", "20000000"])
def test_a_damaged_table_is_told(tmp_path: Path, damage: str) -> None:
    """A column that is missing, a word among numbers, a row cut short."""
    levels = {"load": 80, "sender": "SACK", "queue": "ARED"}
    trial = write_trial(tmp_path, levels, 1, [exchange(9)])
    path, copy = trial / "exchanges.csv", tmp_path / "copy"
    copy.mkdir()
    text = path.read_text()
    cut = text[: text.rindex(",1000000")] + "\n" if damage == "20000000" else ""
    (copy / "exchanges.csv").write_text(cut or text.replace(damage, "x", 1))
    record = record_of(copy, read_facts(trial))
    with pytest.raises(RecordError, match="cannot read the exchanges"):
        STUDY.measured[0].measure(record)


# By how much each queue stretches response times; at 50 % nothing does.
STRETCH = {"drop-tail": 1.5, "ARED": 1.3, "ARED+ECN": 1.1}
MADE = [*STRETCH, *AS_IN_NS2]


def write_campaign(folder: Path, loads: Sequence[int], seeds: Sequence[int]) -> Path:
    """SACK is as Reno; from 80 % on the queues differ, and all but ARED+ECN lose much."""
    folder.mkdir()
    text = f"[factors]\nload = {list(loads)}\n"
    text += f'sender = ["Reno", "SACK"]\nqueue = {json.dumps(MADE)}\n'
    document = {"format": "cellbed-campaign/1", "name": "made", "title": "made", "text": text}
    (folder / "campaign.json").write_text(json.dumps(document))
    for load, sender, queue, seed in itertools.product(loads, SENDERS, MADE, seeds):
        rule = queue.removesuffix(" as in ns-2")
        stretch = 1 if load < 80 else STRETCH[rule]
        lost = rule != "ARED+ECN" and load >= 80
        draws = random.Random(seed)
        rows = [
            exchange(
                ms ** (1 if queue == "drop-tail" or load < 80 else 1.1) * stretch,
                size=70_000 if place % 50 == 0 else 800,
                resent=int(place % 20 == 0) if lost else int(place % 200 == 0),
            )
            for place in range(400)
            if (ms := draws.lognormvariate(math.log(100), 1))
        ]
        write_trial(folder, {"load": load, "sender": sender, "queue": queue}, seed, rows)
    return folder


def table(written: Written, name: str) -> list[dict[str, str]]:
    with (written.tables / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_claims_are_judged(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "made", (50, 70, 80, 90, 95, 98, 105), (1, 2, 3))
    results = results_of(read_campaign(folder), STUDY, CHECKS)
    [findings] = results.findings.values()
    found = {claim.id: finding.verdict.value for claim, finding in findings}
    assert found["sack-median"] == found["sack-p90"] == "holds"
    assert found["sack-large"] == found["sack-large-below"] == "does not hold"
    assert found["sack-not-enough-flows"] == "holds"
    assert found["red-none-below-80-median"] == found["red-none-below-80-p90"] == "holds"
    assert found["ecn-better-median"] == found["ecn-drops-cause-retransmissions"] == "holds"
    assert found["ecn-half-the-retransmissions"] == "holds"  # a tenth of them
    assert found["red-tradeoff-105"] == "does not hold"  # worse in all quantiles
    assert set(found.values()) <= {"holds", "does not hold", "undecided"}


def of_seeds(folder: Path, queue: str, times_ms: Sequence[float | None]) -> None:
    """A trial a seed, each of ten exchanges alike, which may not end."""
    levels = {"load": 80, "sender": "SACK", "queue": queue}
    for seed, ms in enumerate(times_ms, start=1):
        write_trial(folder, levels, seed, [exchange(ms)] * 10)


@pytest.mark.parametrize(
    ("ared", "tail", "verdict", "text"),
    [
        # Logarithms of 0.80, 0.82, 0.81: mean -0.210772, s 0.012346, t[0.975; 2] 4.302653, so
        # the mean ratio is 0.810 and its interval goes from 0.785 to 0.835.
        ([8.0, 16.4, 24.3], [10.0, 20.0, 30.0], "holds", "-19.0 % (-21.5 % to -16.5 %) (paired"),
        # 0.9, 1.1, 0.85: mean -0.057523, s 0.135408.
        ([9.0, 22.0, 25.5], [10.0, 20.0, 30.0], "undecided", "-5.6 % (-32.6 % to +32.2 %)"),
        ([9.0, None, 9.0], [10.0] * 3, "undecided", "ARED has no median_ms in seed 2"),
        ([9.0] * 3, [10.0, None, 10.0], "undecided", "drop-tail has no median_ms in seed 2"),
        ([9.0, None, 9.0], [10.0, None, 10.0], "holds", "-10.0 % (-10.0 % to -10.0 %) (paired"),
    ],
)
def test_ratios_are_of_each_seed_and_no_seed_is_left_out_in_silence(
    tmp_path: Path,
    ared: Sequence[float | None],
    tail: Sequence[float | None],
    verdict: str,
    text: str,
) -> None:
    folder = write_campaign(tmp_path / "made", (), ())
    of_seeds(folder, "ARED", ared)
    of_seeds(folder, "drop-tail", tail)
    evidence = Evidence(cells_of(read_campaign(folder).trials), STUDY, Method.SEEDS)
    both = {"of": {"queue": ["ARED"]}, "minus": {"queue": ["drop-tail"]}}
    for check, more in (
        ("difference", {"response": "median_ms", "relative": True, "at_most": -0.01}),
        ("crosses", {"responses": ["median_ms", "p90_ms"]}),
    ):
        parameters = {"where": {"load": [80]}, **both, **more}
        found = Claim(
            id="a",
            sentence="s",
            source="1",
            check=check,
            parameters=parameters,
            rule={**ENGINE, **CHECKS}[check],
        ).on(evidence)
        assert text in found.evidence
        # It is only shorter, and crosses nothing.
        of_crossing = "undecided" if verdict == "undecided" else "does not hold"
        assert found.verdict.value == (verdict if check == "difference" else of_crossing)


@pytest.mark.parametrize(
    ("ared", "verdict"),
    [
        # The 10th percentile is shorter, the median is longer; nine of ten come with drop tail.
        ([*[5.0] * 4, *[20.0] * 6], "holds"),
        # All are longer but the 99th percentile, which is infinite with drop tail.
        ([20.0] * 10, "undecided"),
    ],
)
def test_an_infinite_quantile_is_named_and_hides_no_other(
    tmp_path: Path, ared: Sequence[float], verdict: str
) -> None:
    folder = write_campaign(tmp_path / "made", (), ())
    for queue, times in (("ARED", ared), ("drop-tail", [*[10.0] * 9, None])):
        levels = {"load": 80, "sender": "SACK", "queue": queue}
        for seed in (1, 2):
            write_trial(folder, levels, seed, [exchange(ms) for ms in times])
    evidence = Evidence(cells_of(read_campaign(folder).trials), STUDY, Method.SEEDS)
    names = ["p10_ms", "median_ms", "p99_ms"]
    found = CHECKS["crosses"](
        evidence, where={"load": ["80"]}, responses=names,
        of={"queue": ["ARED"]}, minus={"queue": ["drop-tail"]},
    )  # fmt: skip
    assert found.verdict.value == verdict
    assert found.evidence.endswith("infinite in a trial: p99_ms")


def test_the_report_has_the_slides_comparisons(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "made", (80, 105), (1,))
    written = write_report(read_campaign(folder), STUDY)
    assert "As the slides have them" in written.html.read_text()
    for load, slide in itertools.product((80, 105), (7, 8, 9, 10)):
        assert (written.figures / f"slide-{slide}-{load}.svg").exists()
    rows = table(written, "by-size-80")
    reno, sack = (
        next(row for row in rows if (row["sender"], row["queue"]) == (sender, "drop-tail"))
        for sender in SENDERS
    )
    assert float(reno["above 50 kB, 50 %"]) == float(sack["above 50 kB, 50 %"]) > 0
    assert sack["to 10 kB, 50 %"] == ""
    assert not list(written.tables.glob("to-run*"))  # the slides' own queues
    shares = table(written, "shares")
    assert {row["load"] for row in shares} == {"80", "105"}


def test_queues_of_today_are_in_the_order_of_their_90th_percentiles(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "made", (80,), (1,))
    document = json.loads((folder / "campaign.json").read_text())
    text = document["text"].replace('"ARED+ECN as in ns-2"]', '"ARED+ECN as in ns-2", "FQ-CoDel"]')
    (folder / "campaign.json").write_text(json.dumps(document | {"text": text}))
    levels = {"load": 80, "sender": "SACK", "queue": "FQ-CoDel"}
    write_trial(folder, levels, 1, [exchange(9), exchange(11)])
    rows = table(write_report(read_campaign(folder), STUDY), "to-run-80")
    assert [rows[0]["queue"], float(rows[0]["p90_ms"])] == ["FQ-CoDel", 11]
    found = [float(row["p90_ms"]) for row in rows]
    assert found == sorted(found)
    assert len(found) == 11
