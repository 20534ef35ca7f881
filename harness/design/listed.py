# SPDX-License-Identifier: GPL-2.0-only
"""Keys of an experiment whose values are the names of files: the names are not in a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from harness.flavors import files as flavors
from plan import plan
from plan.near import choices

POLICIES = plan.QUEUES["cells"].policies
LISTED: Mapping[str, Callable[[], Iterable[str]]] = {
    "queue.policy": POLICIES,
    "queue.return_policy": POLICIES,
    "topology.delay": lambda: plan.DELAYS.kinds,
    "tcp.flavor": flavors.names,
}


def allowed(place: str) -> str:
    """The end of a message about a key: the allowed names. "" if the key has no such list."""
    if place not in LISTED:
        return ""
    also = ", or a list of them" if place == "tcp.flavor" else ""
    return choices(None, LISTED[place]()) + also
