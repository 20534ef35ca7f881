# SPDX-License-Identifier: GPL-2.0-only
"""Web traffic after PackMime-HTTP, the Bell Labs model of HTTP connections, in both directions.

Cao, Cleveland, Gao, Jeffay, Smith, Weigle: "Stochastic Models for Generating Synthetic HTTP Source
Traffic", INFOCOM 2004. The parameters are those of its implementation in ns-2 (packmime/).

A trace is drawn once, on the host, and all trials of a load share it: who connects when, over which
round trip, what is asked for, how long the server thinks, how much it answers. Arrivals do not wait
for answers (open loop); the arrival rate is scaled so that the trace offers the stated load.

Needs topology.delay = "connection".

    parameters  the keys of [workload]
    traffic     what a trace is drawn from: they, and the link
    fsd         fractional sum-difference noise, the model's long memory
    tables      the model's empirical quantile functions
    marginals   from noise to gaps, sizes, round trips and delays
    draw        the connections of one direction
    calibrate   both directions at the stated load
    persistent  what HTTP/1.1 connections carry after their first exchange
    wire        bytes that a connection puts on each direction of a link
    write       a trace's file, from its traffic and a seed
    trace       the file's format: read anywhere
    ports       which host and which ports a connection has
    programs    the client and the server that carry a trace
    carriers    their commands, and their tables read back
    source      runs them in a lab
    exchanges   what became of a trace: the record's table
    both_ends   whether a connection's two ends agree
    checks      what its trials are held to

What draws needs numpy and scipy, and so runs on the host only; nothing that a lab needs imports it.
"""

from workload.packmime.parameters import Parameters
from workload.packmime.source import Source

__all__ = ["LIBRARIES", "ON_HOST", "Parameters", "Source"]

ON_HOST, LIBRARIES = "workload.packmime.write", ("numpy", "scipy")
