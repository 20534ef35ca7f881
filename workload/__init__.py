# SPDX-License-Identifier: GPL-2.0-only
"""What the hosts of the testbed do: files, schedules, servers, clients, readers of output.

Imports of the project plan alone, and else the standard library, so that the same code runs on the
host (plans, draws) and inside a lab (files, servers, clients); what draws a web trace in packmime
needs numpy, and runs on the host only.

A workload is a folder here, with all that is its own (source.py says what), or a file:

    www       the WWW clients of 98-0876R1: requests on a schedule, pipelined
    iperf     persistent sources (iperf3)
    wrk       WWW clients in a closed loop (wrk)
    packmime  web traffic in both directions, open loop, at a stated load

What several of them use:

    source    what a workload is, and what a lab lends to it
    errors    the exception; checks of parameters are in plan/schema.py
    streams   named random streams, all from one seed
    poisson   a Poisson distribution confined to some numbers
    specweb   the SPECweb96 file set as the paper modified it
    nginx     its configuration; nginx_servers: one on every server host
    checks    what trials of several of them are held to
    ready     does a program listen
    common    what their C programs share, and how those are built
"""
