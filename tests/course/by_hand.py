# SPDX-License-Identifier: GPL-2.0-only
"""Records of a lab made by hand, no lab run: every trial has other figures, all known at once.

In place of what a run costs, a few rows of each table, and a judgement that finds all well; what
reads them is the course's own.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from analysis.headers import RunHeader, TrialHeader
from analysis.metrics import jain_index
from analysis.records import Record, Trial, read_facts, record_of
from harness.course import handout
from harness.course import lab as labs
from harness.design.experiment import Design
from harness.design.trials import PlannedTrial, planned
from harness.exact_loss.host import Outcome, Sending
from harness.flavors.check import RULES, Case, Scenario, Verdict
from harness.flavors.files import load
from harness.records.seal import seal
from plan.plan import to_json
from tests.course.handing_in import solution

CAUSES = ("lost_mid", "refused_threshold", "refused_fairness")
SECOND_NS = 1_000_000_000


def write_records(name: str, folder: Path, student: str) -> list[Path]:
    """The records of a lab's campaign in a folder, as a student's."""
    experiment = handout.experiment_of(name, labs.load(name), student)
    trials = planned(experiment, folder / handout.MINE)
    campaign = folder / handout.CAMPAIGN
    campaign.mkdir()
    header = {"format": "cellbed-campaign/1", "name": name}
    (campaign / "campaign.json").write_text(json.dumps(header))
    return [record(campaign, trial, place) for place, trial in enumerate(trials, 1)]


def record(campaign: Path, trial: PlannedTrial, place: int) -> Path:
    """A record, its figures by its place in the campaign."""
    folder = campaign / "trials" / trial.name
    folder.mkdir(parents=True)
    facts = TrialHeader(
        trial=trial.name, seed=trial.plan.seed, factors=dict(trial.factors), software={},
        plan=to_json(trial.plan),
    )  # fmt: skip
    run = RunHeader(ended="", wall_s=1, cpu_s=1, lab={"virtual_s": 1})
    (folder / "trial.json").write_text(json.dumps(vars(facts), separators=(",", ":")))
    (folder / "run.json").write_text(json.dumps(vars(run), separators=(",", ":")))
    (folder / "lab.json").write_text("{}")
    flows = flows_of(trial.plan.topology.pairs, place)
    for table, rows in {
        "flows": flows, "drops": drops(place), "cwnd": windows(place),
        "exchanges": exchanges(place),
    }.items():  # fmt: skip
        write_table(folder / f"{table}.csv", rows)
    seal(folder)
    judgement = {"format": "cellbed-judgement/2", "valid": True, "checks": [],
                 "metrics": metrics(flows, place)}  # fmt: skip
    (folder / "judgement.json").write_text(json.dumps(judgement))
    return folder


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def flows_of(pairs: int, place: int) -> list[dict[str, int]]:
    return [
        {"pair": pair, "received_bytes": 100_000 * (pair + place), "retransmits": pair + place,
         "timeouts": pair * place}
        for pair in range(1, pairs + 1)
    ]  # fmt: skip


def drops(place: int) -> list[dict[str, object]]:
    """One at the port up, before all others' second."""
    down: list[dict[str, object]] = [
        {"time_ns": (place + n) * SECOND_NS, "port": "down", "cause": CAUSES[n % len(CAUSES)]}
        for n in range(7 + 2 * place)
    ]
    return [*down, {"time_ns": 90 * SECOND_NS, "port": "up", "cause": CAUSES[0]}]


def windows(place: int) -> list[dict[str, int]]:
    """The largest after the first drop."""
    return [
        {"time_ns": n * SECOND_NS // 4, "pair": 1, "cwnd_segments": 10 * place + n * n}
        for n in range(40)
    ]


def exchanges(place: int) -> list[dict[str, object]]:
    """Of forty downloads all but one have come; what goes up is much slower."""
    return [
        {"direction": direction, "state": "open" if n == 7 else "done", "begun_ns": n,
         "last_byte_ns": n + (n + slower) * place * 1_000_000, "response_bytes": 100 * n}
        for direction, slower in (("down", 1), ("up", 1000)) for n in range(40)
    ]  # fmt: skip


def metrics(flows: Sequence[Mapping[str, int]], place: int) -> dict[str, float | None]:
    return {
        "efficiency": 0.9 - 0.1 * place,
        "fairness": jain_index(row["received_bytes"] for row in flows),
        "wasted_share": 0.1 * place,
        "marked_share": 0.01 * place,
        **{name: sum(row[name] for row in flows) for name in ("retransmits", "timeouts")},
    }


def judged(record: Record, *_: object) -> dict[str, Any]:
    """In place of judgement.judge()."""
    found: dict[str, Any] = json.loads((record.folder / "judgement.json").read_text())
    return found


def repairs(lost: Sequence[int]) -> list[Case]:
    """In place of check_flavors(): what the four did, each with other figures."""
    return [
        Case(
            flavor=load(name), scenario=Scenario(name="", lost=tuple(lost)),
            outcome=repaired(lost, place), verdict=Verdict(ok=None, expected="", found=""),
        )
        for place, name in enumerate(RULES, 1)
    ]  # fmt: skip


def repaired(lost: Sequence[int], place: int) -> Outcome:
    """Every loss is sent again, as often as the place says."""
    sent = tuple(
        Sending(time_s=place + at / 10, byte=0, length=0, segment=one, sending=at, dropped=not at)
        for one in lost
        for at in range(place + 1)
    )
    return Outcome(
        id="", finished=True, sent=sent, acks=(), timeouts=2 * place, recoveries=3 * place,
        refused_retransmissions=0, info={},
    )  # fmt: skip


class RunAgain:
    """In place of the Design that --again runs: honest records, made by hand."""

    def __init__(self, design: Design, origin: Path, text: str) -> None:
        self.trials = planned(design, origin)

    def run(self, folder: str) -> Any:
        places = enumerate(self.trials, 1)
        made = [record(Path(folder), trial, place) for place, trial in places]
        found = [record_of(one, read_facts(one)) for one in made]
        trials = [
            Trial(**vars(one), valid=True, checks=(), metrics=judged(one)["metrics"], published={})
            for one in found
        ]
        return SimpleNamespace(records=SimpleNamespace(trials=trials))


def solved(name: str, folder: Path) -> dict[str, str]:
    """Right answers, by the solution's program, in this process."""
    said = StringIO()
    with redirect_stdout(said), patch("sys.argv", [name, str(folder)]):
        exec(compile(solution(name), name, "exec"), {})
    return dict(line.split(" = ", 1) for line in said.getvalue().splitlines())
