# SPDX-License-Identifier: GPL-2.0-only
"""What the hosts of the testbed do: files, schedules, servers, clients, readers of output.

Imports nothing else of the project and only the standard library, so that the same code runs on
the host (plans, draws) and inside a lab (files, servers, clients); what draws a web trace in
packmime needs numpy, and runs on the host only.

    streams   named random streams, all from one seed
    specweb   the SPECweb96 file set as the paper modified it
    www       the paper's WWW clients as data: who asks for what, and when
    www_run   the same handed to the C client (client/), and its records read back
    nginx     one web server a host
    iperf     persistent sources (iperf3)
    wrk       closed-loop web clients (wrk)
    packmime  web traffic in both directions, open loop, at a stated load
    ready     does a program listen
"""
