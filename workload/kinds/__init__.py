# SPDX-License-Identifier: GPL-2.0-only
"""The workloads, one file a kind; workload/source.py says what is in such a file."""
