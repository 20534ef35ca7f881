# SPDX-License-Identifier: GPL-2.0-only
"""plotly.js as the Python package ships it; nothing of that package is run."""

from importlib.util import find_spec
from pathlib import Path


def path() -> Path | None:
    """The script; None where the package is not installed."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).with_name("package_data") / "plotly.min.js"
