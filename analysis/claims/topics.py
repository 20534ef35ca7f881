# SPDX-License-Identifier: GPL-2.0-only
"""A paper's sentences in short, and which of them hold: for the abstract of a study's README.

studies/ID/topics.toml has a short text for the claims that say the same:

    [[topic]]
    text = "No source starves"
    claims = ["seven-7-no-starvation"]      ids of claims.toml; each claim is in one topic
"""

import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.claims.findings import Verdict
from analysis.errors import TableError

FILE = "topics.toml"
HOLDS, FAILS, UNDECIDED = Verdict.HOLDS.value, Verdict.FAILS.value, Verdict.UNDECIDED.value
PART = "part"
"""What a topic is whose readings have more than one verdict."""
NONE = "None."
NO_FIGURES: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A short text for some claims."""

    text: str
    claims: Sequence[str]


def load(path: Path, claims: Collection[str]) -> tuple[Topic, ...]:
    """The topics in a file; raises TableError unless each claim is in exactly one of them."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        topics = tuple(Topic(**one) for one in document["topic"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TableError(f"the topics in {path} cannot be read: {error}") from None
    counts = Counter(claim for topic in topics for claim in topic.claims)
    wrong = [claim for claim in dict.fromkeys([*claims, *counts])
             if counts[claim] != 1 or claim not in claims]  # fmt: skip
    if wrong:
        raise TableError(f"{path}: each claim must stand in one topic: {', '.join(wrong)}")
    return topics


def texts(
    topics: Sequence[Topic], verdicts: Mapping[str, str], figures: Mapping[str, str] = NO_FIGURES
) -> dict[str, str]:
    """The topics whose readings all hold, all fail, are all undecided, and the others (PART).

    verdicts: of the readings that were measured; a topic without one is left out.
    figures: claim -> what was measured; it stands behind a topic that does not hold.
    """
    found: dict[str, list[str]] = {HOLDS: [], FAILS: [], UNDECIDED: [], PART: []}
    for topic in topics:
        of = [verdicts[claim] for claim in topic.claims if claim in verdicts]
        if of:
            group = of[0] if len(set(of)) == 1 else PART
            found[group].append(topic.text + _behind(topic, of, group, figures))
    return {group: ". ".join(some) + "." if some else NONE for group, some in found.items()}


def _behind(topic: Topic, of: Sequence[str], group: str, figures: Mapping[str, str]) -> str:
    if group == PART:
        return f" ({of.count(HOLDS)} of {len(of)})"
    figure = figures.get(topic.claims[0], "") if len(of) == 1 and group != HOLDS else ""
    return f" ({figure})" if figure else ""
