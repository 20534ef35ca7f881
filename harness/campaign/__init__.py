# SPDX-License-Identifier: GPL-2.0-only
"""From plans to raw records, in a folder that is locked, owned and never half-written."""
