# SPDX-License-Identifier: GPL-2.0-only
"""`cellbed flavors` and `cellbed flavors check`: what a flavor is, and what it does.

The check loses 1, 2, 3 and 4 segments of one window, those of Fall & Floyd, "Simulation-
based Comparisons of Tahoe, Reno and SACK TCP" (CCR, July 1996, figures 2 to 5), on a
10 Mbit/s path of 101 ms, and compares what the sender does with what the paper says.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

from harness.exact_loss.host import LABS as LABS
from harness.exact_loss.host import Outcome, Sending, run_connections
from harness.exact_loss.job import Connection, Link
from harness.flavors import files as flavors
from harness.flavors.files import Flavor
from harness.waiting import Told, silent
from plan.errors import UsageError

WIDTH = 80
LINK = Link()
SEGMENTS = 80
HEADER_BYTES = 40
TIMESTAMP_BYTES = 12
# An ACK and what is sent on it are apart by the host's own time, which virtual time
# makes microseconds; timers are 1 ms apart.
SAME_MOMENT_S = 0.001


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Segments of one window that are lost, each at its first sending."""

    name: str
    lost: tuple[int, ...]


SCENARIOS = (
    Scenario(name="one loss", lost=(14,)),
    Scenario(name="two losses", lost=(14, 28)),
    Scenario(name="three losses", lost=(14, 26, 28)),
    Scenario(name="four losses", lost=(14, 24, 26, 28)),
)
# The diagram that tells all four flavors apart.
PLOTTED = SCENARIOS[2]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Is it as the literature says? ok is None when the literature says nothing."""

    ok: bool | None
    expected: str
    found: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """One flavor in one scenario."""

    flavor: Flavor
    scenario: Scenario
    outcome: Outcome
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a time sequence: what happened at the sender from a moment on."""

    time_s: float
    text: str


def check_flavors(
    names: Sequence[str] = (),
    parameters: Mapping[str, object] = MappingProxyType({}),
    lost: Sequence[int] = (),
    told: Told = silent,
    lab: str = LABS[0],
) -> list[Case]:
    """Run the scenarios in a lab, for some flavors or for the four of 98-0876R1.

    Args:
        parameters: of the module, other than the flavors' files say.
        lost: segments that are lost at their first sending, in place of the scenarios.
        told: hears how many of the scenarios have ended.
        lab: "uml", or "vm" with Debian's own kernel.

    The literature has a rule for the files' senders and for the scenarios only.

    Raises:
        UsageError: no such flavor or parameter, or a wrong file.
        LabError, MissingError: the lab did not do it.
    """
    chosen = [
        flavors.load(name).with_parameters(parameters, "--set") for name in names or tuple(RULES)
    ]
    scenarios = (chosen_losses(lost),) if lost else SCENARIOS
    pairs = [(flavor, scenario) for flavor in chosen for scenario in scenarios]
    known = not parameters and not lost
    outcomes = run_connections([_connection(*pair) for pair in pairs], LINK, told, lab)
    return [
        Case(flavor=f, scenario=s, outcome=o, verdict=verdict_of(f, s, o, known=known))
        for (f, s), o in zip(pairs, outcomes, strict=True)
    ]


def chosen_losses(lost: Sequence[int]) -> Scenario:
    """Losses of one's own choice; UsageError for segments that there are not."""
    wrong = [segment for segment in lost if not 0 <= segment < SEGMENTS]
    if wrong or len(set(lost)) < len(lost):
        raise UsageError(f"--lose: name segments from 0 to {SEGMENTS - 1}, each only once")
    return Scenario(name="chosen losses", lost=tuple(sorted(lost)))


def passed(cases: Sequence[Case]) -> bool:
    """Nothing contradicts the literature."""
    return all(c.verdict.ok is not False for c in cases)


def _connection(flavor: Flavor, scenario: Scenario) -> Connection:
    payload = LINK.mtu_bytes - HEADER_BYTES
    if flavor.sysctl.get("tcp_timestamps"):
        payload -= TIMESTAMP_BYTES
    route = flavor.route["server"]
    initcwnd = route.get("initcwnd")
    return Connection(
        id=f"{flavor.name}: {scenario.name}",
        flavor=flavor.for_hosts(),
        payload_bytes=payload,
        writes=[(0, SEGMENTS * payload)],
        initcwnd=int(initcwnd) if initcwnd is not None else None,
        ssthresh=_ssthresh(route.get("ssthresh"), payload),
        drops={segment: [0] for segment in scenario.lost},
    )


def _ssthresh(value: flavors.Value | None, payload: int) -> int | None:
    if value == "bdp":
        return LINK.rate_bit_per_s * 2 * LINK.delay_ns // (8 * payload * 10**9)
    return int(value) if value is not None else None


# What the literature says, per flavor: recoveries and timeouts for 1, 2, 3 and 4 losses.


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Fall & Floyd, sections 3.1 to 3.4, and 98-0876R1, section 3.

    Attributes:
        recoveries, timeouts: for one to four losses.
        only_lost: nothing is sent again that was not lost.
        round_trips: from the first to the last resending, at most, for one to four losses.
    """

    recoveries: tuple[int, int, int, int]
    timeouts: tuple[int, int, int, int]
    only_lost: bool
    round_trips: tuple[int, int, int, int] | None


RULES = {
    "vanilla": Rule(
        recoveries=(0, 0, 0, 0), timeouts=(1, 1, 1, 1), only_lost=False, round_trips=None
    ),
    "reno": Rule(recoveries=(1, 2, 2, 2), timeouts=(0, 0, 1, 1), only_lost=False, round_trips=None),
    "newreno": Rule(
        recoveries=(1, 1, 1, 1), timeouts=(0, 0, 0, 0), only_lost=True, round_trips=(0, 1, 2, 3)
    ),
    "sack": Rule(
        recoveries=(1, 1, 1, 1), timeouts=(0, 0, 0, 0), only_lost=True, round_trips=(0, 2, 2, 2)
    ),
}


def verdict_of(
    flavor: Flavor, scenario: Scenario, outcome: Outcome, *, known: bool = True
) -> Verdict:
    """Compare an outcome with the literature; also whether all data arrived."""
    found = _counted(outcome.recoveries, outcome.timeouts)
    if not outcome.finished:
        return Verdict(ok=False, expected="all data acknowledged", found="not finished")
    rule = RULES.get(flavor.name) if known else None
    if rule is None:
        return Verdict(ok=None, expected="", found=found)
    at = len(scenario.lost) - 1
    expected = _counted(rule.recoveries[at], rule.timeouts[at])
    if found != expected:
        return Verdict(ok=False, expected=expected, found=found)
    if rule.only_lost and sorted(outcome.retransmitted) != list(scenario.lost):
        again = ", ".join(map(str, outcome.retransmitted))
        return Verdict(ok=False, expected="only what was lost sent again", found=f"{again} again")
    return _verdict_on_duration(rule, at, expected, outcome)


def _verdict_on_duration(rule: Rule, at: int, expected: str, outcome: Outcome) -> Verdict:
    times = [s.time_s for s in outcome.sent if s.sending > 0]
    round_trips = (times[-1] - times[0]) / (2 * LINK.delay_ns / 1e9)
    # A round trip of a loaded link is longer than that of the bare one, by less than half.
    if rule.round_trips is not None and round_trips > rule.round_trips[at] + 0.5:
        return Verdict(
            ok=False,
            expected=f"repaired within {rule.round_trips[at] + 1} round trips",
            found=f"{round_trips + 1:.1f} round trips",
        )
    return Verdict(ok=True, expected=expected, found=expected)


def _counted(recoveries: int, timeouts: int) -> str:
    def some(count: int, word: str, plural: str) -> str:
        return f"{count or 'no'} {word if count == 1 else plural}"

    return f"{some(recoveries, 'recovery', 'recoveries')}, {some(timeouts, 'timeout', 'timeouts')}"


# The time sequence.


def time_sequence(outcome: Outcome) -> list[Line]:
    """The sender's moments from the first lost segment until all losses are repaired."""
    moments = list(_moments(outcome))
    lost = [i for i, m in enumerate(moments) if any(s.dropped for s in m)]
    again = [i for i, m in enumerate(moments) if any(s.sending for s in m)]
    if not lost or not again:
        return []
    lines: list[Line] = []
    plain: list[Sending] = []  # new segments not yet told
    for moment in moments[lost[0] : again[-1] + 1]:
        if not any(s.dropped or s.sending for s in moment):
            plain += moment
            continue
        lines += _plain_line(plain)
        plain = []
        lines.append(Line(time_s=moment[0].time_s, text=_describe(moment, outcome)))
    return lines


def _plain_line(sent: Sequence[Sending]) -> list[Line]:
    if not sent:
        return []
    return [Line(time_s=sent[0].time_s, text=_new(sent[0].segment, sent[-1].segment))]


def _moments(outcome: Outcome) -> Iterator[list[Sending]]:
    """Segments grouped by what made them leave: one ACK, or one timeout."""
    arrivals = sorted(a.time_s + LINK.delay_ns / 1e9 for a in outcome.acks)

    def cause(sending: Sending) -> int:
        return sum(t <= sending.time_s for t in arrivals)

    for _, group in groupby(outcome.sent, key=cause):
        yield list(group)


def _describe(moment: list[Sending], outcome: Outcome) -> str:
    parts = []
    new = [s for s in moment if not s.sending]
    for sending in moment:
        if sending.sending:
            why = " after a timeout" if _by_timeout(sending, outcome) else ""
            parts.append(f"{sending.segment} again{why}")
    if new:
        parts.append(_new(new[0].segment, new[-1].segment))
    parts += [f"{s.segment} is lost" for s in moment if s.dropped]
    return ", ".join(parts)


def _by_timeout(sending: Sending, outcome: Outcome) -> bool:
    """No ACK came in just before."""
    arrivals = [a.time_s + LINK.delay_ns / 1e9 for a in outcome.acks]
    return not any(0 <= sending.time_s - t < SAME_MOMENT_S for t in arrivals)


def _new(first: int, last: int) -> str:
    return f"new {first}" if first == last else f"new {first}-{last}"


def render(cases: Sequence[Case]) -> str:
    """Time sequences and verdicts as text, at most 80 columns."""
    lines: list[str] = []
    for name, group in groupby(cases, key=lambda c: c.flavor.name):
        several = list(group)
        lines += ["", f"{name}: {several[0].flavor.title}"]
        for case in several:
            lines += _render_case(case)
    return "\n".join(lines[1:])


def _render_case(case: Case) -> list[str]:
    lost = ", ".join(map(str, case.scenario.lost))
    verdict = case.verdict
    if verdict.ok is False:
        word = f"NOT as expected ({verdict.expected})"
    else:
        word = "as in the literature" if verdict.ok else "(the literature says nothing)"
    lines = [f"  {case.scenario.name} ({lost}): {verdict.found}, {word}"]
    for line in time_sequence(case.outcome):
        lines += textwrap.wrap(
            line.text,
            WIDTH,
            initial_indent=f"    {line.time_s:6.3f} s  ",
            subsequent_indent=" " * 14,
        )
    return lines
