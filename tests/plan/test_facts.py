# SPDX-License-Identifier: GPL-2.0-only
"""What a lab counted, typed: absent values, wrong ones, and names that no value has."""

from __future__ import annotations

import pytest

from plan.facts import NotRecordedError, TrialFacts, read
from plan.schema import TypedError


def test_an_absent_value_says_so_by_its_name() -> None:
    facts = read(TrialFacts, {"source": {"offered": 9}, "realtime": None})
    assert (facts.source.offered, facts.exact) == (9, True)
    with pytest.raises(NotRecordedError, match=r"the record has no source\.answered"):
        _ = facts.source.answered
    with pytest.raises(NotRecordedError, match="the record has no links"):
        _ = facts.links


def test_a_value_of_another_type_is_refused_by_its_place() -> None:
    with pytest.raises(TypedError, match=r'^source\.offered = "9": must be a whole number$'):
        read(TrialFacts, {"source": {"offered": "9"}})


def test_a_misspelt_name_is_no_absent_value() -> None:
    with pytest.raises(AttributeError, match="TrialFacts has no virtuals_s"):
        read(TrialFacts, {}).has("virtuals_s")
