# SPDX-License-Identifier: GPL-2.0-only
"""docs/reproduce.md and docs/older-results.md have the numbers of the kept results."""

from __future__ import annotations

from collections import defaultdict

from harness.judge import studies
from tests import reproduce


def test_the_pages_are_renewed() -> None:
    pages = (reproduce.PAGE, reproduce.OLDER_PAGE)
    texts = [page.read_text(encoding="utf-8") for page in pages]
    assert list(map(reproduce.renewed, texts)) == texts, "run python -m tests.reproduce"
    found = {match[2] for text in texts for match in reproduce.PLACE.finditer(text)}
    assert found == set(reproduce.TABLES)


NO_TRIAL_LACKS = {"cc-board": 4, "cc-board-aioquic": 1, "web": 2}
"""Records that were left out though every trial of the commands is kept: the page names them."""


def test_every_kept_campaign_has_its_command() -> None:
    rows = {str(row[0]).split()[2]: str(row[0]) for row in reproduce.campaigns().rows[:-1]}
    kept = {
        f"studies/{study}/{folder.name}.toml"
        for study in studies.known()
        for folder in (studies.folder(study) / "results").iterdir()
    }
    assert set(rows) == kept
    assert "--kernel 6.1,6.12,7.3" in rows["studies/kernel_cc/kernel-losses.toml"]
    assert "--kernel" not in rows["studies/kernel_cc/kernel-cc.toml"]  # its file names them


def test_a_command_runs_the_kept_trials_and_perhaps_more() -> None:
    runs = {str(row[0]).partition("studies/")[2]: row[1:3] for row in reproduce.campaigns().rows}
    assert runs["kernel_cc/kernel-shared.toml --seeds 1 --kernel 6.1,6.12,7.3`"] == [108, 106]
    assert runs["web_2003/web-witness.toml --only load=105 --seeds 8`"] == [80, 80]
    assert runs["web_2003/web-witness.toml --only load=105 --first-seed 10 --seeds 2`"] == [20, 20]


def test_each_kept_trial_is_of_one_command() -> None:
    for study, campaign in reproduce.kept_campaigns():
        parts = reproduce.parts_of(study, campaign)
        keys = [line.key for part in parts for line in part.kept]
        manifest = reproduce.kept_of(study).manifest(campaign)
        assert len(keys) == len(set(keys)) == manifest["trials"], campaign
        assert all(len(part.kept) <= part.runs for part in parts), campaign


def test_what_a_command_runs_and_no_line_has_was_left_out() -> None:
    """A check rejected these trials. The other records that were left out lack nothing."""
    lacking: dict[str, int] = defaultdict(int)
    for study, campaign in reproduce.kept_campaigns():
        lacking[campaign] = reproduce.kept_of(study).manifest(campaign)["left_out"]
        for part in reproduce.parts_of(study, campaign):
            lacking[campaign] -= part.runs - len(part.kept)
    assert {name: count for name, count in lacking.items() if count} == NO_TRIAL_LACKS


def test_older_trials_are_those_before_the_other_kernel() -> None:
    rows = {str(row[1]): row[2:4] for row in reproduce.older().rows}
    assert rows["kernel-window"] == [144, 144] and rows["ubr-persistent-length"] == [60, 3]
    assert not {"leo", "web", "kernel-faster"} & rows.keys()


def test_seeds_with_a_gap_are_two_ranges() -> None:
    assert reproduce.without_gaps({1, 2, 3, 10, 11}) == [range(1, 4), range(10, 12)]
    assert reproduce.without_gaps({7}) == [range(7, 8)] and reproduce.without_gaps(set()) == []


def test_the_counts_of_a_reading_are_all_its_claims() -> None:
    for row in reproduce.verdicts().rows:
        for readings, *counts in (row[2:6], row[6:10]):
            assert readings is None or readings == sum(x for x in counts if isinstance(x, int))
