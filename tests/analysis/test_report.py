# SPDX-License-Identifier: GPL-2.0-only
"""The report: what stands in it, that it needs nothing else, and that all can read it."""

import csv
import html
import json
import math
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest

from analysis import by_pair, plotly_js
from analysis.claims import claims_of
from analysis.errors import RecordError, ReportError
from analysis.records import Trial, read_campaign, read_trial
from analysis.report import (
    Written,
    headings,
    link_plots,
    meanings,
    overview,
    svg,
    trial_plots,
    write_report,
)
from analysis.report.glossary import MEANINGS, OF_QUIC, glossary
from analysis.report.model import Column
from analysis.report.pages import pages_of
from analysis.report.results import results_of
from analysis.report.svg import colour, marker
from analysis.report.trial_plots import _delivered_bytes, _thinned, plots
from analysis.statistics import estimate
from analysis.study import GENERIC, NONE
from studies.kernel_cc.study import STUDY as KERNEL_CC
from studies.ubrplus_1998.study import STUDY
from tests.analysis import synthetic
from tests.small import PROJECT

VOID = {"meta", "link", "br", "img", "hr", "input"}
WAN = {cell: values for cell, values in synthetic.paper_cells().items() if cell[0] == "WAN"}


class Page(HTMLParser):
    """Elements of a page with their attributes; fails on tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


def write(folder: Path, out: Path | None = None) -> Written:
    return write_report(read_campaign(folder), STUDY, out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """WAN, two seeds; one trial has series, one is invalid."""
    found: Path = tmp_path_factory.mktemp("report") / "campaign"
    synthetic.write_campaign(found, cells=WAN, seeds=(1, 2))
    first = found / "trials" / "wan-vanilla-epd-0.5-1"
    synthetic.write_series(first, 531, synthetic.random.Random(1))
    synthetic.write_throughput(first, synthetic.PAIRS)
    record = found / "trials" / "wan-sack-sd-2-2" / "judgement.json"
    document = json.loads(record.read_text())
    failed = {"name": "link rate", "ok": False, "measured": 40.0, "expected": 45.0, "limit": 0.1}
    record.write_text(json.dumps(document | {"valid": False, "checks": [failed]}))
    return found


@pytest.fixture(scope="module")
def written(folder: Path) -> Written:
    return write(folder)


@pytest.fixture(scope="module")
def page(written: Written) -> Page:
    return Page(written.html.read_text())


def rows(written: Written, name: str) -> list[dict[str, str]]:
    with (written.tables / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_page_needs_nothing_else(written: Written, page: Page) -> None:
    for _, attributes in page.elements:
        for name in ("src", "href", "xlink:href", "srcset", "data"):
            target = attributes.get(name)
            assert target is None or target.startswith("#"), target
    text = written.html.read_text()
    assert not page.all("link", "iframe", "object")
    assert not re.search(r"@import|url\((?!#)", text)
    hosts = set(re.findall(r"https?://([^/\"]+)", text))
    assert hosts <= {"www.w3.org"}  # names of XML spaces, never fetched


def test_without_plotly_the_page_has_no_script(
    folder: Path, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(page.all("script")) == 3  # data, library, the report's own
    monkeypatch.setattr(plotly_js, "path", lambda: None)
    plain = Page(write(folder, tmp_path).html.read_text())
    assert not plain.all("script")
    assert len(plain.all("figure")) == len(page.all("figure"))


def test_a_picture_has_what_its_plot_has(folder: Path) -> None:
    """Of the trial with series: each line, its labels and its limits."""
    trial = read_trial(folder / "trials" / "wan-vanilla-epd-0.5-1")
    drawn = {one["title"]: one for plot in plots(trial) if (one := plot.picture)}
    queue, windows = drawn["Queue occupancy"], drawn["Congestion windows"]
    assert queue["across"] == [531] and queue["y"]["title"] == "cells"
    assert max(queue["traces"][0]["y"]) == max(
        row["occupancy_cells"] for row in trial.series("queue") if row["port"] == "down"
    )
    assert [one["name"] for one in windows["traces"]] == ["pair 1", "pair 50", "pair 100"]
    assert {one["shape"] for one in windows["traces"]} == {"hv"}
    drops = drawn["Frames dropped"]["traces"]
    counted = sum(sum(one["y"]) for one in drops)
    assert counted == len([row for row in trial.series("drops") if row["port"] == "down"])
    assert drawn["Request completion time"]["x"]["type"] == "log"


def test_ids_are_unique_and_links_arrive(page: Page) -> None:
    ids = [str(attributes["id"]) for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [
        str(target)[1:]
        for _, attributes in page.elements
        for name in ("href", "xlink:href", "aria-labelledby")
        if (target := attributes.get(name)) and str(target).startswith("#")
    ]
    assert set(targets) <= set(ids)
    assert len(targets) > 100


def test_every_plot_has_a_text_and_every_table_a_caption_and_scopes(page: Page) -> None:
    figures = page.all("figure")
    # own, scatter, heat maps, effects, interactions, a trial
    assert len(figures) == 8 + 2 + 6 + 2 + 6 + 7
    labels = [str(figure["aria-label"]) for figure in figures]
    assert all(len(label) > 40 for label in labels)
    assert len(set(labels)) == len(labels)
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(head["scope"] in ("col", "row") for head in page.all("th"))


def test_headings_go_down_one_level_at_a_time(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:], strict=False))


def test_keyboard_reaches_what_scrolls_and_folds(page: Page) -> None:
    scrolling = [a for _, a in page.elements if a.get("class") == "scroll"]
    assert scrolling
    assert all(attributes["tabindex"] == "0" for attributes in scrolling)
    assert len(page.all("details")) == len(page.all("summary")) == 47


def test_light_and_dark_define_the_same_colours(written: Written) -> None:
    text = written.html.read_text()
    light, dark = (
        set(re.findall(r"(--\w+):", block)) for block in re.findall(r":root \{(.*?)\}", text, re.S)
    )
    assert light == dark
    assert set(re.findall(r"var\((--\w+)\)", text)) <= light


def test_cells_table_has_the_measured_values(written: Written, folder: Path) -> None:
    found = rows(written, "cells-wan")
    assert len(found) == 24
    cell = next(r for r in found if (r["flavor"], r["policy"], r["buffer"]) == ("SACK", "EPD", "1"))
    trials = [t for t in read_campaign(folder).trials if t.name.startswith("wan-sack-epd-1-")]
    measured = [trial.metrics["efficiency"] for trial in trials]
    assert float(cell["efficiency"]) == pytest.approx(np.mean(measured))
    assert cell["efficiency_published"] == "0.8948"
    assert float(cell["efficiency_difference"]) == pytest.approx(np.mean(measured) - 0.8948)
    single = next(
        r for r in found if (r["flavor"], r["policy"], r["buffer"]) == ("SACK", "SD", "2")
    )
    assert single["seeds"] == "1"
    assert single["efficiency_half_width"] == ""  # missing is empty, not 0


def test_tables_are_there(written: Written) -> None:
    names = {path.stem for path in written.tables.iterdir()}
    assert names == {
        "distances", "cells-wan", "every-cell", "anova-wan", "effects-wan", "claims", "trials",
        "left-out", "glossary", "glossary-checks", "predictions", "predicted-literal-wan",
        "predicted-model-wan",
        "side-by-side-wan", "one-draw",
    }  # fmt: skip
    assert len(rows(written, "claims")) == len(claims_of(STUDY, pages_of(STUDY).checks))
    assert len(rows(written, "trials")) == 47
    flavor = next(r for r in rows(written, "anova-wan") if r["component"] == "flavor")
    assert float(flavor["published_percent"]) == pytest.approx(57.50, abs=0.005)


def test_what_does_not_count_is_listed_with_its_reason(written: Written) -> None:
    [left_out] = rows(written, "left-out")
    assert left_out["trial"] == "wan-sack-sd-2-2"
    assert left_out["reason"].startswith("link rate: 40.0")


def test_markdown_has_the_same_and_its_plots_exist(written: Written) -> None:
    text = written.markdown.read_text()
    links = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", text)
    assert len(links) == 24
    assert all((written.markdown.parent / target).is_file() for _, target in links)
    assert "| Vanilla | EPD | 0.5 | 2 |" in text
    claims = rows(written, "claims")
    verdicts = [row["verdict_cell_means"] for row in claims]
    told = [row[kind] for row in claims for kind in ("verdict_cell_means", "direction", "size")]
    for verdict in ("holds", "does not hold"):
        assert text.count(f"**{verdict}**") == told.count(verdict) > 0
    assert verdicts.count("undecided") >= 32  # those of MEO, GEO and over the networks
    assert text.count("**undecided**") < told.count("undecided")  # one sentence tells of the others
    assert re.search(
        rf"has 24 of the 72 combinations .* decides \d+ of {len(claims)} claims; the other \d+ ",
        text,
    )
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert len(tables) > 100


def test_figures_stand_alone(written: Written) -> None:
    for path in written.figures.iterdir():
        text = path.read_text()
        assert "var(" not in text
        assert text.startswith("<?xml")
        assert "#010101" not in text  # no placeholder left


def test_report_is_the_same_twice(folder: Path, written: Written, tmp_path: Path) -> None:
    again = write(folder, tmp_path / "again")
    assert again.html.read_text() == written.html.read_text()


def test_out_of_what_cannot_be_written_or_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="file.* cannot be written: "):
        write(folder, tmp_path / "file")
    with pytest.raises(RecordError, match="does not exist; name a folder"):
        write(tmp_path / "none")


@pytest.mark.parametrize(
    ("keep", "absent", "present"),
    [
        (lambda cell: cell[1] != "SACK", (), ("anova", "claims")),
        (lambda cell: cell != ("WAN", "SACK", "SD", 2), ("effects-wan",), ("claims",)),
        (lambda cell: cell == ("WAN", "SACK", "SD", 2), ("effects-wan",), ("cells-wan",)),
    ],
)
def test_a_campaign_that_is_not_whole(
    tmp_path: Path,
    keep: Callable[[Any], bool],
    absent: tuple[str, ...],
    present: tuple[str, ...],
) -> None:
    cells = {cell: values for cell, values in WAN.items() if keep(cell)}
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1])
    written = write(tmp_path)
    ids = {attributes.get("id") for _, attributes in Page(written.html.read_text()).elements}
    assert set(present) <= ids
    assert not {f"{name}.csv" for name in absent} & {p.name for p in written.tables.iterdir()}


def test_a_campaign_of_other_factors_has_its_trials(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, cells=dict(list(WAN.items())[:2]), seeds=[1])
    for path in (tmp_path / "trials").glob("*/trial.json"):
        document = json.loads(path.read_text())
        factors = {"network": "LAN", "epd": document["factors"]["buffer"]}
        path.write_text(json.dumps(document | {"factors": factors}))
        judgement = path.with_name("judgement.json")
        judgement.write_text(json.dumps(json.loads(judgement.read_text()) | {"published": {}}))
    written = write(tmp_path)
    assert len(rows(written, "trials")) == 2
    assert "does not have the design of 98-0876R1" in html.unescape(written.html.read_text())
    assert [row["epd"] for row in rows(written, "cells")] == ["0.5", "1"]
    assert not (written.tables / "claims.csv").exists()


def test_without_a_study_it_says_who_is_first_and_has_nothing_published(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, cells=dict(list(WAN.items())[:2]), seeds=[1])
    written = write_report(read_campaign(tmp_path))
    assert not [name for name in rows(written, "cells")[0] if "published" in name]
    text = html.unescape(written.html.read_text())
    found = sorted(rows(written, "cells"), key=lambda row: float(row["efficiency"]))
    least, most = (f"{float(row['efficiency']):.4f}" for row in (found[0], found[-1]))
    assert re.search(f"Efficiency lies between {least} \\(.+\\) and {most} \\(.+\\)", text)
    assert "mean over the seeds, without an interval" in text and "± half of its" not in text


def test_means_that_are_printed_alike_are_one_sentence(tmp_path: Path) -> None:
    alike = dict.fromkeys(list(WAN)[:2], (0.9, 0.8))
    synthetic.write_campaign(tmp_path, cells=alike, seeds=[1], noise=0)
    text = html.unescape(write_report(read_campaign(tmp_path)).html.read_text())
    assert "Efficiency is 0.9000 in all combinations of levels." in text


def test_a_campaign_without_a_valid_trial_says_so(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, cells=dict(list(WAN.items())[:1]), seeds=[1])
    [path] = (tmp_path / "trials").glob("*/judgement.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"valid": False}))
    written = write(tmp_path)
    assert "No trial is valid" in written.html.read_text()
    assert len(rows(written, "left-out")) == 1


def test_the_receivers_kernel_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    synthetic.write_campaign(folder, cells=dict([*WAN.items()][:1]), seeds=(1,))
    [path] = folder.glob("trials/*/lab.json")
    document = json.loads(path.read_text())
    text = "The receivers' lab (lab.receiver_kernel):"
    assert text not in write(folder).markdown.read_text()
    receivers = {"versions": {"kernel": "6.1.192"}, "unknown_sysctls": []}
    path.write_text(json.dumps(document | {"receivers": receivers}))
    assert f"{text}\nkernel: 6.1.192" in write(folder).markdown.read_text()


@pytest.mark.parametrize(("efficiency", "told"), [(1.0, False), (1.01, True)])
def test_an_efficiency_above_1_has_its_reason(
    tmp_path: Path, efficiency: float, told: bool
) -> None:
    folder = synthetic.write_campaign(tmp_path / "made", seeds=(1,))
    judgement = min(folder.glob("trials/*/judgement.json"))
    document = json.loads(judgement.read_text())
    document["metrics"]["efficiency"] = efficiency
    judgement.write_text(json.dumps(document))
    text = write_report(read_campaign(folder), STUDY).markdown.read_text()
    assert ("held out of order" in " ".join(text.split())) == told


def test_variants_have_their_effects(tmp_path: Path) -> None:
    some = dict(list(WAN.items())[:2])
    extra = [{"idle": "keep"}, {"idle": "restart", "more": 1}]
    synthetic.write_campaign(
        tmp_path, cells=some, seeds=[1], noise=0, shift=0.01, extra_factors=extra
    )
    written = write(tmp_path)
    found = rows(written, "variants")
    assert "in WAN idle=restart, +0.010" in written.html.read_text()
    assert [row["variant"] for row in found] == ["idle=keep", "idle=restart"]
    assert float(found[1]["efficiency_effect"]) == pytest.approx(0.01)
    assert float(found[1]["efficiency_distance"]) == pytest.approx(0.02)


def without_fairness(folder: Path, glob: str) -> None:
    """As where nobody received anything."""
    for path in (folder / "trials").glob(f"{glob}/judgement.json"):
        document = json.loads(path.read_text())
        document["metrics"] |= {"efficiency": 0.0, "fairness": None}
        path.write_text(json.dumps(document))


def test_where_nobody_received_anything_fairness_is_a_dash(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, cells=WAN, seeds=[1, 2])
    without_fairness(tmp_path, "wan-sack-epd-1-*")
    without_fairness(tmp_path, "wan-sack-sd-1-2")
    written = write(tmp_path)
    lines = written.markdown.read_text().splitlines()
    [starved] = [line for line in lines if line.startswith("| SACK | EPD | 1 | 2 | 0.0000 |")]
    assert starved.endswith("| – | – | 0.8760 | – |")
    found = {(r["flavor"], r["policy"], r["buffer"]): r for r in rows(written, "cells-wan")}
    assert found["SACK", "EPD", "1"]["fairness"] == ""
    half = found["SACK", "SD", "1"]
    one = next(t for t in read_campaign(tmp_path).trials if t.name == "wan-sack-sd-1-1")
    assert float(half["fairness"]) == one.metrics["fairness"]  # the other has none
    assert half["fairness_half_width"] == ""
    assert {row["response"] for row in rows(written, "anova-wan")} == {"efficiency"}
    assert "nan" not in re.findall(r"[\w.]+", " ".join(alts(written)))


def alts(written: Written) -> list[str]:
    return re.findall(r"!\[([^\]]+)\]", written.markdown.read_text())


@pytest.mark.filterwarnings("error")
def test_a_campaign_without_any_fairness_has_its_report(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, cells=WAN, seeds=[1])
    without_fairness(tmp_path, "*")
    assert {row["fairness"] for row in rows(write(tmp_path), "cells-wan")} == {""}


def test_a_variant_without_fairness_keeps_its_efficiency(tmp_path: Path) -> None:
    extra = [{"idle": "keep"}, {"idle": "starve", "more": 1}]
    synthetic.write_campaign(tmp_path, cells=WAN, seeds=[1], extra_factors=extra)
    without_fairness(tmp_path, "*-starve-*")
    _, starved = rows(write(tmp_path), "variants")
    assert (starved["variant"], starved["cells"]) == ("idle=starve", "24")
    assert float(starved["efficiency_mean"]) == 0
    assert {starved[f"fairness_{name}"] for name in ("mean", "effect", "distance")} == {""}


def test_more_flavors_than_colours(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, cells=WAN, seeds=[1])
    for path in (tmp_path / "trials").glob("*-sack-*/trial.json"):
        document = json.loads(path.read_text())
        for name in ("CUBIC", "BBR"):
            factors = document["factors"] | {"flavor": name}
            more = {"trial": f"{document['trial']}-{name}", "factors": factors}
            folder = shutil.copytree(path.parent, path.parent.with_name(more["trial"]))
            (folder / "trial.json").write_text(json.dumps(document | more))
    written = write(tmp_path)
    looks = {(colour(place), marker(place)) for place in range(25)}
    assert len(looks) == 25
    assert "BBR" in (written.figures / "interaction-wan-fairness-flavor-buffer.svg").read_text()


def test_a_trial_draws_what_it_recorded(folder: Path, tmp_path: Path) -> None:
    trial = next(t for t in read_campaign(folder).trials if t.name == "wan-vanilla-epd-0.5-1")
    drawn = {plot.name.rsplit("-", 1)[1]: plot for plot in plots(trial)}
    series = ["queue", "drops", "throughput", "pairs", "windows", "completion", "shares"]
    assert list(drawn) == series
    assert "the dashed line is the buffer of 531" in drawn["queue"].alt
    assert " by epd" in drawn["drops"].alt
    other = next(t for t in read_campaign(folder).trials if t.name != trial.name)
    assert plots(other) == []


def test_a_queue_of_cells_has_no_picture_of_links(folder: Path) -> None:
    trial = read_trial(folder / "trials" / "wan-vanilla-epd-0.5-1")
    rows = [{"port": "down", "time_ns": 0.0, "occupancy_cells": 3.0}]
    sampled = SimpleNamespace(plan=trial.plan, series=lambda name: rows)
    unnamed: Any = sampled
    assert link_plots.queues(unnamed) is None


def test_throughput_by_pair(folder: Path, tmp_path: Path) -> None:
    """Of few pairs a line each, of many three; the first half second is empty."""
    trial = read_trial(folder / "trials" / "wan-vanilla-epd-0.5-1")
    many = pairs_of(trial)
    assert list(many) == ["largest", "median", "smallest"]
    assert [one["y"][0] for one in many.values()] == [0, 0, 0]
    assert [one["y"][1] for one in many.values()] == pytest.approx([1.6, 0.808, 0.016])
    few = shutil.copytree(trial.folder, tmp_path / "few")
    synthetic.write_throughput(few, 2)
    found = pairs_of(read_trial(few))
    assert list(found) == ["pair 1", "pair 2"]
    assert len(found["pair 2"]["x"]) == 2 * synthetic.DURATION_S + 1
    assert found["pair 2"]["y"][-1] == pytest.approx(0.032)


def pairs_of(trial: Trial) -> dict[str, Any]:
    """Its lines by name."""
    (seen,) = [one for plot in plots(trial) if (one := plot.picture)
               and one["title"] == "Throughput by pair"]  # fmt: skip
    return {one["name"]: one for one in seen["traces"]}


def test_throughput_by_pair_ends_with_the_workload(folder: Path, tmp_path: Path) -> None:
    """What a source still holds after the end is not drawn: its bin would look like a drop."""
    source = read_trial(folder / "trials" / "wan-vanilla-epd-0.5-1")
    copied = shutil.copytree(source.folder, tmp_path / "longer")
    synthetic.write_throughput(copied, 2)
    before = pairs_of(read_trial(copied))
    with (copied / "throughput.csv").open("a") as file:
        for pair in (1, 2):
            file.write(f"{(synthetic.DURATION_S + 1) * 10**9},{pair},999999999\n")
    assert pairs_of(read_trial(copied)) == before


def test_no_interval_has_no_error_bar() -> None:
    one, several = estimate([0.5]), estimate([0.4, 0.6])
    assert svg.bars([one, one]) is None
    found = svg.bars([one, several])
    assert found and math.isnan(found[0]) and found[1] == several.half_width


def test_rates_of_many_moments_are_of_fewer() -> None:
    moments, total = np.arange(0, 10.5, 0.5), np.arange(0, 21)[:, None] * [125_000, 250_000]
    found = by_pair.rates(moments, total, most=10)
    assert found
    kept, rate = found
    assert kept.tolist() == [0, 2.5, 5, 7.5, 10]
    assert rate == pytest.approx(np.tile([2, 4], (4, 1)))
    assert by_pair.rates(moments[:1], total[:1], most=10) is None


def test_delivered_bytes_are_conserved() -> None:
    begin, end = np.array([0.2, 3.5, 5.0]), np.array([2.7, 3.5, 9.0])
    size = np.array([1000.0, 10.0, 400.0])
    delivered = _delivered_bytes(begin, end, size, np.arange(0, 11))
    assert delivered.sum() == pytest.approx(1410)
    assert delivered[0] == pytest.approx(1000 * 0.8 / 2.5)
    assert delivered[3] == pytest.approx(10, rel=1e-3)
    assert delivered[5:9] == pytest.approx([100] * 4)


def test_thinning_keeps_the_peaks() -> None:
    x = np.arange(10_000.0)
    y = np.zeros(10_000)
    y[4321] = 7
    thin_x, thin_y = _thinned(x, y)
    assert len(thin_x) <= 302
    assert 4321 in thin_x
    assert thin_y.max() == 7


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("+.4f", -0.5, "−0.5000"),
        ("+.4f", -0.00001, "0.0000"),
        ("d", 0, "0"),
        (",.0f", 37801476.6, "37,801,477"),
        (".4f", None, "–"),
        ("", "SACK-1", "SACK-1"),
        (".6g", "yes", "yes"),
    ],
)
def test_how_values_read(form: str, value: Any, text: str) -> None:
    assert Column(name="x", title="x", form=form).text(value) == text


@pytest.mark.parametrize(
    ("values", "begin"),
    [
        ((0.50, 0.90), 0.0),  # the effect is large: the axis begins at 0
        ((0.88, 0.90), 0.72),  # all in the upper fifth
        ((0.0, 0.0), 0.0),
        ((-0.1, 0.9), None),  # as its values
    ],
)
def test_where_an_axis_begins(
    tmp_path: Path, values: tuple[float, float], begin: float | None
) -> None:
    """At 0, or at 80 % of the largest value where no value is below that."""
    cells = {cell: (value, 0.9) for cell, value in zip(list(WAN)[:2], values, strict=True)}
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1], noise=0)
    results = results_of(read_campaign(tmp_path), NONE, {})
    found = overview.axis_begin(results, GENERIC[0])
    assert found == (None if begin is None else pytest.approx(begin))


def test_an_axis_that_does_not_begin_at_0_says_so(tmp_path: Path) -> None:
    cells = {cell: (value, 0.5) for cell, value in zip(list(WAN)[:2], (0.88, 0.9), strict=True)}
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1], noise=0)
    written = write(tmp_path)
    [figure] = [path.read_text() for path in written.figures.glob("overview-efficiency*.svg")]
    assert "Efficiency (axis begins at 0.72)" in figure


def test_a_factor_is_in_words_in_headings_and_on_axes() -> None:
    key = "queue.buffer_cells"
    assert headings.heading(NONE, key) == "Buffer (cells)"
    assert headings.along(NONE, key, [key, "queue.policy"]) == "buffer (cells)"
    assert headings.heading(NONE, "queue.policy") == "Policy"
    alike = [key, "topology.access.buffer_cells"]  # two with one word keep their keys
    assert [headings.heading(NONE, one, alike) for one in alike] == alike
    assert headings.along(NONE, key, alike) == key
    assert headings.heading(STUDY, "buffer") == "Buffer (RTT)"
    assert headings.along(STUDY, "buffer") == "buffer (RTT)"


def test_the_glossary_has_the_counters_of_the_queues(written: Written) -> None:
    terms = {row["column"] for row in rows(written, "glossary")}
    assert {"in", "refused threshold"} <= terms  # those of the made-up record
    found = glossary(["dropped_share"], ["lost_first", "lost_mid"])
    assert [row[0] for row in found.rows][:3] == ["Dropped share", "lost first", "lost mid"]


def test_the_words_of_quic_are_not_those_of_tcp() -> None:
    """Its data are no payload of TCP, and its windows are counted in packets."""
    for name in OF_QUIC:
        [plain], [more] = (glossary([name], quic=quic).rows[:1] for quic in (False, True))
        assert plain[1] == MEANINGS[name] and str(more[1]).startswith(f"{MEANINGS[name]}; ")
    row = {"pair": 1.0, "time_ns": 0.0, "cwnd_bytes": 14_520.0, "cwnd_segments": 10.0}
    plan = SimpleNamespace(topology=SimpleNamespace(mss_bytes=1440, pairs=1))
    for series, unit in (("cwnd", "segments"), ("quic_cwnd", "full packets")):
        known = {series: [row, {**row, "time_ns": 1e9}]}
        drawing = trial_plots.windows(cast(Trial, SimpleNamespace(series=known.get, plan=plan)))
        assert drawing and drawing.alt.endswith(f"Largest: pair 1 10 {unit}.")
        axes = Mock()
        drawing.paint(axes)
        assert axes.set.call_args.kwargs["ylabel"] == unit


def test_the_glossary_has_the_factors_and_the_checks(written: Written) -> None:
    terms = {row["column"]: row["meaning"] for row in rows(written, "glossary")}
    assert terms["buffer"].startswith("a factor of this experiment")
    meaning = {row["check"]: row["meaning"] for row in rows(written, "glossary-checks")}
    assert meaning["link rate"].startswith("the rate of the link")
    assert "came to a queue" in meanings.of_check("conservation up link1")
    assert meanings.of_check("queue limit link1") != meanings.of_check("queue faults")
    assert meanings.of_key("queue.buffer_cells") == "K, the size of the buffer in cells"
    assert meanings.of_key("queue.no_such_key") == meanings.of_key("buffer") == ""


def test_each_check_of_a_trial_has_a_meaning() -> None:
    """By the names in the code of the checks."""
    code = [*(PROJECT / "harness" / "judge").rglob("*.py"), *(PROJECT / "workload").rglob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in code)
    names = set(re.findall(r'\bcheck\(\s*f?"([^"{]+)', text))
    names |= set(re.findall(r'\bfarthest\(lab, "\w+", "([^"]+)"\)', text))
    assert len(names) > 30
    assert [name for name in sorted(names) if not meanings.of_check(name.strip())] == []


def test_a_report_without_a_valid_trial(folder: Path, tmp_path: Path) -> None:
    """It has sentences in place of empty tables, and none of Python's words."""
    copy = tmp_path / "none valid"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("report"))
    why = "KeyError: the record has no 'counters'"
    failed = {"name": "figures", "ok": False, "measured": None, "limit": 0, "why": why}
    for path in (copy / "trials").glob("*/judgement.json"):
        document = json.loads(path.read_text()) | {"valid": False, "checks": [failed]}
        path.write_text(json.dumps(document))
    text = write_report(read_campaign(copy), NONE).markdown.read_text()
    assert "No trial is valid, so there is nothing to analyse yet." in text
    assert "figures: could not be measured, because the record has no 'counters'" in text
    assert "KeyError" not in text and "None" not in text and "## Results" not in text
    lines = text.splitlines()
    rules = [at for at, line in enumerate(lines) if line.startswith("| ---")]
    assert rules and all(lines[at + 1].startswith("| ") for at in rules)


def test_the_glossary_has_the_measures_of_a_study() -> None:
    """A study says of each measure of its own what it means."""
    measures = {one.name for one in (*KERNEL_CC.responses, *KERNEL_CC.measures)}
    assert measures <= {*MEANINGS, *KERNEL_CC.meanings}
    rows = glossary(sorted(measures), study=KERNEL_CC.meanings).rows
    assert {"Queue delay ms", "Segments per ack"} <= {str(row[0]) for row in rows}


def test_a_scatter_is_titled_by_what_it_compares(written: Written) -> None:
    figure = (written.figures / "scatter-efficiency.svg").read_text()
    assert "Efficiency: measured over published" in figure
