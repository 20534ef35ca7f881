# SPDX-License-Identifier: GPL-2.0-only
"""Who waits in a lab wakes on the nanosecond, and so does all that it starts."""

from __future__ import annotations

import subprocess
import sys

from tests.small import PROJECT

ASK = """
import subprocess
from topology.clock import wake_exactly
wake_exactly()
print(subprocess.check_output(["cat", "/proc/self/timerslack_ns"], text=True).strip())
"""


def test_timers_have_no_slack_and_neither_have_those_of_a_child() -> None:
    said = subprocess.check_output([sys.executable, "-c", ASK], cwd=PROJECT, text=True)
    assert said == "1\n"
