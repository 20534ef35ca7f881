# SPDX-License-Identifier: GPL-2.0-only
"""pcapng: the captures of a trial in one file, with every recorded drop at its moment.

Interfaces down and up have the packets. A frame that the queue dropped never left, so nothing of
it was captured: on an interface of its own stands a packet that this export writes, of Ethernet's
local experimental type (88b5) between the pair's addresses, whose text and comment say which
pair's it was, its cells, why it was dropped, and how full the queue was. In Wireshark the filter
is frame.comment contains "dropped".
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcapng import FileWriter, blocks

from analysis.errors import RecordError
from analysis.exports._capture import captured, packets
from analysis.records import CampaignRecords, Trial, capture_start_ns

ETHERNET = 1
EXPERIMENTAL = b"\x88\xb5"  # IEEE 802, local experimental Ethertype 1
NANOSECONDS = b"\x09"  # if_tsresol: 10^-9 s


@dataclass(frozen=True, kw_only=True, order=True)
class Block:
    """A packet of the file; interfaces by their place."""

    time_ns: int
    interface: int
    length: int
    data: bytes
    comment: str = ""


def export(campaign: CampaignRecords, out: Path) -> Sequence[Path]:
    """TRIAL.pcapng of every trial with a capture; RecordError where none has one."""
    chosen = [trial for trial in campaign.trials if captured(trial)]
    if not chosen:
        raise RecordError(
            f"{campaign.folder} has no captured packets; ./cellbed run --pcap records them"
        )
    return [write(trial, out / f"{trial.name}.pcapng") for trial in chosen]


def write(trial: Trial, path: Path) -> Path:
    """One trial's file."""
    ports = captured(trial)
    section = blocks.SectionHeader(options={"shb_userappl": "cellbed"})
    for name in (*ports, *(f"dropped at {port}" for port in ports)):
        options = {"if_name": name, "if_tsresol": NANOSECONDS}
        section.new_member(blocks.InterfaceDescription, link_type=ETHERNET, options=options)
    sources = [of_port(place, file) for place, file in enumerate(ports.values())]
    sources += [
        iter(sorted(dropped(trial, port, len(ports) + place))) for place, port in enumerate(ports)
    ]
    with path.open("wb") as stream:
        writer = FileWriter(stream, section)
        for block in heapq.merge(*sources):
            writer.write_block(packet(section, block))
    return path


def of_port(interface: int, path: Path) -> Iterator[Block]:
    """A port's packets."""
    for one in packets(path):
        yield Block(time_ns=one.time_ns, interface=interface, length=one.length, data=one.data)


def dropped(trial: Trial, port: str, interface: int) -> Iterator[Block]:
    """A port's drops, where they were recorded; times of before the trial's start included."""
    begin_ns = capture_start_ns(trial)
    for row in trial.series("drops") or ():
        if row["port"] == port and isinstance(row["time_ns"], float):
            text = (
                f"dropped: {row['cause']}; pair {row['vc']:.0f}, {row['frame_cells']:.0f} cells; "
                f"queue {row['occupancy_cells']:.0f} cells, of them {row['vc_cells']:.0f} its own"
            )
            time_ns = begin_ns + round(row["time_ns"])
            data = note(port, round(float(row["vc"] or 0)), text)
            yield Block(
                time_ns=time_ns, interface=interface, length=len(data), data=data, comment=text
            )


def note(port: str, pair: int, text: str) -> bytes:
    """An Ethernet frame with a text, from the sender of a dropped one to its receiver."""
    client, server = (bytes([2, 0, 0, side, pair >> 8, pair & 255]) for side in (1, 2))
    ends = client + server if port == "down" else server + client
    return ends + EXPERIMENTAL + text.encode()


def packet(section: blocks.SectionHeader, block: Block) -> blocks.EnhancedPacket:
    """A block as the file has it."""
    high, low = divmod(block.time_ns, 1 << 32)
    return section.new_member(
        blocks.EnhancedPacket,
        interface_id=block.interface,
        timestamp_high=high,
        timestamp_low=low,
        packet_len=block.length,
        packet_data=block.data,
        options={"opt_comment": block.comment} if block.comment else {},
    )
