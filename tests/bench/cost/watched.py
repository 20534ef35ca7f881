# SPDX-License-Identifier: GPL-2.0-only
"""What a trial costs while somebody looks at its page, beside one that nobody looks at.

    python -m tests.bench.cost.watched [TURNS] [EXPERIMENT FACTOR=LEVEL ...]

in the project's environment, with Debian's Chromium. `./cellbed run --watch` of one trial: with
no reader, then with the page open in a headless browser, which shows the trial as it runs; so
TURNS times (3). Counted is the processor time, user and system, of the command and all that it
began, the lab among it; not the browser's.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing.connection import Connection

from playwright.sync_api import Page, sync_playwright

from tests.bench.cost.profile import CELL, EXPERIMENT
from tests.bench.cost.run import NEW, PR_SET_CHILD_SUBREAPER, only, reap_orphans, used_s
from tests.browser import BROWSER, SIZES

LOOK_MS = 250
# Virtual time [s] of the trial that the page shows as it runs.
MOMENT = """
    document.getElementById('live')?.checkVisibility() ? document.getElementById('time').value : 0
"""


def run(say: Connection, file: str, cell: Sequence[str], out: str) -> None:
    """In a process of its own: run the trial; say the page's address, then the time used [s]."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    argv = [str(NEW / "cellbed"), "run", file, *only(cell), "--seeds", "1", "--jobs", "1"]
    argv += ["--watch", "--out", out]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        # Other lines may come before it, such as a warning of the experiment file.
        say.send(next((line.strip() for line in lines if "http://" in line), "no page"))
        _, said = process.communicate()
    reap_orphans()
    say.send(used_s() if process.returncode == 0 else said)


def cost(file: str, cell: Sequence[str], page: Page | None) -> tuple[float, float]:
    """Of a trial: processor time [s]; the last virtual second that the page showed of it, live."""
    with tempfile.TemporaryDirectory(prefix="cellbed-bench.") as folder:
        here, there = multiprocessing.Pipe()
        arguments = (there, file, cell, f"{folder}/results")
        process = multiprocessing.get_context("spawn").Process(target=run, args=arguments)
        process.start()
        address = here.recv()
        seen_s = 0.0
        if page is not None:
            page.goto(address.rpartition(" ")[2], wait_until="commit")
        while not here.poll(LOOK_MS / 1000):
            seen_s = max(seen_s, shown(page)) if page else 0.0
        used = here.recv()
        process.join()
    if not isinstance(used, float):
        raise SystemExit(f"{address}\n{used}")
    return used, seen_s


def shown(page: Page) -> float:
    """The virtual time that a page shows of a trial that runs [s]; 0: of none."""
    page.wait_for_timeout(1)  # whatever the browser has to say
    return float(page.evaluate(MOMENT))


def main(turns: str = "3", file: str = EXPERIMENT, *cell: str) -> None:
    used: dict[str, list[float]] = {"nobody": [], "a browser": []}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER)
        for _ in range(int(turns)):
            for who, costs in used.items():
                page = browser.new_page(viewport=SIZES["desktop"]) if who != "nobody" else None
                cpu_s, seen_s = cost(file, cell or CELL, page)
                costs.append(cpu_s)
                print(f"{who} looks: {cpu_s:.2f} CPU s; shown until {seen_s:.0f} s", flush=True)
                if page is not None:
                    page.close()
    nobody, somebody = map(statistics.median, used.values())
    print(f"medians: {nobody:.2f}, {somebody:.2f} CPU s, {100 * (somebody / nobody - 1):+.1f} %")


if __name__ == "__main__":
    main(*sys.argv[1:])
