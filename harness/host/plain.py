# SPDX-License-Identifier: GPL-2.0-only
"""Is what a command writes read as plain lines? Then no library is needed that draws."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def only_lines(stream: TextIO) -> bool:
    """No terminal and no notebook reads the stream, and nobody wants colors in a file."""
    forced = any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    return not (stream.isatty() or forced or "IPython" in sys.modules)
