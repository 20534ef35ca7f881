# SPDX-License-Identifier: GPL-2.0-only
"""Why something in the lab went wrong, in one line for a person."""

OURS = {"harness", "plan", "topology", "workload"}


def reason(error: Exception) -> str:
    """The words of the project's own errors; before the words of any other error, its name."""
    text, own = str(error), type(error).__module__.partition(".")[0] in OURS
    return text if own and text else f"{type(error).__name__}: {text}"
