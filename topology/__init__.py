# SPDX-License-Identifier: GPL-2.0-only
"""The network under test: described as data (pure), built in Mininet inside a lab."""
