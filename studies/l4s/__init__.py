# SPDX-License-Identifier: GPL-2.0-only
"""A scalable sender and CUBIC on one link, behind the dual queue of L4S and single queues."""
