# SPDX-License-Identifier: GPL-2.0-only
"""The requests of the WWW workload over HTTP/3: two QUIC stacks, the files and moments of www.

parameters   the keys of [workload]
source       runs it in a lab
stacks       the servers: ngtcp2's program, and aioquic
programs     random numbers and clocks of these programs, as a library in C
client       in the lab: aioquic as the client of all pairs
server       in the lab: aioquic as the server of all pairs
endpoint     what client and server share: their clock, and the qlog that they write
certificate  in the lab: a key and a certificate from the trial's seed
qlog         reads the qlog files of both stacks
checksums    in the lab: the hosts write the checksums of UDP
wire         the packets of each server as tcpdump saw them, beside its qlog
checks       the checks of its trials
"""

from workload.quic.parameters import LAYER, Parameters
from workload.quic.source import Source

__all__ = ["LAYER", "Parameters", "Source"]
