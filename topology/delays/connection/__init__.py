# SPDX-License-Identifier: GPL-2.0-only
"""A round trip of its own for each TCP connection, from 0 to 100 s, constant over its life.

    delay       the box's devices, and what a workload is lent to say who has which
    table       which connection has which: the file that the program reads
    program     bpf/delays on the box in the middle: its queues, its command, its counters
    passages    the check, by other means: how long each connection's first two packets were there
    checks      what a trial is held to

The delay is in the middle of the path, half of the round trip each way, on the box that otherwise
has the one delay of all (commands.sat_delay): a packet in flight counts against no queue under
test and is not on its sender's account. A connection's packets stay in order, since all of one
direction have the same delay.
"""

from topology.delays.connection.delay import Delay

__all__ = ["Delay"]
