# SPDX-License-Identifier: GPL-2.0-only
"""What two programs without a kernel predict of 98-0876R1's trials, on the same request schedules.

predicted/simulation.csv is of an independent simulation, cell and segment, whose program is not in
this project: nobody can look into it here. predicted/model.csv is of the study's own model
(model/): `./cellbed study model studies/ubrplus_1998/ubrplus-www-text.toml` computes its lines.

The simulation has two sets, each of the 72 cells and seeds 1 to 10, whose senders are
those of an experiment: "today" ubrplus-www-rfc, "literal" ubrplus-www.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from analysis.study import Prediction
from analysis.table import read_csv
from plan.plan import Plan, to_json

FILE = Path(__file__).parent / "predicted" / "simulation.csv"
MODEL_FILE = FILE.with_name("model.csv")
MINIMA = {2: "2 ticks", 10: "1 s"}
"""Least timeout in ticks of 100 ms -> level of the experiment."""
DIFFERENT = (
    "ssthresh_rule", "sack_pipe", "multiple_fast_retransmits", "resend_boundaries",
    "newreno_partial", "newreno_flywheel",
)  # fmt: skip
"""Parameters of the kernel module that are 0 in the one and 1 in the other."""
SAME = {
    "byte_window": 1, "idle_restart": 0, "rto_tick_ms": 100, "rto_min_ticks": 2,
    "rto_first_ms": 3000, "backoff_clear": 0, "after_timeout": 0, "sack_retransmit": 1,
    "sack_resend_on_partial": 0,
}  # fmt: skip
SETS: Mapping[str, Mapping[str, Any]] = {
    name: {
        "tcp": {
            "flavor": {
                "parameters": SAME | dict.fromkeys(DIFFERENT, value),
                "route": {"server": {"initcwnd": 1}},
            }
        },
        "workload": {"server_stream": stream, "first_batch": "together"},
    }
    for name, value, stream in (("today", 0, "nginx"), ("literal", 1, "joined"))
}
"""What the plan of a trial has that was simulated."""


@cache
def simulated() -> dict[tuple[str, ...], dict[str, float]]:
    """(set, network, policy, flavor, buffer in cells, seed) -> responses."""
    columns = ("set", "network", "drop_policy", "tcp_flavor", "buffer_cells", "seed")
    return {
        tuple(row[column] for column in columns): {
            name: float(row[name]) for name in ("efficiency", "fairness")
        }
        for row in read_csv(FILE).rows
    }


def _has(plan: Any, wanted: Mapping[str, Any]) -> bool:
    """Has a plan these values, at any depth?"""
    return isinstance(plan, Mapping) and all(
        _has(plan.get(key), value) if isinstance(value, Mapping) else plan.get(key) == value
        for key, value in wanted.items()
    )


def _prediction(name: str) -> Prediction:
    """One set, for the trials that it has simulated and no others."""

    def of(levels: Mapping[str, str], plan: Plan, seed: int) -> Mapping[str, float] | None:
        cells = plan.queue.down.room_cells
        if not _has(to_json(plan), SETS[name]) or cells != plan.queue.up.room_cells:
            return None
        named = (levels.get(factor, "") for factor in ("network", "policy", "flavor"))
        return simulated().get((name, *named, str(cells), str(seed)))

    return Prediction(name=name, of=of)


@cache
def modelled() -> dict[tuple[str, ...], dict[str, float]]:
    """(network, flavor, policy, buffer, least timeout, seed) -> responses, by the model."""
    columns = ("network", "flavor", "policy", "buffer", "minimum", "seed")
    return {
        tuple(row[column] for column in columns): {
            name: float(row[name]) for name in ("efficiency", "fairness")
        }
        for row in read_csv(MODEL_FILE).rows
    }


def _of_model(levels: Mapping[str, str], plan: Plan, seed: int) -> Mapping[str, float] | None:
    """Of the text's senders, with either reading of the least timeout."""
    document = to_json(plan)
    parameters = document["tcp"]["flavor"]["parameters"]
    minimum = MINIMA.get(parameters.get("rto_min_ticks"), "")
    document["tcp"]["flavor"]["parameters"] = {**parameters, "rto_min_ticks": 2}
    if not _has(document, SETS["literal"]):
        return None
    named = (levels.get(factor, "") for factor in ("network", "flavor", "policy", "buffer"))
    return modelled().get((*named, minimum, str(seed)))


PREDICTIONS = (*map(_prediction, SETS), Prediction(name="model", of=_of_model))
