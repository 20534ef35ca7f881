# SPDX-License-Identifier: GPL-2.0-only
"""What `./cellbed study witness web_2003` runs, and the figures that it keeps of a run."""

import hashlib
from pathlib import Path

import numpy as np

from analysis.errors import RecordError
from analysis.witness import Figures, Witness
from plan.plan import Plan
from studies.web_2003.ns2 import simulate, traffic
from studies.web_2003.ns2.options import VARIANTS, link, options
from studies.web_2003.ns2.simulate import Exchange, Outcome, Port
from studies.web_2003.times import quantile

QUANTILES = {
    "p10_ms": 0.1, "p25_ms": 0.25, "median_ms": 0.5, "p75_ms": 0.75, "p90_ms": 0.9, "p99_ms": 0.99,
}  # fmt: skip


def run(plan: Plan, folder: Path, variant: str) -> Figures | None:
    """The figures of one run; None where ns-2 has not the plan's queue.

    folder: has the trace, and nothing else. Raises RecordError where there is none, or ns-2 fails,
    and MissingLibraryError where there is no ns-2.
    """
    if link(plan) is None:
        return None
    path = _only_file(folder)
    trace = traffic.read(path)
    wanted = options(plan, trace, variant)
    found = simulate.run(trace, wanted)
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"trace": content[:16], "rate_bit_per_s": round(float(wanted["rate"])), **figures(found)}


def _only_file(folder: Path) -> Path:
    found = list(folder.iterdir())
    if len(found) != 1:
        raise RecordError(f"{folder}: it has {len(found)} files; it must have one, the trace")
    return found[0]


def figures(found: Outcome) -> Figures:
    """Named as those of the kernel's trials (study.py); times in ms, shares of all."""
    exchanges = found.exchanges
    times_ms = np.array([_response_ms(one) for one in exchanges])
    asked = sum(one.connection.response_bytes for one in exchanges)
    return {
        "exchanges": len(exchanges),
        **{name: quantile(times_ms, share) for name, share in QUANTILES.items()},
        "unfinished_share": float(np.mean(np.isinf(times_ms))),
        "resent_share": float(np.mean([_resent(one) for one in exchanges])),
        "resent_bytes_share": sum(map(_resent_bytes, exchanges)) / asked,
        **{name: value for way in found.ports for name, value in _port(way, found.ports[way])},
    }


def _response_ms(one: Exchange) -> float:
    return np.inf if one.last_byte_s is None else 1000 * (one.last_byte_s - one.begun_s)


def _resent_bytes(one: Exchange) -> int:
    return max(0, one.sent_bytes - one.connection.response_bytes)


def _resent(one: Exchange) -> bool:
    """Of its response something, or its SYN/ACK or FIN."""
    return _resent_bytes(one) > 0 or one.timeouts > 0


def _port(way: str, port: Port) -> list[tuple[str, float]]:
    """The direction down has the names that the kernel's trials have."""
    suffix = "" if way == "down" else "_up"
    return [
        (f"dropped_share{suffix}", port.dropped / port.arrived),
        (f"marked_share{suffix}", port.marked / (port.arrived - port.dropped)),
    ]


SHORT, LONG = "web-witness", "web"
"""The experiments: of 10,000 exchanges a trial, and of as many as the source's runs."""
WITNESS = Witness(name="ns-2", experiments=(SHORT, LONG), variants=tuple(VARIANTS), run=run)
