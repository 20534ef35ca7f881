# SPDX-License-Identifier: GPL-2.0-only
"""The time that a campaign's process takes to its end: what the terminal and the page show."""

from __future__ import annotations

from harness.events import (
    CampaignEnded,
    CampaignInterrupted,
    CampaignStarted,
    Event,
    TrialEnded,
    TrialFailed,
    TrialProgress,
    TrialStarted,
)


class Left:
    """Follows the events of a campaign, each with the second at which it came."""

    def __init__(self) -> None:
        self._begin(0, None)

    def _begin(self, wanted: int, at_s: float | None) -> None:
        self._wanted, self._began_s, self._last_s = wanted, at_s, at_s or 0.0
        self._ended = 0
        self._durations_s: dict[str, float | None] = {}
        self._shares: dict[str, float] = {}  # of each trial under way, how much of it is done
        self._held_s: dict[str, float] = {}  # of each trial under way
        self._held_before_s = 0.0  # of trials that are not under way any more
        self._labs = 1  # at a time, as far as was seen

    def take(self, event: Event, at_s: float) -> None:
        """One more event; at_s is of any clock, the same for all."""
        self._last_s = at_s
        match event:
            case CampaignStarted():
                self._begin(len(event.trials) - len(event.finished), at_s)
            case TrialStarted():
                self._drop(event.trial)  # started again: its worker was lost
                self._durations_s[event.trial] = event.duration_s
                self._shares[event.trial] = 0.0
                self._labs = max(self._labs, len(self._shares))
            case TrialProgress() if event.trial in self._shares:
                if duration_s := self._durations_s[event.trial]:
                    self._shares[event.trial] = min(1.0, event.virtual_s / duration_s)
                self._held_s[event.trial] = event.held_s
            case TrialEnded():
                self._drop(event.trial)
                self._ended += 1
            case TrialFailed():
                self._drop(event.trial)
                self._ended += not event.retried
            case CampaignEnded() | CampaignInterrupted():
                self._began_s = None

    def _drop(self, trial: str) -> None:
        self._shares.pop(trial, None)
        self._held_before_s += self._held_s.pop(trial, 0.0)

    def left_s(self) -> float | None:
        """Seconds to the end, if the rest takes as long as what was done since the beginning.

        None where nothing has been done, or nobody works. What a person held a lab for is not
        counted; while one of several labs is held, the others go on.
        """
        done = self._ended + sum(self._shares.values())
        if self._began_s is None or done <= 0:
            return None
        held_s = (self._held_before_s + sum(self._held_s.values())) / self._labs
        worked_s = max(0.0, self._last_s - self._began_s - held_s)
        return max(0.0, self._wanted - done) * worked_s / done
