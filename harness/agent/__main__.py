# SPDX-License-Identifier: GPL-2.0-only
"""Starts the agent (jobs.py): memory first, and then the modules that need it."""

from __future__ import annotations

import sys

from harness.agent import memory

if __name__ == "__main__":
    memory.in_large_pieces()
    # Python's own hashes do. OpenSSL's library would take memory of its own in each lab.
    sys.modules["_hashlib"] = None  # type: ignore[assignment]
    from harness.agent.jobs import main

    main()
