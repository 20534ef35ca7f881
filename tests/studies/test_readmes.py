# SPDX-License-Identifier: GPL-2.0-only
"""A README's tables and sentences are those of its kept results, and those are whole."""

import re
import shutil
from pathlib import Path

import pytest

from analysis.errors import ReportError, TableError
from analysis.kept import Kept
from analysis.report import sentences, verdicts_again
from analysis.report.readme import with_tables
from harness.cli.commands.study import fill, plans_of
from harness.judge import studies
from plan.errors import CellbedError


@pytest.mark.parametrize("name", studies.known())
def test_the_tables_are_the_kept_results(name: str) -> None:
    folder = studies.folder(name)
    assert with_tables(studies.find(name), folder) == (folder / "README.md").read_text()


@pytest.mark.parametrize("name", studies.known())
def test_means_and_verdicts_follow_from_the_lines_of_the_trials(name: str) -> None:
    study, folder = studies.find(name), studies.folder(name)
    for campaign in verdicts_again.campaigns(folder):
        planned = plans_of(folder / f"{campaign.name}.toml")
        for file, text in verdicts_again.tables(campaign, study, planned).items():
            assert (campaign / file).read_text() == text, campaign / file


def test_another_figure_of_a_trial_is_noticed(tmp_path: Path) -> None:
    study, name = studies.find("ubr_1996"), "ubr-persistent-length"
    folder = Path(shutil.copytree(studies.folder(study.id), tmp_path / "study"))
    campaign = folder / "results" / name
    planned = plans_of(folder / f"{name}.toml")
    before = verdicts_again.tables(campaign, study, planned)
    path = campaign / "trials.csv"
    head, first, *rest = path.read_text().splitlines(keepends=True)
    at = head.split(",").index("efficiency")
    fields = first.split(",")
    changed = ",".join([*fields[:at], "0.999", *fields[at + 1 :]])
    path.write_text("".join([head, changed, *rest]))
    assert verdicts_again.tables(campaign, study, planned)["cells.csv"] != before["cells.csv"]
    with pytest.raises(CellbedError, match=r"cells.csv does not match the kept trials; .* toy$"):
        fill(campaign / "cells.csv", "other", "toy", check=True)


def test_a_kept_trial_that_the_experiment_has_not_is_named(tmp_path: Path) -> None:
    study, name = studies.find("ubr_1996"), "ubr-persistent-length"
    campaign = studies.folder(study.id) / "results" / name
    with pytest.raises(ReportError, match="the experiment has no trial like the kept trial '"):
        verdicts_again.tables(campaign, study, {})


@pytest.mark.parametrize("name", studies.known())
def test_every_kept_campaign_has_cells_and_a_manifest(name: str) -> None:
    kept = Kept(studies.folder(name) / "results")
    campaigns = [path.name for path in kept.folder.iterdir()]
    assert campaigns
    for campaign in campaigns:
        manifest = kept.manifest(campaign)
        cells = kept.cells(campaign)
        assert manifest["campaign"] == campaign and manifest["commit"] and manifest["versions"]
        assert sum(int(row["seeds"]) for row in cells.rows) == manifest["trials"]
        assert (kept.folder.parent / f"{campaign}.toml").is_file()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<!-- table windows -->", "<!-- table window -->", "the table 'window' does not exist"),
        ("<!-- table windows -->", "", "has no place for the table 'windows'"),
    ],
)
def test_a_readme_and_its_tables_belong_together(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = (studies.folder("ubr_1996") / "README.md").read_text()
    (tmp_path / "README.md").write_text(text.replace(old, new))
    with pytest.raises(TableError, match=message):
        with_tables(studies.find("ubr_1996"), tmp_path)


def test_other_results_are_noticed(tmp_path: Path) -> None:
    """One digit of one kept cell."""
    source = studies.folder("ubr_1996")
    (tmp_path / "results").mkdir()
    for campaign in (source / "results").iterdir():
        (tmp_path / "results" / campaign.name).mkdir()
        for path in campaign.iterdir():
            (tmp_path / "results" / campaign.name / path.name).write_bytes(path.read_bytes())
    text = (source / "README.md").read_text()
    (tmp_path / "README.md").write_text(text)
    (tmp_path / sentences.FILE).write_text((source / sentences.FILE).read_text())
    study = studies.find("ubr_1996")
    assert with_tables(study, tmp_path) == text
    path = tmp_path / "results" / "ubr-persistent" / "windows.csv"
    path.write_text(path.read_text().replace("7580", "7581", 1))
    assert with_tables(study, tmp_path) != text


def test_a_conclusion_that_the_results_no_longer_have_is_not_written(tmp_path: Path) -> None:
    """SACK's cells with 1 s, below the paper: the README says that SACK is above it."""
    source = studies.folder("ubrplus_1998")
    shutil.copytree(source, tmp_path / "study")
    path = tmp_path / "study" / "results" / "ubrplus-www-text" / "cells.csv"
    lines = path.read_text().splitlines()
    column = lines[0].split(",").index("efficiency_difference")
    for place, line in enumerate(lines):
        fields = line.split(",")
        if fields[:2] == ["WAN", "SACK"] and "1 s" in fields:
            fields[column] = "-0.001"
            lines[place] = ",".join(fields)
    path.write_text("\n".join(lines) + "\n")
    text = " ".join(with_tables(studies.find("ubrplus_1998"), tmp_path / "study").split())
    assert "above the paper in every network" not in text
    assert "SACK differs from the paper by −0.001 to +" in text


COUNTED = re.compile(r"\w*(seeds|pairs) *(>=?|==) *\d+")
"""A condition that more seeds keep true."""


@pytest.mark.parametrize("name", studies.known())
def test_no_new_seed_leaves_a_sentence_without_a_text(name: str) -> None:
    found = sentences.load(studies.folder(name) / sentences.FILE).values()
    single = [one.id for one in found if one.otherwise is None
              for condition in one.only_if if not COUNTED.fullmatch(condition)]  # fmt: skip
    assert not single, "give these sentences the key otherwise, or take away their condition"


def test_a_study_that_is_not_there() -> None:
    assert studies.find(None).id == ""
    for name in ("ubr_1895", "instrument", "../harness", ""):
        with pytest.raises(
            studies.UsageError, match="this study does not exist; the studies are .*ubr_1996, "
        ):
            studies.find(name)
