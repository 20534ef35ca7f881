# SPDX-License-Identifier: GPL-2.0-only
"""Starts the agent (jobs.py): memory first, and then the modules that need it."""

from __future__ import annotations

from harness.agent import memory

if __name__ == "__main__":
    memory.in_large_pieces()
    from harness.agent.jobs import main

    main()
