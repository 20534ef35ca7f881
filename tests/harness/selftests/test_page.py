# SPDX-License-Identifier: GPL-2.0-only
"""The page of results is made of the files of results. No lab."""

from __future__ import annotations

import tomllib

from tests.bench.selftests.page import last, page
from tests.small import PROJECT

FOLDER = PROJECT / "tests" / "bench" / "selftests"

RUN = {"verdict": "pass", "status": 0, "virtual_s": 1.25, "cpu_s": 7.4, "why": ""}


def test_each_test_has_a_row_with_its_result_and_its_cause() -> None:
    found = {
        "net/a.sh": RUN,
        "net/b.sh": {**RUN, "verdict": "fail", "status": 1, "why": "no `x` | y"},
        "net/c/d.sh": {**RUN, "verdict": "skip", "status": 4, "why": "SKIP: no program z"},
        "net/e.sh": {**RUN, "verdict": "fail", "status": None, "why": "it has used 600 s"},
        "net/g.sh": {**RUN, "verdict": "skip", "status": 4, "why": "SKIP: no program y"},
    }
    causes = {"net/c/d.sh": "needs program z", "net/f.sh": "too slow"}
    text = "\n".join(page([*found, "net/f.sh"], causes, found))
    assert "| `net` | 5 | 1 | 2 | 1 | 1 |\n" in text
    assert "| together | 6 | 1 | 2 | 2 | 1 |\n" in text
    assert "| `net/a.sh` | passes | 1.2 | 7 |  |\n" in text
    assert "| `net/b.sh` | fails | 1.2 | 7 | cause not found; it says `no 'x' \\| y` |\n" in text
    assert "| `net/c/d.sh` | skips itself | 1.2 | 7 | needs program z |\n" in text
    assert "| `net/e.sh` | fails |  | 7 | cause not found; it says `it has used 600 s` |\n" in text
    assert "| `net/g.sh` | skips itself | 1.2 | 7 | it says `SKIP: no program y` |\n" in text
    assert "fails | skips itself |\n| --- | ---: | ---: |\n| it needs a program" in text
    assert " that the lab has not | 0 | 2 |\n| not found | 2 | 0 |\n" in text
    assert text.endswith("| `net/f.sh` | not run |  |  | too slow |")


def test_the_page_has_the_tables_of_the_results() -> None:
    names = (FOLDER / "names.txt").read_text().splitlines()
    causes = tomllib.loads((FOLDER / "reasons.toml").read_text())["reason"]
    found = last([FOLDER / "net.jsonl"])
    assert set(found) | set(causes) <= set(names)
    told = (PROJECT / "docs" / "net-selftests.md").read_text()
    for table in "\n".join(page(names, causes, found)).split("\n\n"):
        assert table in told
