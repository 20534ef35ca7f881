# SPDX-License-Identifier: GPL-2.0-only
"""A synthetic campaign that many tests read and none changes."""

from pathlib import Path

import pytest

from analysis.records import CampaignRecords, read_campaign
from tests.analysis import synthetic


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> CampaignRecords:
    """The published values plus noise, three seeds."""
    folder: Path = tmp_path_factory.mktemp("synthetic") / "campaign"
    return read_campaign(synthetic.write_campaign(folder))
