# SPDX-License-Identifier: GPL-2.0-only
"""What the facts of a record come to: its checks and figures."""
