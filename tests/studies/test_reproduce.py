# SPDX-License-Identifier: GPL-2.0-only
"""docs/reproduce.md has the numbers of the kept results."""

from __future__ import annotations

from harness.judge import studies
from tests import reproduce


def test_the_page_is_renewed() -> None:
    text = reproduce.PAGE.read_text(encoding="utf-8")
    assert reproduce.renewed(text) == text, "run python -m tests.reproduce"
    assert {match[2] for match in reproduce.PLACE.finditer(text)} == set(reproduce.TABLES)


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
    runs = {str(row[0]).split()[2]: (row[1], row[2]) for row in reproduce.campaigns().rows[:-1]}
    assert all(kept <= whole for whole, kept in runs.values())
    assert runs["studies/kernel_cc/kernel-shared.toml"] == (108, 106)  # on three kernels
    assert runs["studies/web_2003/web-witness.toml"] == (440, 230)


def test_the_counts_of_a_reading_are_all_its_claims() -> None:
    for row in reproduce.verdicts().rows:
        for readings, *counts in (row[2:6], row[6:10]):
            assert readings is None or readings == sum(x for x in counts if isinstance(x, int))
