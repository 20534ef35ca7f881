# SPDX-License-Identifier: GPL-2.0-only
"""Kernel and model send the same segments in the same order at the same time.

For random losses; the model (oracle.py) knows nothing of the kernel. CELLBED_PATTERNS
says how many patterns each flavor gets.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping

import pytest

from harness.flavors import files as flavors
from tests.flavors import oracle, patterns
from tests.flavors.runner import Runner

pytestmark = pytest.mark.lab

CLASSIC = ("vanilla", "reno", "newreno", "sack")
PATTERNS = int(os.environ.get("CELLBED_PATTERNS", "260"))  # a flavor
# The kernel's clock moves on by some hundred nanoseconds at each reading.
SAME_TIME_S = 0.000_1
# Windows in bytes with SACK: the kernel merges small segments that are SACKed and does not
# part them when a timeout wipes the scoreboard, so that it sends them again otherwise than
# segments that it knows nothing of. docs/flavors.md.
SACK_BYTES_MAY_DIFFER = 0.01


def disagreements(
    run: Runner,
    names: tuple[str, ...],
    count: int,
    seed: int,
    parameters: Mapping[str, object],
    again: float = 0.1,
    ecn: bool = False,
) -> list[str]:
    rng = random.Random(seed)
    draw = patterns.draw_marked if ecn else patterns.draw
    drawn = [draw(rng, again) for _ in range(count)]
    cases = [(name, pattern) for name in names for pattern in drawn]
    loaded = {name: loaded_flavor(name, parameters, ecn) for name in names}
    connections = [
        patterns.connection(f"{name} {i}", pattern, loaded[name])
        for i, (name, pattern) in enumerate(cases)
    ]
    found = []
    for (name, pattern), outcome in zip(cases, run(connections, patterns.LINK), strict=True):
        model = oracle.simulate(patterns.setup(pattern, name, parameters))
        kernel = [(s.byte, s.length) for s in outcome.sent]
        same = kernel == [(s.byte, s.length) for s in model.sent] and all(
            abs(k.time_s - m.time_s) < SAME_TIME_S
            for k, m in zip(outcome.sent, model.sent, strict=True)
        )
        counts = (outcome.timeouts, outcome.recoveries)
        if not same or counts != (model.sender.timeouts, model.sender.recoveries):
            found.append(f"{name}: {pattern}")
    return found


def loaded_flavor(name: str, parameters: Mapping[str, object], ecn: bool) -> flavors.Flavor:
    loaded = flavors.load(name).with_parameters(parameters)
    return flavors.with_sysctls(loaded, {"tcp_ecn": int(ecn)}, name)


def test_the_four_senders(run_connections: Runner):
    assert disagreements(run_connections, CLASSIC, PATTERNS, 98_0876, {}) == []


def test_the_four_senders_with_marks(run_connections: Runner):
    """RFC 3168: marks and losses in one window, in the next one, and by themselves."""
    assert disagreements(run_connections, CLASSIC, PATTERNS // 2, 3168, {}, ecn=True) == []


@pytest.mark.parametrize("rule", ["flight", "window"])
def test_sack_of_the_paper(run_connections: Runner, rule: str):
    """98-0876R1, 3.2, with windows in segments: PIPE begins with cwnd."""
    parameters = {"sack_pipe": "segments", "ssthresh_rule": rule}
    assert disagreements(run_connections, ("sack",), PATTERNS // 3, 1998, parameters) == []


def test_sack_of_rfc_6675(run_connections: Runner):
    rule = {"sack_retransmit": "three_above"}
    assert disagreements(run_connections, ("sack",), PATTERNS // 2, 6675, rule) == []


@pytest.mark.parametrize("byte_window", [False, True])
@pytest.mark.parametrize("flavor", ["reno", "newreno", "sack"])
def test_multiple_fast_retransmits(run_connections: Runner, flavor: str, byte_window: bool):
    """Most resendings are lost again: only after a timeout is it another sender."""
    parameters = {"multiple_fast_retransmits": True, "byte_window": byte_window}
    # With SACK and windows in bytes a timeout shows what SACK_BYTES_MAY_DIFFER is for.
    again = 0.1 if flavor == "sack" and byte_window else 0.6
    count = PATTERNS // 3
    assert disagreements(run_connections, (flavor,), count, 2583, parameters, again) == []


@pytest.mark.parametrize("byte_window", [False, True])
def test_newreno_of_the_paper(run_connections: Runner, byte_window: bool):
    """98-0876R1, 3.1: a partial ACK sets cwnd to ssthresh; Hoe's flywheel turns."""
    parameters = {
        "newreno_partial": "reset",
        "newreno_flywheel": True,
        "byte_window": byte_window,
    }
    assert disagreements(run_connections, ("newreno",), PATTERNS // 3, 1996, parameters) == []


@pytest.mark.parametrize("byte_window", [False, True])
def test_half_of_the_window_at_each_loss(run_connections: Runner, byte_window: bool):
    """RFC 2001 and 4.4BSD: ssthresh does not look at what is outstanding."""
    parameters = {"ssthresh_rule": "window", "byte_window": byte_window}
    assert disagreements(run_connections, CLASSIC, PATTERNS // 6, 2001, parameters) == []


ANEW = {"byte_window": True, "resend_boundaries": "anew"}
# What the text of 98-0876R1 says (3.1, 3.2, 6.2), and 4.4BSD where it is silent.
TEXT = {
    **ANEW,
    "multiple_fast_retransmits": True,
    "newreno_partial": "reset",
    "newreno_flywheel": True,
    "sack_pipe": "segments",
    "ssthresh_rule": "window",
}


@pytest.mark.parametrize("flavor", CLASSIC)
@pytest.mark.parametrize(
    "parameters",
    [ANEW, ANEW | {"sack_retransmit": "three_above"}, TEXT],
    ids=["anew", "three above", "text"],
)
def test_what_is_sent_again_is_cut_anew(
    run_connections: Runner, flavor: str, parameters: Mapping[str, object]
):
    """As from a stream of bytes; four of ten resendings are lost again."""
    if flavor != "sack" and "sack_retransmit" in parameters:
        return
    count = PATTERNS // 4
    assert disagreements(run_connections, (flavor,), count, 2584, parameters, again=0.4) == []


def test_windows_in_bytes(run_connections: Runner):
    names, window = ("vanilla", "reno", "newreno"), {"byte_window": True}
    assert disagreements(run_connections, names, PATTERNS // 3, 813, window) == []


@pytest.mark.parametrize(
    ("rule", "pipe"), [("pipe", "bytes"), ("pipe", "segments"), ("three_above", "bytes")]
)
def test_windows_in_bytes_with_sack(run_connections: Runner, rule: str, pipe: str):
    count = PATTERNS // 2
    parameters = {"byte_window": True, "sack_retransmit": rule, "sack_pipe": pipe}
    found = disagreements(run_connections, ("sack",), count, 814, parameters)
    assert len(found) <= SACK_BYTES_MAY_DIFFER * count, found
