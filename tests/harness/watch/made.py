# SPDX-License-Identifier: GPL-2.0-only
"""A campaign's directory that nothing has run: two trials, of which one has a made-up record."""

from __future__ import annotations

import json
from pathlib import Path

from harness import events
from harness.events import CampaignStarted, Event
from tests.analysis import synthetic

CELLS = {("WAN", "SACK", policy, 0.5): (0.8, 0.7) for policy in ("EPD", "SD")}
TRIALS = ("WAN-SACK-EPD-0.5-s1-0123456789", "WAN-SACK-SD-0.5-s1-0123456789")
STARTED = CampaignStarted(experiment="made", lab="uml", clock="virtual", jobs=1, scheduler=None,
                          trials=TRIALS, finished=TRIALS[:1])  # fmt: skip


class Made:
    """The directory; its second trial waits for end()."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "campaign"
        synthetic.write_campaign(folder / "synthetic", seeds=[1], cells=CELLS, with_series=True)
        (self.folder / "trials").mkdir(parents=True)
        factors = {"network": ["WAN"], "flavor": ["SACK"], "policy": ["EPD", "SD"], "buffer": [0.5]}
        header = {"format": "cellbed-campaign/1", "name": "made", "title": "nothing measured",
                  "factors": factors, "trials": TRIALS}  # fmt: skip
        (self.folder / "campaign.json").write_text(json.dumps(header))
        self.log = events.EventLog(self._append)
        self.log(STARTED)
        self.end(TRIALS[0])

    def say(self, event: Event) -> None:
        self.log(event)

    def end(self, name: str) -> None:
        """Give a trial its record."""
        policy = name.split("-")[2].lower()
        source = self.folder.parent / "synthetic" / "trials" / f"wan-sack-{policy}-0.5-1"
        document = json.loads((source / "trial.json").read_text())
        (source / "trial.json").write_text(json.dumps({**document, "trial": name}))
        judgement = json.loads((source / "judgement.json").read_text())
        responses = {"efficiency": "eff.", "fairness": "fair."}
        (source / "judgement.json").write_text(json.dumps({**judgement, "responses": responses}))
        source.rename(self.folder / "trials" / name)

    def _append(self, line: str) -> None:
        with (self.folder / events.NAME).open("a") as stream:
            stream.write(line + "\n")
