# SPDX-License-Identifier: GPL-2.0-only
"""The table of results at 80 and 100 columns: no number and no level is cut."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from harness.cli.result_table import print_results


def document(seed: int = 1, failed: tuple[str, ...] = (), **factors: Any) -> dict[str, Any]:
    checks = [{"name": f"check {n}", "ok": True} for n in range(10)]
    return {
        "trial": "-".join(map(str, factors.values())),
        "factors": factors,
        "seed": seed,
        "published": {"efficiency": 0.8866, "fairness": 0.9323},
        "responses": {"efficiency": "eff.", "fairness": "fair."},
        "metrics": {"efficiency": 0.94334, "fairness": 1.0},
        "virtual_s": 106.4,
        "wall_s": 1021.2,
        "checks": [*checks, *({"name": name, "ok": False} for name in failed)],
    }


def printed(width: int, *documents: dict[str, Any]) -> list[str]:
    text = io.StringIO()
    print_results(documents, Console(file=text, width=width))
    return [line.rstrip() for line in text.getvalue().splitlines()]


PERSISTENT = {"sources": 5, "buffer": 12_000, "window": 1_800_000, "policy": "EPD-n"}


@pytest.mark.parametrize("width", [80, 100])
def test_six_factors_fit(width: int) -> None:
    """Those of studies/ubr_1996/ubr-persistent.toml."""
    networks = [document(network=n, **PERSISTENT, flavor="Vanilla") for n in ("LAN", "WAN")]
    more = [document(network="LAN", **{**PERSISTENT, key: "x"}, flavor="y") for key in PERSISTENT]
    lines = printed(width, *networks, *more)
    assert max(map(len, lines)) <= width
    rows = [line.split() for line in lines[-6:]]
    assert rows[0][:6] == ["LAN", "5", "12000", "1800000", "EPD-n", "Vanilla"]
    figures = ["0.9433", "0.8866", "1.0000", "0.9323", "106", "1021", "10", "ok"]
    assert all(row[6:] == figures for row in rows)


def test_what_is_common_is_the_title() -> None:
    lines = printed(80, *(document(network="WAN", flavor=f, buffer=0.5) for f in ("A", "B")))
    assert lines[0] == "network WAN, buffer 0.5"
    assert lines[1].split() == "flavor eff. paper fair. paper virt s wall s checks".split()
    assert lines[2].split()[0] == "A" and len(lines) == 4


def test_an_efficiency_above_1_has_its_reason() -> None:
    rows = [document(flavor=flavor) for flavor in ("A", "B")]
    assert "held out of order" not in " ".join(printed(80, *rows))
    rows[1]["metrics"]["efficiency"] = 1.0001
    assert "held out of order" in " ".join(printed(80, *rows))


def test_seeds_are_told_apart() -> None:
    lines = printed(80, *(document(seed, flavor="A") for seed in (1, 2)))
    assert [line.split()[0] for line in lines[:4]] == ["flavor", "seed", "1", "2"]
    [last] = lines[4:]
    assert last.startswith(
        "In the only combination of levels, all seeds left the same figures. Such a combination"
    )


def test_failed_checks_are_named_below() -> None:
    lines = printed(80, document(flavor="A"), document(flavor="B", failed=("drops", "requests")))
    assert lines[1].endswith("10 ok") and lines[2].endswith("2 FAILED")
    assert lines[3:] == ["B: invalid: drops, requests"]


def test_a_level_is_no_markup_and_is_folded_not_cut() -> None:
    level = "[/red]" + "x" * 50
    lines = printed(60, document(flavor=level), document(flavor="B"))
    folded = "".join(line[:13].strip() for line in lines[:-1])
    assert folded.replace("flavor", "") == level and lines[-1].startswith("B ")
    assert all(any(x in line for line in lines) for x in ("0.9433", "0.8866", "10 ok"))


def test_many_factors_make_it_wider_and_cut_nothing() -> None:
    factors = {f"factor{n}": n for n in range(30)}
    other = {f"factor{n}": n + 1 for n in range(30)}
    lines = printed(80, document(**factors), document(**other))
    assert any("0.9433" in line and "10 ok" in line for line in lines)
