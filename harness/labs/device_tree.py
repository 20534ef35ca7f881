# SPDX-License-Identifier: GPL-2.0-only
"""Changes the flattened device tree by which an ARM64 kernel knows its machine.

Source: Devicetree Specification, release 0.4, chapter 5 (Flattened Devicetree format).
"""

from __future__ import annotations

import struct

HEADER = struct.Struct(">10I")
MAGIC, VERSION = 0xD00DFEED, 17
BEGIN_NODE, PROPERTY = struct.pack(">I", 1), 3
ALIGN = 4  # bytes


def with_number(tree: bytes, node: str, name: str, value: int) -> bytes:
    """The tree with one more property: a number of 32 bits, in the first node of a name.

    Raises:
        ValueError: it is no tree of version 17, or has no such node.
    """
    header = HEADER.unpack_from(tree)
    magic, _, at, strings_at, _, version, *_, strings_bytes, nodes_bytes = header
    if magic != MAGIC or version != VERSION:
        raise ValueError("not a device tree of version 17")
    strings = tree[strings_at : strings_at + strings_bytes]
    nodes = tree[at : at + nodes_bytes]
    begin = BEGIN_NODE + node.encode() + b"\0"
    begin += bytes(-len(begin) % ALIGN)
    place = nodes.find(begin) + len(begin)
    if begin not in nodes:
        raise ValueError(f"a device tree without a node {node}")
    more = struct.pack(">4I", PROPERTY, ALIGN, len(strings), value)
    nodes = nodes[:place] + more + nodes[place:]
    strings += name.encode() + b"\0"
    fields = list(header)
    fields[1] = at + len(nodes) + len(strings)
    fields[3] = at + len(nodes)
    fields[8:] = [len(strings), len(nodes)]
    return HEADER.pack(*fields) + tree[HEADER.size : at] + nodes + strings
