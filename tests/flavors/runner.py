# SPDX-License-Identifier: GPL-2.0-only
"""The type of the fixture that runs connections in a lab."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.exact_loss import host as exact_loss

Runner = Callable[[Sequence[exact_loss.Connection], exact_loss.Link], list[exact_loss.Outcome]]
