# SPDX-License-Identifier: GPL-2.0-only
"""`make site`: Sphinx has nothing to complain of, every page is there, and nothing is fetched."""

from __future__ import annotations

import functools
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests import browser
from tests.small import PROJECT
from tests.tracked import tracked

SITE = PROJECT / "build" / "site"
LIMIT_S = 300
OUTSIDE = re.compile(r'<(?:script|link|img)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


@pytest.fixture(scope="module")
def site() -> Path:
    done = subprocess.run(
        ["make", "site"], cwd=PROJECT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return SITE


def test_every_page_of_the_documentation_is_there(site: Path) -> None:
    pages = [path.relative_to(PROJECT) for path in tracked("docs/*.md", "course/*/text.md")]
    assert pages
    assert [page for page in pages if not (site / page.with_suffix(".html")).exists()] == []


def test_nothing_is_fetched_from_another_machine(site: Path) -> None:
    found = {
        tag for page in site.rglob("*.html") for tag in OUTSIDE.findall(page.read_text("utf-8"))
    }
    assert found == set()


def test_a_drawing_becomes_a_picture_and_a_file_a_page(site: Path) -> None:
    page = (site / "docs" / "architecture.html").read_text("utf-8")
    picture = re.search(r'src="\.\./(_images/architecture[^"]*\.svg)"', page)
    assert picture
    assert "<svg" in (site / picture[1]).read_text("utf-8")
    assert (site / "studies" / "ubr_1996" / "claims.toml.html").exists()


@pytest.mark.browser
def test_a_search_on_a_phone_leads_to_the_page_of_keys(site: Path) -> None:
    """And the page's tables are no wider than the phone."""
    with served(site) as url, browser.opened(f"{url}/search.html?q=buffer_cells", "phone") as page:
        page.locator("ul.search a", has_text="Experiment files").click()
        browser.expect(page.locator("h1")).to_contain_text("Experiment files")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = functools.partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
