# SPDX-License-Identifier: GPL-2.0-only
"""Stock congestion controls on one kernel after the other."""
