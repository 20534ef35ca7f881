# SPDX-License-Identifier: GPL-2.0-only
"""What runs experiments: rooms from the command line to the labs (docs/architecture.md)."""
