# SPDX-License-Identifier: GPL-2.0-only
"""The page of historical bugs is made of the results and of the patches' heads. No lab."""

from __future__ import annotations

import json
from pathlib import Path

from harness.kernels.trees import TOP, Folder
from tests.bench.bugs import comments
from tests.bench.bugs.page import Results, page
from tests.bench.bugs.patches import Bug, all_bugs
from tests.bench.bugs.run import each, merged, missing
from tests.bench.bugs.scripts import OWN
from tests.small import PROJECT

RESULTS = PROJECT / "tests" / "bench" / "bugs" / "results.jsonl"
TOTAL = "kernel: a against b, 9 comparisons"
SAID_OF_FILES = "every segment the same, at the same time; differs in cwnd.csv, flows.csv"
BASE = {"passed": ["6.12/a.pkt", "own/b.pkt"], "failed": {"7.3/c.pkt": "newer"}}


def bug(name: str, commit: str = "") -> Bug:
    """A bug of no file."""
    return Bug(
        patch=Path(f"{name}.patch"), subject=f"fix {name}", commit=commit, year=2020, fixes="",
        bug="It is wrong.", tests=(),
    )  # fmt: skip


def test_a_row_has_the_id_of_the_commit_where_it_is_known() -> None:
    found: Results = {("base", "scripts"): BASE, ("one", "scripts"): {**BASE, "s": 3}}
    assert "| 2020 | 3d501dd326fb fix one |" in "\n".join(page([bug("one", "3d501dd326fb")], found))
    assert "| 2020 | fix one |" in "\n".join(page([bug("one")], found))


def test_a_bug_counts_once_by_the_first_way_that_shows_it() -> None:
    fails = {
        "passed": [],
        "failed": {"6.12/a.pkt": "x", "own/b.pkt": "x", "7.3/c.pkt": "x"},
        "s": 3,
    }
    differs = {
        "differs": True,
        "s": 9,
        "build_s": 2,
        "said": [TOTAL, "3 of 9 comparisons show a difference."],
    }
    same = {**differs, "differs": False, "said": [TOTAL, "byte-identical"]}
    found: Results = {
        ("base", "scripts"): BASE,
        ("one", "scripts"): fails,
        ("one", "compare"): differs,
        ("two", "compare"): differs,
        ("three", "scripts"): {"passed": ["6.12/a.pkt"], "failed": {"7.3/c.pkt": "newer"}, "s": 5},
        ("comment-tcp", "compare"): same,
        ("comment-route", "scripts"): {
            **BASE,
            "passed": ["6.12/a.pkt"],
            "s": 7,
            "seen": {"a": ["pass", "k", "0.2", "p"], "b": ["pass", "k", "0.2", "p"]},
        },
        ("comment-tcp", "scripts"): {
            "passed": [],
            "failed": {"own/b.pkt": "x"},
            "s": 8,
            "seen": {"a": ["pass", "k", "0.3", "q"]},
        },
        ("five", "compare"): {**differs, "said": [TOTAL, SAID_OF_FILES]},
    }
    text = "\n".join(page([bug(x) for x in ("one", "two", "three", "four", "five")], found))
    assert "| a script of the tree of 6.12 | 1 |\n" in text
    assert "| a script of ours | 0 |\n" in text
    assert "| `compare` | 2 |\n| nothing that ran | 1 |\n| together | 4 |\n" in text
    assert "| not run yet | 1 |\n" in text and "| 2020 | fix four |" in text
    assert "| It is wrong. | `6.12/a.pkt`, `own/b.pkt` | 3 of 9 |" in text
    without_too = "none of 1 (1 fails without the bug, too)"
    assert f"| fix three | It is wrong. | {without_too} | not run |" in text
    assert "| fix five | It is wrong. | no script | other cwnd.csv, flows.csv |" in text
    assert "| patches that add a comment | patches | runs or comparisons | differ |" in text
    assert "| 1 | 2 | 2 | 0 | 0 | 1 | 1 |\n| 1 | 1 | 1 | 0 | 0 | 0 | 0 |" in text
    alone = "the kernel of `compare` alone"
    for what, kernels in (("a bug", 3), ("a comment", 1)):
        assert f"| {what} | `compare` | {kernels} | 11 | 11 | 11 |\n" in text
        assert f"| {what} | {alone} | {kernels} | 2 | 2 | 2 |" in text
    assert "| scripts | 2 | 3 | 1 |\n| `compare` | 1 | 9 | 0 |\n" in text
    assert "| a bug | scripts | 2 | 3 | 4 | 5 |\n" in text


def test_the_page_names_no_patch_that_did_not_run_if_all_ran() -> None:
    found: Results = {("one", "scripts"): {"passed": [], "failed": {"own/b.pkt": "x"}, "s": 3}}
    text = "\n".join(page([bug("one")], {("base", "scripts"): BASE, **found}))
    assert "| a script of ours | 1 |" in text and "did not run" not in text
    assert "not run yet" not in text


def test_each_nth_script_is_taken_by_name() -> None:
    before = {"passed": ["6.12/a.pkt", "own/d.pkt"], "failed": {"7.3/b.pkt": "x", "7.3/c.pkt": "x"}}
    assert each(2, before) == ["6.12/a.pkt", "7.3/c.pkt"]
    assert len(each(1, before)) == 4


def test_a_script_that_was_added_runs_and_its_result_joins_the_others() -> None:
    before = {"passed": ["7.3/a.pkt"], "failed": {"own/b.pkt": "x"}, "s": 2.5}
    tests = ["7.3/a*", "own/b.pkt", "own/new.pkt"]
    assert missing(tests, before) == ["own/new.pkt"]
    assert missing(tests, {}) == tests
    after = {"name": "one", "passed": ["own/new.pkt"], "failed": {}, "s": 1.0, "seen": {"x": []}}
    assert merged({}, after) == after
    both = merged(before, after)
    assert both == {
        "name": "one", "passed": ["7.3/a.pkt", "own/new.pkt"], "failed": {"own/b.pkt": "x"},
        "s": 3.5, "seen": {"x": []},
    }  # fmt: skip
    assert missing(tests, both) == []


def test_the_page_has_the_tables_of_the_results() -> None:
    lines = map(json.loads, RESULTS.read_text().splitlines())
    tables = "\n".join(page(all_bugs(), {(x["name"], x["way"]): x for x in lines}))
    assert tables in (PROJECT / "docs" / "historical-bugs.md").read_text()


def test_each_patch_names_scripts_that_are_there() -> None:
    for one in all_bugs():
        ours = [test.removeprefix("own/") for test in one.tests if test.startswith("own/")]
        assert all((OWN / name).exists() for name in ours), one.name


def test_a_patch_of_comments_adds_one_line(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for file in {*comments.FILES, *TOP}:
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_text("#include <net/tcp.h>\n\nint x;\n")
    tree = Folder("small", source, tmp_path / "seen")
    made = list(comments.write(tree, tmp_path / "out"))
    assert len(made) == len({path.name for path in made}) == 20
    for path in made:
        changed = [x for x in path.read_text().splitlines()[2:] if x.startswith(("+", "-"))]
        assert changed == [f"+{comments.COMMENT.rstrip()}"]
