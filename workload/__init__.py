# SPDX-License-Identifier: GPL-2.0-only
"""The programs on the testbed's hosts: their files, schedules, servers, clients, output readers.

This room uses the standard library and, of the project, only plan. So the same code runs on the
host (plans, draws) and in a lab (files, servers, clients). The part of packmime that draws a web
trace needs numpy, and it runs on the host only.

A workload is a folder here (source.py has the interface), or a single file:

    www       the WWW clients of 98-0876R1: requests on a schedule, pipelined
    iperf     persistent sources (iperf3)
    wrk       WWW clients in a closed loop (wrk)
    packmime  web traffic in both directions, open loop, at a stated load

Several workloads share these modules:

    source    the interface of a workload, and of the lab that it runs in
    errors    the exception; checks of parameters are in plan/schema.py
    streams   named random streams, all from one seed
    poisson   a Poisson distribution confined to a range
    specweb   the SPECweb96 file set as the paper modified it
    nginx     the configuration of nginx; nginx_servers: nginx on every server host
    checks    fidelity checks that several workloads use
    ready     whether a program listens
    common    shared parts of the C programs, and their build rules
"""
