# SPDX-License-Identifier: GPL-2.0-only
"""Looking at a lab that runs, and holding it: `watched.json` in its inbox.

    {"trial": NAME, "until_s": 12}   that trial is not to go beyond its second 12
    {"trial": NAME, "until_s": null} somebody looks, and the lab goes as fast as it can

Whoever looks writes it again and again; when that ends, the lab goes on. Its owner, who follows
its events, stops it: virtual time can wait, and a lab that is stopped does not know of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.inbox import give

NAME = "inbox/watched.json"
LEASE_S = 5.0
# A page that is left open is no reason to hold a campaign for ever.
LONGEST_S = 600.0


def write(folder: Path, trial: str, until_s: float | None) -> None:
    """Look at a lab for LEASE_S more; OSError when its run directory is gone."""
    give(folder / NAME, json.dumps({"trial": trial, "until_s": until_s}))


class Hold:
    """Says to a lab's owner when it is to stand still; held_s: for how long it has in all."""

    def __init__(self, folder: Path) -> None:
        self.held_s = 0.0
        self._path = folder / NAME
        self._trial = ""
        self._second = 0.0
        self._since: float | None = None
        self._tired: float | None = None  # of this moment it was held for too long

    def follow(self, event: Mapping[str, Any]) -> None:
        """An event of the lab: how far it is."""
        if event["event"] == "trial-begin":
            self._trial, self._second = event["trial"], 0.0
        elif event["event"] == "progress":
            self._second = event.get("second", self._second)

    @property
    def holds(self) -> bool:
        return self._since is not None

    def changed(self) -> bool:
        """Look again: is it now to be stopped, or to go on, other than before?"""
        now, until_s = time.monotonic(), self._until_s()
        wanted = until_s is not None and until_s <= self._second and until_s != self._tired
        if wanted and self._since is not None and now - self._since > LONGEST_S:
            self._tired, wanted = until_s, False
        if wanted == self.holds:
            return False
        if self._since is not None:
            self.held_s += now - self._since
        self._since = now if wanted else None
        return True

    def _until_s(self) -> float | None:
        """Until which second it may go; None: nobody holds it."""
        try:
            if time.time() - self._path.stat().st_mtime > LEASE_S:
                self._path.unlink(missing_ok=True)
                return None
            told = json.loads(self._path.read_text())
            return None if told["trial"] != self._trial else told["until_s"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
