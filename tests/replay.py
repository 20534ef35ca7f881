# SPDX-License-Identifier: GPL-2.0-only
"""docs/replay.png: `python -m tests.replay` runs the example of a handover and renews the picture.

The picture is the replay of the trial on the live page, in Chromium, 3 s after a handover. It needs
`./cellbed setup --test` and `./cellbed setup --library`. Look at the new picture before you commit.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from harness.api.experiment import Experiment
from harness.watch.server import serving
from tests.browser import opened
from tests.small import PROJECT

EXAMPLE = PROJECT / "examples" / "handover.toml"
PICTURE = PROJECT / "docs" / "replay.png"
AT_S = 23  # the example has handovers at 5, 20 and 35 s
SHOWN = "#trial"


def play(page: Page, at_s: float) -> None:
    """Press the first trial with a record, and go to a moment."""
    page.locator("#matrix td button.valid").first.click()
    page.get_by_label("Virtual time").fill(f"{at_s:g}")
    expect(page.locator("#now")).to_have_text(f"{at_s:.2f} s")
    for plot in page.locator(".plots figure:visible div[role=img]").all():
        expect(plot.locator(".main-svg").first).to_be_visible()


def shoot(page: Page, picture: Path) -> None:
    """Write the part of the page about the chosen trial as a PNG."""
    page.evaluate("document.activeElement.blur()")
    page.locator(SHOWN).screenshot(path=picture, animations="disabled")


def renew(picture: Path = PICTURE) -> None:
    """Run the example, play it to the moment, and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = Path(folder, "handover")
        Experiment.from_file(EXAMPLE).run(campaign, progress=False)
        with serving(campaign) as server, opened(server.url, "desktop") as page:
            play(page, AT_S)
            shoot(page, picture)


if __name__ == "__main__":
    renew()
