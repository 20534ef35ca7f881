# SPDX-License-Identifier: GPL-2.0-only
"""What a tuner decides, without a network: routes' metrics, least writes."""

from __future__ import annotations

from dataclasses import replace

from harness.agent.tune_plan import changes, route_metrics
from plan.plan import Flavor, Tcp

SACK = Flavor(
    name="sack",
    congestion="cellbed_sack",
    module="cellbed_tcp",
    sysctl={"tcp_sack": 1, "tcp_ecn": 0},
    parameters={"rto_tick_ms": 100},
    route={"server": {"initcwnd": 1, "ssthresh": "bdp", "rto_min_ms": 200}, "client": {}},
)
TCP = Tcp(flavor=SACK, ssthresh_segments=55, window_bytes=65_535)


def test_route_of_each_end() -> None:
    assert route_metrics(TCP, "server") == {
        "initcwnd": 1,
        "ssthresh": 55,
        "rto_min": 200,
        "window": 65_535,
    }
    assert route_metrics(TCP, "client") == {"window": 65_535}


def test_the_first_flavor_is_written_whole() -> None:
    assert changes(None, SACK) == SACK


def test_a_parameter_that_the_plan_does_not_say_gets_its_default_back() -> None:
    """Also after a flavor without the module, which leaves it as it was."""
    common = replace(SACK, parameters={**SACK.parameters, "rto_clock": 1})
    stock = replace(SACK, name="cubic", congestion="cubic", parameters={})
    assert changes(SACK, common).parameters == {"rto_clock": 1}
    assert changes(common, SACK).parameters == {"rto_clock": 0}
    assert changes(common, stock).parameters == {}
    assert changes(stock, SACK).parameters == {**SACK.parameters, "rto_clock": 0}


def test_then_only_what_differs() -> None:
    newreno = replace(SACK, name="newreno", sysctl={"tcp_sack": 0, "tcp_ecn": 0})
    found = changes(SACK, newreno)
    assert found.sysctl == {"tcp_sack": 0} and found.parameters == {}
    assert found.name == "newreno"


def test_a_sysctl_that_only_one_experiment_sets_gets_its_default_back() -> None:
    patient = replace(SACK, sysctl={**SACK.sysctl, "tcp_syn_retries": 20})
    assert changes(SACK, patient).sysctl == {"tcp_syn_retries": 20}
    assert changes(patient, SACK).sysctl == {"tcp_syn_retries": 6}
    assert changes(SACK, SACK).sysctl == {}
