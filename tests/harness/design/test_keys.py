# SPDX-License-Identifier: GPL-2.0-only
"""The tables of keys in docs/experiments.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from harness.design import keys, listed
from plan.schema import Within


def test_the_page_has_the_keys_that_are_read() -> None:
    """If not: python3 -m harness.design.keys."""
    text = keys.PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- keys -->") == 1
    assert keys.page(text) == text


def test_each_kind_and_each_policy_is_there() -> None:
    tables = keys.tables()
    kinds = (*keys.plan.QUEUES.kinds, *keys.plan.WORKLOADS.kinds)
    assert all(f'`kind = "{kind}"`' in tables for kind in kinds)
    assert all(name in tables for name in (*listed.POLICIES(), *listed.flavors.names()))


@dataclass(frozen=True, kw_only=True)
class Told:
    much: Annotated[int, Within(1, 25_000), "how much"] = 2_000


@dataclass(frozen=True, kw_only=True)
class Untold:
    name: str = ""


def test_a_row_has_default_range_and_text() -> None:
    assert keys.of_class("made", Told) == [
        ("`made.much`", "2,000", "whole, 1 to 25,000", "how much")
    ]


def test_a_key_without_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"made.name: its type has no text"):
        keys.of_class("made", Untold)
