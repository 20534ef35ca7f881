# SPDX-License-Identifier: GPL-2.0-only
"""A study is one folder: the guide's toy in a copy of the project, of which nothing is edited."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.api.verify import choose
from harness.campaign.lock import locked
from plan.errors import UsageError
from tests.guides import NOT_COPIED, follow
from tests.small import PROJECT

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which the guide was followed."""
    copy: Path = tmp_path_factory.mktemp("toy") / "project"
    shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
    follow(PROJECT / "docs" / "guides" / "extend.md", copy, section="A study")
    return copy


def cellbed(copy: Path, *words: str) -> str:
    done = subprocess.run(
        ["./cellbed", *words], cwd=copy, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_its_responses_stand_beside_what_it_published(project: Path) -> None:
    shown = cellbed(project, "run", "studies/toy/toy.toml").splitlines()
    heads = "buffer seed eff. paper Lost frames paper virt s wall s checks"
    assert shown[0].split() == heads.split()
    small, large = table(project / "results/toy/report/tables/cells.csv")
    assert (small["buffer"], small["efficiency_published"]) == ("10", "0.5")
    assert (large["buffer"], large["efficiency_published"]) == ("300", "1.0")
    assert float(small["lost_frames"]) > 0 and small["lost_frames_published"] == ""


def test_its_claim_is_decided(project: Path) -> None:
    [claim] = table(project / "results/toy/report/tables/claims.csv")
    assert (claim["id"], claim["verdict_seeds"]) == ("larger-is-busier", "holds")
    assert claim["direction"] == "holds"


def test_its_distribution_and_its_page_are_in_the_report(project: Path) -> None:
    text = (project / "results/toy/report/report.md").read_text()
    assert "## A page of its own\n\n2 cells of a toy." in text
    _, large = table(project / "results/toy/report/tables/quantiles-throughput.csv")
    assert large["values"] == "4" and float(large["q50"]) > 1


def test_it_is_kept_and_its_readme_filled(project: Path) -> None:
    folder = project / "studies" / "toy"
    kept = {path.name for path in (folder / "results" / "toy").iterdir()}
    assert kept == {
        "cells.csv", "claims.csv", "manifest.json", "one-draw.csv", "scatter-efficiency.svg",
        "trials.csv",
    }  # fmt: skip
    manifest = json.loads((folder / "results" / "toy" / "manifest.json").read_text())
    assert (manifest["campaign"], manifest["seeds"], manifest["trials"]) == ("toy", [1, 2], 4)
    small = float(table(folder / "results" / "toy" / "cells.csv")[0]["efficiency"])
    assert f"| 10 | {small:.3f} |" in (folder / "README.md").read_text()
    cellbed(project, "study", "tables", "toy", "--check")
    assert "toy" in cellbed(project, "study")


def test_what_is_kept_names_the_commits_that_ran_it(project: Path) -> None:
    path = project / "results" / "toy" / "campaign.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "commits": ["a1", "b2+"]}))
    folder = Path(cellbed(project, "study", "keep", "results/toy").strip())
    assert json.loads((project / folder / "manifest.json").read_text())["commit"] == "a1, b2+"


def test_nothing_is_kept_while_another_process_uses_the_folder(project: Path) -> None:
    """A campaign of another version may judge the trials anew while they are read."""
    with locked(project / "results" / "toy"):
        done = subprocess.run(
            ["./cellbed", "study", "keep", "results/toy"],
            cwd=project,
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 2
    assert "uses this folder; wait until it ends" in done.stderr


def test_one_kept_trial_can_be_chosen(tmp_path: Path) -> None:
    """By its levels and its seed, whatever the draw is."""
    kept = tmp_path / "toy" / "results" / "toy"
    kept.mkdir(parents=True)
    own = "seed,trial,plan,digest,virtual_s,wall_s,ended"
    lines = [f"{case},{who},{seed},x,y,z,1,1,2026" for case in ("one flow", "two") for who in "ab"
             for seed in (1, 2)]  # fmt: skip
    (kept / "trials.csv").write_text("\n".join([f"case,who,{own}", *lines, ""]))

    def drawn(*only: str, seeds: int | None = None) -> list[str]:
        found = choose(tmp_path / "toy", "toy", 9, 1, only, seeds)
        return sorted(line.name for line in found["toy"])

    assert drawn("case=one flow", "who=a", seeds=1) == ["one flow a seed 1"]
    assert len(drawn("case=one flow,two", "who=b")) == 4 and len(drawn(seeds=1)) == 4
    with pytest.raises(UsageError, match="^--only who=c --seeds 1: no kept trial of toy has these"):
        drawn("who=c", seeds=1)
    with pytest.raises(UsageError, match="--only who: write FACTOR=LEVEL"):
        drawn("who")


def test_kept_trials_are_verified(project: Path) -> None:
    """Those of the small buffer too, which get no data through, in another order than they ran."""
    cellbed(project, "study", "keep", "results/toy")
    told = cellbed(project, "study", "verify", "toy", "--sample", "4")
    assert "4 of 4 trials left the digests that are kept" in told
    kept = project / "studies" / "toy" / "results" / "toy" / "trials.csv"
    text = kept.read_text()
    digests = {row["digest"] for row in table(kept)}
    for digest in digests:
        text = text.replace(digest, "0" * len(digest))
    kept.write_text(text)
    told = cellbed(project, "study", "verify", "toy", "--sample", "4")
    assert "0 of 4 trials left the digests that are kept. 4 left all figures, with another" in told
    rows = table(kept)
    rows[0]["efficiency"] = str(float(rows[0]["efficiency"]) + 1e-9)
    with kept.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    done = subprocess.run(
        ["./cellbed", "study", "verify", "toy", "--sample", "4"],
        cwd=project, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.search(
        r"differs in efficiency \(by \S+ of it\); it ran with the same software\n", done.stdout
    )
    assert "0 of 4 trials left the digests that are kept. 3 left all" in done.stdout
    assert "1 left other figures or no record" in done.stdout
