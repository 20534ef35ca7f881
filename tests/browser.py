# SPDX-License-Identifier: GPL-2.0-only
"""A page in a real browser, at desktop or phone size, with a checker of accessibility."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

BROWSER = "/usr/bin/chromium"
LIMIT_MS = 120_000  # of a step, on a machine that does much else
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@contextmanager
def opened(url: str, size: str, *, expected: str = "") -> Iterator[Page]:
    """The page; in the browser's console it must not complain, except of what is expected."""
    expect.set_options(timeout=LIMIT_MS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER)
        found = browser.new_page(viewport=SIZES[size])
        found.set_default_timeout(LIMIT_MS)
        faults: list[str] = []
        found.on("pageerror", lambda error: faults.append(str(error)))
        found.on("console", lambda one: faults.append(one.text) if one.type == "error" else None)
        found.goto(url, wait_until="commit")
        yield found
        browser.close()
        assert [one for one in faults if not expected or expected not in one] == []


def assert_no_violation(page: Page) -> None:
    """None of axe's that is serious or worse, and nothing wider than the window."""
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found
            if one["impact"] in ("serious", "critical")] == []  # fmt: skip
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
