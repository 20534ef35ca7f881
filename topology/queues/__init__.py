# SPDX-License-Identifier: GPL-2.0-only
"""The queues under test. Each file is one kind; plan/queue.py has the interface."""
