# SPDX-License-Identifier: GPL-2.0-only
"""What runs inside a lab: standard library, Mininet and pyroute2 only."""
