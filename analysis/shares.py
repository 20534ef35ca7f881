# SPDX-License-Identifier: GPL-2.0-only
"""Who gets how much of a link on which flavors of TCP are beside each other."""

import math

from analysis.records import Record


def flavor_shares(trial: Record) -> dict[str, float]:
    """Flavor -> its part of all that the clients received, 0 to 1, in the order of the pairs.

    Empty of a trial of one flavor, and where nobody received anything.
    """
    received: dict[str, list[float]] = {}
    for row in trial.series("flows") or ():
        if "flavor" in row:
            received.setdefault(str(row["flavor"]), []).append(float(row["received_bytes"] or 0))
    whole = math.fsum(value for values in received.values() for value in values)
    return {name: math.fsum(values) / whole for name, values in received.items()} if whole else {}
