# SPDX-License-Identifier: GPL-2.0-only
"""Each TCP connection has its own round trip, from 0 to 100 s, constant over its life.

    delay       the devices of the box; a workload tells it the connections' round trips
    table       connection -> round trip: the file that the program reads
    program     bpf/delays on the box in the middle: its queues, its command, its counters
    passages    measures independently how long each connection's first two packets stay in the box
    checks      the checks of such a trial

Half of the round trip is added in each direction, on the box in the middle of the path, beside the
constant delay of all packets (commands.sat_delay). So a packet in flight counts neither against a
queue under test nor as data in its sender's socket. The packets of a connection stay in order,
because its packets of one direction have the same delay.
"""

from topology.delays.connection.delay import Delay

__all__ = ["Delay"]
