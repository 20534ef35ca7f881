# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel says of an MPTCP connection: struct mptcp_info of linux/mptcp.h, as of Linux 6.5.

Bytes are of the connection's own sequence space (RFC 8684, section 3.3), each of them once, but
for reinjected_bytes: what the sender gave to a second subflow because the first one was late.
"""

from __future__ import annotations

import socket
import struct

IPPROTO_MPTCP, SOL_MPTCP, MPTCP_INFO = 262, 284, 1
FALLBACK = 1  # flag: the connection is one of TCP
# Flags at byte 8; retransmits at 44; then bytes_retrans, bytes_sent and bytes_received.
FLAGS, COUNTERS = struct.Struct("=I"), struct.Struct("=QQQ")
FLAGS_OFFSET, COUNTERS_OFFSET, MOST_BYTES = 8, 48, 256


def read(one: socket.socket) -> dict[str, int] | None:
    """Return the counters of a socket's connection; None: it is no connection of MPTCP."""
    try:
        found = one.getsockopt(SOL_MPTCP, MPTCP_INFO, MOST_BYTES)
    except OSError:  # a connection that fell back to TCP has none, nor has one of TCP
        return None
    flags, *_ = FLAGS.unpack_from(found, FLAGS_OFFSET)
    if flags & FALLBACK:
        return None
    reinjected, sent, received = COUNTERS.unpack_from(found, COUNTERS_OFFSET)
    return {"reinjected_bytes": reinjected, "sent_bytes": sent, "received_bytes": received}
