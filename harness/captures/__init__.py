# SPDX-License-Identifier: GPL-2.0-only
"""What a trial can record beyond its counters; harness/capture.py says what is in such a file."""
