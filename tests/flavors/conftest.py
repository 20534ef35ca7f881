# SPDX-License-Identifier: GPL-2.0-only
"""Runs connections in a lab."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.exact_loss import host as exact_loss
from tests.flavors.runner import Runner


@pytest.fixture(scope="session")
def run_connections() -> Runner:
    def run(
        connections: Sequence[exact_loss.Connection], link: exact_loss.Link
    ) -> list[exact_loss.Outcome]:
        outcomes = exact_loss.run_connections(connections, link)
        for outcome in outcomes:
            assert outcome.finished, outcome.id
            assert outcome.refused_retransmissions == 0, outcome.id
        return outcomes

    return run
