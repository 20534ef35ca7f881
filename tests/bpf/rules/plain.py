# SPDX-License-Identifier: GPL-2.0-only
"""Plain UBR (96-0518R1): no frame is refused, and the rest of a torn one is let in."""

CAUSE = None
DISCARDS_REST = False
