# SPDX-License-Identifier: GPL-2.0-only
"""The recordings of a trial beside its counters; harness/capture.py has the files' interface."""
