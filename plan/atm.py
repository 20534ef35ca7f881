# SPDX-License-Identifier: GPL-2.0-only
"""Size of an IP packet on a link of ATM cells, in cells and bytes (98-0876R1, section 7)."""

CELL_BYTES = 53
CELL_BITS = 8 * CELL_BYTES
CELL_PAYLOAD_BYTES = 48
# LLC/SNAP encapsulation (RFC 2684, section 5.1) and the AAL5 trailer, 8 bytes each.
AAL5_OVERHEAD_BYTES = 16
TCP_IP_HEADER_BYTES = 40
ETHERNET_HEADER_BYTES = 14
MOST_BIT_PER_S = 622_080_000  # OC-12; bpf/loader/options.c has the same bound


def frame_cells(ip_bytes: int) -> int:
    """Return the cells of the AAL5 frame that carries one IP packet of `ip_bytes` bytes.

    Raises:
        ValueError: the packet has no bytes.
    """
    if ip_bytes <= 0:
        raise ValueError(f"ip_bytes is {ip_bytes}, but an IP packet has at least 1 byte")
    return -(-(ip_bytes + AAL5_OVERHEAD_BYTES) // CELL_PAYLOAD_BYTES)


def sent_ms(cells: float, rate_bit_per_s: int) -> float:
    """Return the time in which a link sends some cells [ms]."""
    return cells * CELL_BITS * 1e3 / rate_bit_per_s


def segment_cells(mss_bytes: int) -> int:
    """Return the cells of a full TCP segment without options."""
    return frame_cells(mss_bytes + TCP_IP_HEADER_BYTES)
