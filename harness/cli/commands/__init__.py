# SPDX-License-Identifier: GPL-2.0-only
"""One file a command."""
