# SPDX-License-Identifier: GPL-2.0-only
"""A test that is skipped is a failure, but for the few reasons that are known and wanted.

What set-up installs is enough for every other test: a skip would be a test that nobody runs.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

ALLOWED = ("slow: ", "no vagrant", "needs root, or sudo without a password")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        assert isinstance(report.longrepr, tuple)
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(ALLOWED):
            report.outcome = "failed"
            report.longrepr = f"skipped for a reason that tests/skips.py does not allow: {reason}"
    return report
