# SPDX-License-Identifier: GPL-2.0-only
"""A study is one folder: a toy one in a copy of the project, of which nothing else is edited."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT, TINY

COPIED = ("cellbed", "analysis", "bpf", "harness", "lab", "studies", "tcp-configs", "topology",
          "workload")  # fmt: skip
STUDY = '''
"""Nobody, 1999: two buffers."""

from pathlib import Path

from analysis.study import Response, Study, Summary


def published(levels, plan):
    return {"efficiency": {"10": 0.5, "300": 1.0}[levels["buffer"]]}


def lost(trial):
    frames = trial.document["queue"]["down"]["frames"]
    return frames["in"] - frames["delivered"]


def throughputs(trial):
    return [8e-6 * row["received_bytes"] for row in trial.series("flows")]


STUDY = Study(
    id="toy",
    title="a toy",
    source="Nobody 1999",
    cell={"buffer": ("10", "300")},
    units={"buffer": "cells"},
    responses=(
        Response(name="efficiency", short="eff."),
        Response(name="lost_frames", of=lost, form=",.0f"),
        Response(name="throughput", of=throughputs, unit="Mbit", summary=Summary.DISTRIBUTION),
    ),
    published=published,
    claims=Path(__file__).with_name("claims.toml"),
    pages="studies.toy.pages",
)
'''
CLAIMS = """
[[claim]]
id = "larger-is-busier"
sentence = "A larger buffer keeps the link busier."
source = "page 1"
check = "grows"
where = {}
factor = "buffer"
response = "efficiency"
"""
PAGES = '''
"""One page, one table."""

from analysis.report.model import Column, Section, Sheet
from analysis.report.pages import Pages


def page(results):
    text = f"{len(results.cells)} cells of {results.study.title}."
    return Section(id="toy", title="A page of its own", paragraphs=[text])


def small(kept):
    rows = [[row["buffer"], float(row["efficiency"])] for row in kept.cells("toy").rows]
    columns = [Column(name="buffer", title="buffer"), Column(name="e", title="eff.", form=".3f")]
    return Sheet(name="small", caption="small", columns=columns, rows=rows)


PAGES = Pages(sections=[page], tables={"small": small})
'''
README = """# A toy

<!-- table small -->
<!-- end -->

![](results/toy/scatter-efficiency.svg)
"""
EXPERIMENT = TINY.replace('name = "tiny"', 'name = "toy"\nstudy = "toy"').replace(
    'flavor = ["SACK"]', "buffer = [10, 300]"
) + "".join(
    f"[[rule]]\nwhen = {{ buffer = {cells} }}\nset = {{ queue.buffer_cells = {cells} }}\n"
    for cells in (10, 300)
)
FILES = {
    "__init__.py": "",
    "study.py": STUDY,
    "claims.toml": CLAIMS,
    "pages.py": PAGES,
    "README.md": README,
    "toy.toml": EXPERIMENT,
}
pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the folder, and the campaign run in it."""
    copy: Path = tmp_path_factory.mktemp("toy") / "project"
    copy.mkdir()
    for name in COPIED:
        if (PROJECT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PROJECT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(PROJECT / name, copy / name)
    (copy / "studies" / "toy").mkdir()
    for name, text in FILES.items():
        (copy / "studies" / "toy" / name).write_text(text)
    cellbed(copy, "run", "studies/toy/toy.toml", "--jobs", "1")
    cellbed(copy, "report", "results/toy")
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
    assert shown[0].split() == "buffer eff. paper Lost frames paper virt s wall s checks".split()
    small, large = table(project / "results/toy/report/tables/cells.csv")
    assert (small["buffer"], small["efficiency_published"]) == ("10", "0.5")
    assert (large["buffer"], large["efficiency_published"]) == ("300", "1.0")
    assert float(small["lost_frames"]) > 0 and small["lost_frames_published"] == ""


def test_its_claim_is_decided(project: Path) -> None:
    [claim] = table(project / "results/toy/report/tables/claims.csv")
    assert (claim["id"], claim["verdict_seeds"]) == ("larger-is-busier", "holds")


def test_its_distribution_and_its_page_are_in_the_report(project: Path) -> None:
    text = (project / "results/toy/report/report.md").read_text()
    assert "## A page of its own\n\n2 cells of a toy." in text
    _, large = table(project / "results/toy/report/tables/quantiles-throughput.csv")
    assert large["values"] == "2" and float(large["q50"]) > 1


def test_it_is_kept_and_its_readme_filled(project: Path) -> None:
    folder = project / "studies" / "toy"
    cellbed(project, "study", "keep", "results/toy")
    kept = {path.name for path in (folder / "results" / "toy").iterdir()}
    assert kept == {"cells.csv", "claims.csv", "manifest.json", "scatter-efficiency.svg"}
    manifest = json.loads((folder / "results" / "toy" / "manifest.json").read_text())
    assert (manifest["campaign"], manifest["seeds"], manifest["trials"]) == ("toy", [1], 2)
    cellbed(project, "study", "tables", "toy")
    small = float(table(folder / "results" / "toy" / "cells.csv")[0]["efficiency"])
    assert f"| 10 | {small:.3f} |" in (folder / "README.md").read_text()
    cellbed(project, "study", "tables", "toy", "--check")
    assert "toy" in cellbed(project, "study")
