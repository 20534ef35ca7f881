# SPDX-License-Identifier: GPL-2.0-only
"""Makes of what two labs left of a trial what one lab would have left.

What a lab does not have counts nothing there: its hosts are idle, its port sends no packet. So
counters of devices are added. Each queue, table and capture is that of the lab in which it works.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workload.iperf.source import ended, flow, summarise
from workload.source import FLOW_COLUMNS

Document = Mapping[str, Any]
# What of the receivers' lab is known beside: the senders' has the same key for itself.
OF_EACH = ("system", "versions", "unknown_sysctls", "drained_s")
# A file belongs to the senders' lab but for these, by the beginning of its name.
OF_RECEIVERS = ("up.", "throughput.")
LAB = "lab.json"


def merge(senders: Path, receivers: Path, place: Path) -> None:
    """Fill a new folder with the results of a trial.

    Args:
        senders, receivers: what the two labs left of it.

    Raises:
        ValueError, OSError, KeyError: they left something else than two halves of one trial.
    """
    place.mkdir()
    for folder, wanted in ((senders, False), (receivers, True)):
        for path in folder.iterdir():
            if path.name != LAB and path.name.startswith(OF_RECEIVERS) == wanted:
                shutil.copy(path, place / path.name, follow_symlinks=False)
    first, second = (json.loads((folder / LAB).read_text()) for folder in (senders, receivers))
    document, flows = together(first, second)
    (place / LAB).write_text(json.dumps(document))
    with (place / "flows.csv").open("w", newline="", encoding="ascii") as stream:
        table = csv.DictWriter(stream, FLOW_COLUMNS, restval="", extrasaction="ignore")
        table.writeheader()
        table.writerows(flows)


def together(senders: Document, receivers: Document) -> tuple[Document, list[dict[str, object]]]:
    """One document of two, and the rows of flows.csv."""
    source, flows = sources(senders["source"], receivers["source"])
    captures = [one["capture"] for one in (senders, receivers) if one.get("capture")]
    document = {
        **senders,
        "idle_round_trip_ns": receivers["idle_round_trip_ns"],
        "probed_rate_bit_per_s": {
            way: (receivers if way == "down" else senders)["probed_rate_bit_per_s"][way]
            for way in ("down", "up")
        },
        "queue": queues(senders["queue"], receivers["queue"]),
        "marks": {
            mark: queues(found, receivers["marks"][mark])
            for mark, found in senders["marks"].items()
        },
        "links": {
            port: [a + b for a, b in zip(counted, receivers["links"][port], strict=True)]
            for port, counted in senders["links"].items()
        },
        "losses": losses(senders["losses"], receivers["losses"]),
        "source": source,
        "receivers": {key: receivers[key] for key in OF_EACH},
    }
    if not document["congestion"]:
        del document["congestion"]
    if captures:
        ports = queues(*(one["capture"]["ports"] for one in (senders, receivers)))
        document["capture"] = {**captures[0], "ports": ports}
    return document, flows


def queues(senders: Document, receivers: Document) -> Document:
    """Of each direction what the lab has in which its queue works."""
    both = {"down": senders, "up": receivers}
    return {way: found[way] for way, found in both.items() if way in found}


def losses(senders: Document, receivers: Document) -> Document:
    """Every loss in either lab."""
    return {
        "namespaces": min(senders["namespaces"], receivers["namespaces"]),
        "elsewhere": {
            name: senders["elsewhere"].get(name, 0) + receivers["elsewhere"].get(name, 0)
            for name in sorted({**senders["elsewhere"], **receivers["elsewhere"]})
        },
        "at_port": {
            port: lost + receivers["at_port"][port] for port, lost in senders["at_port"].items()
        },
    }


def sources(senders: Document, receivers: Document) -> tuple[Document, list[dict[str, object]]]:
    """The workload's summary and flows, of the two halves of linked/source.py."""
    marks = {
        name: {
            int(pair): {**seen, **of_receiver(receivers["marks"][name][pair])}
            for pair, seen in found.items()
        }
        for name, found in senders["marks"].items()
    }
    said = {int(pair): text or receivers["said"][pair] for pair, text in senders["said"].items()}
    versions, failures = ended(said)
    summary = summarise(senders["t0_ns"], marks) | {"iperf3": versions} | failures
    return summary, [flow(pair, marks["begin"], marks["end"]) for pair in marks["end"]]


def of_receiver(seen: Document) -> Document:
    """Of what is known of a pair at a moment, what its receiver's lab sees."""
    return {name: seen[name] for name in ("at_ns", "received_bytes")}
