# SPDX-License-Identifier: GPL-2.0-only
"""Web traffic by PackMime-HTTP, the Bell Labs model of HTTP connections, in both directions.

Cao, Cleveland, Gao, Jeffay, Smith, Weigle: "Stochastic Models for Generating Synthetic HTTP Source
Traffic", INFOCOM 2004. The parameters are those of its implementation in ns-2 (packmime/).

The host draws a trace once, and all trials of a load share it. The trace contains each connection's
start, hosts and round trip, and for each exchange the size of the request, the server's thinking
time and the size of the answer. Arrivals do not wait for answers (open loop). The arrival rate is
scaled so that the trace offers the stated load.

Needs topology.delay = "connection".

    parameters  the keys of [workload]
    traffic     the input of a draw: these keys, and the link
    fsd         fractional sum-difference noise, the model's long memory
    tables      the model's empirical quantile functions
    marginals   noise -> gaps, sizes, round trips and delays
    draw        the connections of one direction
    calibrate   both directions at the stated load
    persistent  the exchanges of HTTP/1.1 connections after their first
    wire        bytes of a connection on each direction of a link
    write       writes a trace's file, from its traffic and a seed
    trace       the format of this file, which all parts can read
    ports       the host and the ports of a connection
    programs    the client and the server that replay a trace
    carriers    their commands, and readers of their tables
    source      runs them in a lab
    exchanges   the results of a trace: the record's table
    both_ends   whether a connection's two ends agree
    checks      the checks of such a trial

The modules that draw need numpy and scipy, so they run on the host only. No module that a lab needs
uses them.
"""

from workload.packmime.parameters import Parameters
from workload.packmime.source import Source

__all__ = ["LIBRARIES", "ON_HOST", "Parameters", "Source"]

ON_HOST, LIBRARIES = "workload.packmime.write", ("numpy", "scipy")
