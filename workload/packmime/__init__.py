# SPDX-License-Identifier: GPL-2.0-only
"""Web traffic after PackMime-HTTP, the Bell Labs model of HTTP connections, in both directions.

Cao, Cleveland, Gao, Jeffay, Smith, Weigle: "Stochastic Models for Generating Synthetic HTTP Source
Traffic", INFOCOM 2004. The parameters are those of its implementation in ns-2 (packmime/).

A trace is drawn once, on the host, and all trials of a load share it: who connects when, over which
round trip, what is asked for, how long the server thinks, how much it answers. Arrivals do not wait
for answers (open loop); the arrival rate is scaled so that the trace offers the stated load.

    parameters  what a trace is drawn from
    fsd         fractional sum-difference noise, the model's long memory
    tables      the model's empirical quantile functions
    marginals   from noise to gaps, sizes, round trips and delays
    draw        the connections of one direction
    calibrate   both directions at the stated load
    persistent  what HTTP/1.1 connections carry after their first exchange
    wire        bytes that a connection puts on each direction of a link
    write       a trace's file, from parameters and a seed
    trace       the file's format: read anywhere
    ports       which host and which ports a connection has

What draws needs numpy and scipy, and so runs on the host only. parameters, trace and ports are all
that a lab needs, and use the standard library alone.
"""
