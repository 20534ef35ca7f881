# SPDX-License-Identifier: GPL-2.0-only
"""Builds the network under test (plan/dumbbell.py) in a lab, with its queues, delays and losses."""
