# SPDX-License-Identifier: GPL-2.0-only
"""The network under test (plan/dumbbell.py), built in Mininet inside a lab; its queues, delays,
losses."""
