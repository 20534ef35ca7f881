# SPDX-License-Identifier: GPL-2.0-only
"""Two levels of a factor, trial by trial: what differs, by how much, and where it begins."""
