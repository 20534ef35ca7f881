# SPDX-License-Identifier: GPL-2.0-only
"""The queues under test, one file a kind; plan/queue.py says what is in such a file."""
