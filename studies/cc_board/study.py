# SPDX-License-Identifier: GPL-2.0-only
"""Cases of RFC 9743 (BCP 133) for the senders of Linux, each with one figure and one bound.

The RFC names scenarios and no limits (section 5). claims.toml has the sentence of each case, the
figure, and the bound with its origin; board.py draws the board. What a figure is, is in figures.py.
"""

from __future__ import annotations

from pathlib import Path

from analysis.study import Response, Study
from studies.cc_board import figures

CASES = (
    "one flow", "slow link", "high delay", "shallow buffer", "deep buffer",
    "half a product", "many flows", "silence",
    "equal flows", "late comer", "two round trips", "parking lot",
    "beside Reno 0.5", "beside Reno 4", "beside CUBIC", "beside Reno FQ-CoDel",
    "random loss", "mobile rate", "rate halves", "rate quadruples", "delay triples", "outage",
    "reordering", "PIE", "FQ-CoDel marks", "alone FQ-CoDel",
)  # fmt: skip

ALIKE = (
    "one flow", "slow link", "high delay", "shallow buffer", "deep buffer", "silence",
    "rate halves", "rate quadruples", "delay triples", "outage", "reordering",
    "FQ-CoDel marks", "alone FQ-CoDel",
)  # fmt: skip
"""The cases in which the seed changes little more than the start: one flow, no random path."""

FLAVORS = ("Reno", "CUBIC", "BBR", "BBRv3", "Prague", "DCTCP", "QUIC CUBIC", "aioquic CUBIC")
"""The columns of the board."""

STUDY = Study(
    id="cc_board",
    title="A board of cases for congestion control",
    source="RFC 9743",
    cell={"case": CASES, "flavor": FLAVORS},
    responses=(
        Response(
            name="efficiency", short="eff.", of=figures.efficiency, form=".3f",
            meaning="what newly arrived over what the link could carry in the same time",
        ),
    ),
    measures=(
        Response(
            name="queue_p95_ms", of=figures.queue_p95_ms, form=".1f", unit="ms",
            meaning="the delay of the queue that it exceeds in 5 % of the time",
        ),
        Response(
            name="queue_mean_ms", of=figures.queue_mean_ms, form=".1f", unit="ms",
            meaning="the mean delay of the queue over time",
        ),
        Response(
            name="lost_percent", of=figures.lost_percent, form=".2f", unit="%",
            meaning="the packets that the queue drops, among all that come to it",
        ),
        Response(
            name="sent_in_silence", of=figures.sent_in_silence, form=".1f", unit="segments",
            meaning="segments that a sender sends again from 2 to 10 s after its last feedback",
        ),
        Response(
            name="jain", of=figures.jain, form=".3f",
            meaning="Jain's index of the flows' rates",
        ),
        Response(
            name="fair_after_s", of=figures.fair_after_s, form=".1f", unit="s",
            meaning="from the start of the late comer to the first second in which it has 40 to"
            " 60 % of the bytes",
        ),
        Response(
            name="slower_start", of=figures.slower_start, form=".2f",
            meaning="the time to the first 150 kB of the late comer over that of the first flow",
        ),
        Response(
            name="long_over_short", of=figures.long_over_short, form=".2f",
            meaning="the rate of the flow with 160 ms over that of the flow with 40 ms",
        ),
        Response(
            name="long_share", of=figures.long_share, form=".2f",
            meaning="the rate of the long flow over its max-min fair share",
        ),
        Response(
            name="standard_share", of=figures.standard_share, form=".2f",
            meaning="the rate of the standard sender over half of what the link can carry",
        ),
        Response(
            name="adapted_after_s", of=figures.adapted_after_s, form=".1f", unit="s",
            meaning="from the last change of the path to the first second that fills 90 % of the"
            " link",
        ),
    ),
    about=(
        "Each case is a scenario of RFC 9743. The RFC gives no limits, so the board has its own"
        " bounds, and a verdict is no verdict of the IETF (Internet Engineering Task Force)."
    ),
    claims=Path(__file__).with_name("claims.toml"),
    pages="studies.cc_board.pages",
)  # fmt: skip
