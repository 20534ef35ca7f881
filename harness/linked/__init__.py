# SPDX-License-Identifier: GPL-2.0-only
"""Two labs on one link: the senders' and the receivers' hosts have different kernels.

Each lab builds the whole dumbbell, but only one half of it works. In the box in the middle, a wire
(lab/wire) takes the place of the other half:

    senders' lab    servers -> sw2, queue "down" -> box -> wire
    receivers' lab  wire -> box, rate of the link -> sw1 -> clients, whose packets pass queue "up"

The wire has the whole delay of the middle link, and its two ends keep the labs' clocks together.

agent, trial, source, testbed, wire   run in the labs
merge                                 makes one trial's results of what both labs left, on the host
"""
