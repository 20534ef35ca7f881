# SPDX-License-Identifier: GPL-2.0-only
"""The published tables are whole and found under any spelling of a level."""

import pytest

from analysis import published
from analysis.errors import TableError


def test_all_72_cells_are_there() -> None:
    cells = published.paper_cells()
    assert len(cells) == 72
    assert {network for network, *_ in cells} == {"WAN", "MEO", "GEO"}


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        (("WAN", "Vanilla", "EPD", 0.5), (0.4245, 0.5993)),
        (("wan", "vanilla", "epd", "0.5"), (0.4245, 0.5993)),
        (("GEO", "SACK", "SD", 2), (0.9207, 0.9365)),
        (("WAN", "Cubic", "EPD", 0.5), None),
        (("WAN", "SACK", "EPD", 3), None),
        (("WAN", "SACK", "EPD", "large"), None),
    ],
)
def test_lookup(cell: tuple, values: tuple[float, float] | None) -> None:  # type: ignore[type-arg]
    assert published.paper(*cell) == values


def test_unknown_table_names_the_known_ones() -> None:
    with pytest.raises(TableError, match="ubr_1996_results, ubrplus_1998_allocation"):
        published.read_table("none")


def test_all_20_rows_of_1996_are_there() -> None:
    cells = published.persistent_cells()
    assert len(cells) == 20
    assert {network for network, *_ in cells} == {"LAN", "WAN"}
    assert sum(policy == "EPD" for _, policy, _, _ in cells) == 8


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        (("LAN", "plain", 1000, 65_535), (0.20, 0.38)),
        (("LAN", "EPD", 1000, 65_535), (0.30, 0.52)),
        (("WAN", "plain", 36_000, 360_000), (0.96, 1.00)),  # N/A in the paper
        (("WAN", "EPD", 36_000, 360_000), None),
        (("LAN", "EPD-n", 1000, 65_535), None),
    ],
)
def test_rows_of_1996(
    cell: tuple[str, str, int, int], values: tuple[float, float] | None
) -> None:
    assert published.paper_persistent(*cell) == values
