# SPDX-License-Identifier: GPL-2.0-only
"""A paper's sentences in short: each claim is in one topic, and a topic follows its verdicts."""

from pathlib import Path

import pytest

from analysis.claims.topics import FAILS, HOLDS, PART, UNDECIDED, Topic, load, texts
from analysis.errors import TableError

TOPICS = (
    Topic(text="All is well", claims=["a", "b"]),
    Topic(text="All is fast", claims=["c"]),
    Topic(text="All is fair", claims=["d"]),
)


def test_a_topic_stands_where_its_readings_are() -> None:
    found = texts(TOPICS, {"a": HOLDS, "b": HOLDS, "c": FAILS, "d": UNDECIDED}, {"c": "0.1"})
    assert found == {
        HOLDS: "All is well.",
        FAILS: "All is fast (0.1).",
        UNDECIDED: "All is fair.",
        PART: "None.",
    }


def test_a_topic_with_two_verdicts_counts_the_readings_that_hold() -> None:
    found = texts(TOPICS, {"a": HOLDS, "b": UNDECIDED, "c": HOLDS, "d": HOLDS})
    assert found[PART] == "All is well (1 of 2)."
    assert found[HOLDS] == "All is fast. All is fair."


def test_what_was_not_measured_is_left_out() -> None:
    assert texts(TOPICS, {"b": FAILS})[FAILS] == "All is well."
    assert set(texts(TOPICS, {}).values()) == {"None."}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[topic]]\ntext = "A"\nclaims = ["a"]\n', "one topic: b"),
        ('[[topic]]\ntext = "A"\nclaims = ["a", "b", "c"]\n', "one topic: c"),
        ('[[topic]]\ntext = "A"\nclaims = ["a", "b", "a"]\n', "one topic: a"),
        ('[[topic]]\nname = "A"\n', "cannot be read"),
        ("", "cannot be read"),
    ],
    ids=["a claim without a topic", "a topic of no claim", "two places", "a key", "no topic"],
)
def test_a_claim_has_one_topic(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "topics.toml"
    path.write_text(text)
    with pytest.raises(TableError, match=message):
        load(path, ["a", "b"])
