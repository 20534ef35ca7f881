# SPDX-License-Identifier: GPL-2.0-only
"""Mistakes of people who use the library: each is an error of the library, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cellbed
from harness.judge import judgement
from tests.analysis import synthetic
from tests.small import SMALL

CELLS = {("WAN", "SACK", policy, 1.0): (0.8, 0.7) for policy in ("EPD", "SD")}
TABLE = {
    "name": "small",
    "title": "a small experiment",
    "factors": {"queue.buffer_cells": [250, 500]},
    "base": {
        "topology": {"pairs": 1, "rate_bit_per_s": 10_000_000, "delay_us": 5000, "mss_bytes": 1024},
        "queue": {"policy": "plain"},
        "tcp": {"flavor": "sack", "window_bytes": 65_535, "ssthresh_bytes": 12_500},
        "workload": {"kind": "iperf", "duration_s": 2},
    },
}


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cellbed.Campaign:
    monkeypatch.setattr(judgement, "bring_up_to_date", lambda _: judgement.Judged())
    return cellbed.Campaign(synthetic.write_campaign(tmp_path, seeds=[1], cells=CELLS))


def said(call: Callable[[], Any]) -> str:
    with pytest.raises(cellbed.UsageError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    return text


OF_CAMPAIGN: list[tuple[Callable[[Any], Any], str]] = [
    (lambda c: cellbed.Campaign(None), "folder = None: must be the name of a file or folder"),
    (lambda c: cellbed.Campaign(c), "folder = a Campaign: must be the name"),
    (lambda c: cellbed.judge(5), "folder = 5: must be the name"),
    (lambda c: c.report(5), "out = 5: must be the name"),
    (lambda c: c.trial("EPD"), "levels = 'EPD': must be a dict, such as {"),
    (lambda c: c.trial(polcy="EPD"), "no factor polcy; it must be one of network, flavor, policy, "
     "buffer; did you mean policy?"),
    (lambda c: c.trial(policy="EDP"), "policy has no level EDP; it must be one of EPD, SD; did"),
    (lambda c: c.trial(policy=["EPD"]), "policy = ['EPD']: name one level"),
    (lambda c: c.trial(policy="EPD", seed="1"), "seed = '1': must be a whole number"),
    (lambda c: c.trial(policy="EPD", seed=2), "has 0 valid trials with policy=EPD and seed 2; "
     "the seeds are 1"),
    (lambda c: c.cells("efficency"), "'efficency' is no metric; it must be one of efficiency, "),
    (lambda c: c.cells(["efficiency"]), "['efficiency'] is no metric; it must be one of"),
    (lambda c: cellbed.plot.queue(c), "trial = a Campaign: must be a trial, such as campaign"),
    (lambda c: cellbed.plot.windows(c.trial(policy="EPD"), pairs=1), "pairs = 1: must be a list"),
    (lambda c: cellbed.plot.means("out", "efficiency", along="policy"), "campaign = 'out': must"),
    (lambda c: cellbed.plot.means(c, ["efficiency"], along="policy"), "metric = ['efficiency']: m"),
    (lambda c: cellbed.plot.means(c, "efficiency", along=["policy"]), "along = ['policy']: must"),
    (lambda c: cellbed.plot.queue(c.trial(policy="EPD"), "x"), "axes = 'x': must be axes of mat"),
    *(
        (lambda c, bad=bad: cellbed.plot.windows(c.trial(policy="EPD"), pairs=bad), words)
        for bad, words in (
            (["1"], "pairs = ['1']: must be a list of numbers"),
            ([True], "pairs = [True]: must be a list of numbers"),
            ([1.5], "pairs = [1.5]: must be a list of numbers"),
            ([1, 1], "pairs = [1, 1]: a pair stands twice; name each pair once"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), OF_CAMPAIGN)
def test_of_a_campaign(campaign: cellbed.Campaign, call: Callable[[Any], Any], words: str) -> None:
    assert words in said(lambda: call(campaign))


OF_EXPERIMENT: list[tuple[Callable[[Any], Any], str]] = [
    (lambda e: e.from_file(None), "path = None: must be the name of a file"),
    (lambda e: e.from_text(b"name"), "text = b'name': must be a text (str)"),
    (lambda e: e.from_mapping(SMALL), "table = a str: must be a dict, such as"),
    (lambda e: e.from_mapping({"name": None}), "experiment: name = None: must be a text, a number"),
    (lambda e: e.from_mapping({"base": {1: 2}}), "experiment: base = 1: must be a text (str)"),
    (lambda e: e.from_mapping(TABLE | {"base": {"queue": {"policy": {"epd"}}}}),
     "experiment: base.queue.policy = {'epd'}: must be a text"),
    (lambda e: e.trials(["queue.buffer_cells=250"]), "only = ['queue.buffer_cells=250']: must"),
    (lambda e: e.trials(seeds=0), "seeds = 0: must be a whole number; allowed are 1 to 1000"),
    (lambda e: e.trials(first_seed=0),
     "first_seed = 0: must be a whole number; allowed are 1 to 1000000000"),
    (lambda e: e.run(first_seed="11"), "first_seed = '11': must be a whole number"),
    (lambda e: e.trials(seeds=1.5), "seeds = 1.5: must be a whole number"),
    (lambda e: e.trials(seeds=True), "seeds = True: must be a whole number"),
    (
        lambda e: e.run("out", lab="umll"),
        "lab = 'umll': it must be one of native, uml, vm, vm-arm64; did",
    ),
    (lambda e: e.run("out", clock="fast"), "clock = 'fast': it must be one of virtual, real"),
    (lambda e: e.run("out", jobs=0), "jobs = 0: must be a whole number; allowed are 1 to 256"),
    (lambda e: e.run("out", jobs="2"), "jobs = '2': must be a whole number"),
    (lambda e: e.run("out", pcap="down"), "pcap = 'down': must be a list, such as pcap=['down']"),
    (lambda e: e.run("out", pcap=["left"]), "pcap = 'left': it must be one of down, up"),
    (lambda e: e.run("out", pcap=True), "pcap = True: must be a list"),
    (lambda e: e.run("out", trace="tcp:tcp_probe"), "trace = 'tcp:tcp_probe': must be a list"),
    (lambda e: e.run("out", kernels="6.12"), "kernels = '6.12': must be a list, such as kernels=["),
    (lambda e: e.run("out", debug="kasan"), "debug = 'kasan': must be a list, such as debug=['"),
    (lambda e: e.run("out", trust_kernels="yes"), "trust_kernels = 'yes': must be True or False"),
    (lambda e: e.run("out", progress="no"), "progress = 'no': must be True or False"),
    (lambda e: e.run(5), "out = 5: must be the name of a file or folder"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), OF_EXPERIMENT)
def test_of_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[Any], Any], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    experiment = cellbed.Experiment.from_mapping(TABLE)
    text = said(lambda: call(experiment))
    assert words in text
    assert not list(tmp_path.iterdir())  # nothing was begun


@pytest.mark.parametrize(
    "levels", [(250, 500), range(250, 501, 250), np.array([250, 500]), list(np.array([250, 500]))]
)
def test_levels_of_any_sequence(levels: Any) -> None:
    table = TABLE | {"factors": {"queue.buffer_cells": levels}}
    assert cellbed.Experiment.from_mapping(table).factors == TABLE["factors"]
