# SPDX-License-Identifier: GPL-2.0-only
"""Four senders on a path with handovers, as a satellite constellation on a low orbit has them."""
