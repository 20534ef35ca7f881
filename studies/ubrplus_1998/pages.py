# SPDX-License-Identifier: GPL-2.0-only
"""What its report has beside the generic one: heat maps of each network's cells."""

from collections.abc import Sequence

from analysis.report import plots
from analysis.report.model import Gallery
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.ubrplus_1998 import (
    beside_model,
    differences,
    open_numbers,
    pooling,
    sensitivity,
    served,
    verdicts,
    witnesses,
)
from studies.ubrplus_1998.abstract import abstract
from studies.ubrplus_1998.checks import CHECKS
from studies.ubrplus_1998.ns3 import tables as ns3_tables
from studies.ubrplus_1998.numbers import NUMBERS
from studies.ubrplus_1998.readme import TABLES
from studies.ubrplus_1998.side_by_side import side_by_side


def heat_maps(results: Results, network: str) -> Sequence[Gallery]:
    """Measured, published and difference, policies and flavors over buffers."""
    return [
        Gallery(plots=drawn)
        for response in results.study.means
        if (drawn := plots.heat_maps(results, network, response.name, ROWS, "buffer"))
    ]


ROWS = ("policy", "flavor")
KEPT = ("predictions", "claims-by-variant")
SENTENCES = {
    **NUMBERS,
    **open_numbers.NUMBERS,
    **differences.NUMBERS,
    "abstract": abstract,
    "ways": verdicts.ways,
    "altered": verdicts.altered,
    "pooling": pooling.pooling,
    "served": served.served,
    "model": witnesses.kept_seeds,
    "kernel-model": beside_model.numbers,
    "away": beside_model.away,
    "ns-3": ns3_tables.numbers,
    "sensitivity": sensitivity.numbers,
    "sensitivity-meo": lambda kept: sensitivity.numbers_of(kept, "MEO"),
    "sensitivity-geo": lambda kept: sensitivity.numbers_of(kept, "GEO"),
}
PAGES = Pages(
    sections=[side_by_side],
    panels=[heat_maps],
    checks=CHECKS,
    tables=TABLES,
    numbers=SENTENCES,
    kept=KEPT,
)
