# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, for test_flavor_drill.py: scripts of packetdrill, as far as ours go.

Usage: drill_in_lab.py JOB.json RESULT.json. JOB: names of scripts in tests/flavors/drill, and the
flavor with which each is to run, or "" for its own. RESULT: for each {"failed": what was not as the
script says, or "", "seen": the segments that the kernel sent, in the script's own words, with their
times}.

It knows of packetdrill's language: comments, a command in backticks, +TIME and +FROM~+TO, the calls
socket, bind, listen, accept and write of a server, and TCP segments with mss, sackOK, nop and sack.
As packetdrill's, its times have a tolerance of 4 ms, and the window of a sent segment is not looked
at where the script names none. Unlike packetdrill it does not look at PSH, which the kernel sets by
how much was written.
"""

from __future__ import annotations

import os
import re
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, "/cellbed")

from tests.flavors.answering import answer  # noqa: E402

HERE = Path(__file__).parent / "drill"
MODULE = "/opt/cellbed/cellbed_tcp.ko"
OWN, PEER, PORT, PEER_PORT = "192.168.0.1", "192.0.2.1", 8080, 40000
# packetdrill has a TUN device of this name, which the lab's kernel does not know.
DEVICE, FAR = "tun0", "far"
OWN_MAC, MAC = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
ETH_P_IP, ETHERNET_BYTES = 0x0800, 14
TOLERANCE_S = 0.004
QUIET_S = 0.05  # after a script nothing more is to come
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16}
LINE = re.compile(r"(\+?)([\d.]+)(?:~\+([\d.]+))?\s+(.*)")
SEGMENT = re.compile(r"[<>] (\S+) (\d+):(\d+)\(\d+\)(?: ack (\d+))?(?: win (\d+))?(?: <(.*)>)?")
OWN_FLAVOR = re.compile(r"\./flavor \w+")
CALL = re.compile(r"(\w+)\((.*)\)\s*=\s*(\d+)")


WIRE = (
    "link set lo up",
    f"link add {DEVICE} address {OWN_MAC.hex(':')} gso_max_segs 1 type veth peer name {FAR}",
    f"addr add {OWN}/16 dev {DEVICE}",
    f"link set {DEVICE} up",
    f"link set {FAR} up",
    f"route add 192.0.2.0/24 dev {DEVICE}",
    f"neigh add {PEER} lladdr {MAC.hex(':')} dev {DEVICE}",
)


class ScriptError(RuntimeError):
    """What was not as the script says."""


@dataclass(frozen=True)
class Segment:
    """A segment, its numbers counted from the handshake."""

    flags: str
    begin: int
    end: int
    ack: int
    options: str

    def __str__(self) -> str:
        options = f" <{self.options}>" if self.options else ""
        numbers = f"{self.begin}:{self.end}({self.end - self.begin}) ack {self.ack}"
        return f"> {self.flags} {numbers}{options}"


def checksum(data: bytes) -> int:
    """RFC 1071."""
    words = struct.unpack(f"!{len(data) // 2}H", data) if len(data) % 2 == 0 else ()
    if len(data) % 2:
        return checksum(data + b"\0")
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass
class Peer:
    """The other end of one connection, on a wire of which it has the far end.

    Attributes:
        wire: a packet socket at the far end.
        theirs: the first sequence number of the kernel; -1: not seen yet.
        begun_s: when it was made, by the lab's clock.
        seen: what the kernel sent, and when.
    """

    wire: socket.socket
    theirs: int = -1
    begun_s: float = field(default_factory=time.monotonic)
    seen: list[str] = field(default_factory=list)

    def send(self, segment: Segment, window: int) -> None:
        """Put a segment in; sequence numbers of the peer begin at 0."""
        flags, length = segment.flags, segment.end - segment.begin
        option_bytes = encoded(segment.options, max(self.theirs, 0))
        bits = sum(FLAGS[letter] for letter in flags)
        number = (max(self.theirs, 0) + segment.ack) % 2**32 if "." in flags else 0
        offset = (20 + len(option_bytes)) // 4 << 4
        ports, numbers = (PEER_PORT, PORT), (segment.begin, number)
        head = struct.pack("!HHIIBBHHH", *ports, *numbers, offset, bits, window, 0, 0)
        tcp = head + option_bytes + bytes(length)
        ends = socket.inet_aton(PEER) + socket.inet_aton(OWN)
        check = checksum(ends + struct.pack("!BBH", 0, 6, len(tcp)) + tcp)
        tcp = tcp[:16] + struct.pack("!H", check) + tcp[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + ends
        packet = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp
        self.wire.send(OWN_MAC + MAC + struct.pack("!H", ETH_P_IP) + packet)

    def next(self, limit_s: float) -> tuple[float, Segment] | None:
        """The kernel's next segment and its time; None: none came."""
        end_s = time.monotonic() + limit_s
        while select.select([self.wire], [], [], max(end_s - time.monotonic(), 0))[0]:
            packet, now_s = self.wire.recv(65536)[ETHERNET_BYTES:], time.monotonic()
            if packet[9] == socket.IPPROTO_TCP:
                size = int.from_bytes(packet[2:4])
                segment = self._read(packet[(packet[0] & 15) * 4 : size])
                self.seen.append(f"{now_s - self.begun_s:.6f} {segment}")
                return now_s, segment
        return None

    def _read(self, tcp: bytes) -> Segment:
        _, _, begin, ack, offset, bits = struct.unpack_from("!HHIIBB", tcp)
        if bits & FLAGS["S"]:
            self.theirs = begin
        head = (offset >> 4) * 4
        begin = (begin - self.theirs) % 2**32
        flags = "".join(letter for letter, bit in FLAGS.items() if bits & bit and letter != "P")
        end = begin + len(tcp) - head
        return Segment(flags, begin, end, ack, decoded(tcp[20:head]))


def encoded(options: str, base: int) -> bytes:
    """Options as the wire has them."""
    made = b""
    for option in filter(None, options.split(",")):
        name, _, value = option.strip().partition(" ")
        if name == "nop":
            made += b"\1"
        elif name == "sackOK":
            made += b"\4\2"
        elif name == "mss":
            made += struct.pack("!BBH", 2, 4, int(value))
        elif name == "sack":
            edges = [base + int(edge) for block in value.split() for edge in block.split(":")]
            made += struct.pack(f"!BB{len(edges)}I", 5, 2 + 4 * len(edges), *edges)
        else:
            raise ScriptError(f"this driver knows no option {name}")
    return made


def decoded(wire: bytes) -> str:
    """Options in the script's words."""
    found = []
    while wire:
        kind = wire[0]
        size = 1 if kind < 2 else wire[1]
        if kind == 2:
            found.append(f"mss {int.from_bytes(wire[2:4])}")
        else:
            found.append({0: "eol", 1: "nop", 4: "sackOK"}.get(kind, f"option {kind}"))
        wire = wire[size:]
    return ",".join(found)


def parsed(event: str) -> tuple[Segment, int]:
    """A segment of a script, without PSH, and its window."""
    found = SEGMENT.fullmatch(event)
    if not found:
        raise ScriptError("this driver does not know such a segment")
    flags, begin, end, ack, window, options = found.groups()
    segment = Segment(
        flags.replace("P", ""), int(begin), int(end), int(ack or 0), options or ""
    )  # fmt: skip
    return segment, int(window or 0)


class Script:
    """One script, in a network namespace of its own."""

    def __init__(self, name: str, flavor: str) -> None:
        text = (HERE / name).read_text()
        self.lines = (OWN_FLAVOR.sub(f"./flavor {flavor}", text) if flavor else text).splitlines()
        os.unshare(os.CLONE_NEWNET)
        for words in WIRE:
            subprocess.run(["ip", *words.split()], check=True, timeout=60)
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
        wire.bind((FAR, ETH_P_IP))
        self.peer = Peer(wire)
        self.sockets: dict[int, socket.socket] = {}
        self.now_s = 0.0

    def run(self) -> None:
        """Raises ScriptError at the first line that is not as it says."""
        for number, line in enumerate(self.lines, start=1):
            text = line.partition("//")[0].strip()
            if not text:
                continue
            try:
                self.step(text)
            except ScriptError as error:
                raise ScriptError(f"line {number}: {text}: {error}") from None
        if extra := self.peer.next(QUIET_S):
            raise ScriptError(f"after the last line the kernel sent {extra[1]}")

    def step(self, text: str) -> None:
        if text.startswith("`"):
            subprocess.run(text.strip("`"), shell=True, check=True, cwd=HERE, timeout=60)  # noqa: S602
            self.now_s = time.monotonic()
            return
        if not (line := LINE.fullmatch(text)):
            raise ScriptError("this driver does not know such a line")
        wait, until, event = float(line[2]), line[3], line[4]
        if event.startswith(">"):
            self.expect(event, wait, float(until) if until else wait)
            return
        self.now_s += wait
        if early := self.peer.next(max(self.now_s - time.monotonic(), 0)):
            raise ScriptError(f"the kernel sent {early[1]} before it")
        if event.startswith("<"):
            self.peer.send(*parsed(event))
        else:
            self.call(event)

    def expect(self, event: str, least_s: float, most_s: float) -> None:
        """The kernel's next segment is this one, in time."""
        wanted, _ = parsed(event)
        came = self.peer.next(self.now_s + most_s + TOLERANCE_S - time.monotonic())
        if came is None:
            raise ScriptError("the kernel sent nothing")
        at_s, segment = came
        if str(segment) != str(wanted):
            raise ScriptError(f"the kernel sent {segment}")
        if at_s < self.now_s + least_s - TOLERANCE_S:
            raise ScriptError(f"the kernel sent it {at_s - self.now_s:.6f} s later")
        self.now_s = at_s

    def call(self, event: str) -> None:
        """A call, whose result is a descriptor of the script or a count."""
        found = CALL.fullmatch(event)
        if not found or found[1] not in CALLS:
            raise ScriptError("this driver does not know such a call")
        name, words, result = found.groups()
        CALLS[name](self, [word.strip() for word in words.split(",")], int(result))

    def open(self, words: list[str], result: int) -> None:
        self.sockets[result] = socket.socket()

    def bind(self, words: list[str], result: int) -> None:
        self.sockets[int(words[0])].bind((OWN, PORT))

    def listen(self, words: list[str], result: int) -> None:
        self.sockets[int(words[0])].listen(int(words[1]))

    def accept(self, words: list[str], result: int) -> None:
        self.sockets[result], _ = self.sockets[int(words[0])].accept()

    def write(self, words: list[str], result: int) -> None:
        sent = self.sockets[int(words[0])].send(bytes(int(words[2])))
        if sent != result:
            raise ScriptError(f"the call returned {sent}")


CALLS: dict[str, Callable[[Script, list[str], int], None]] = {
    "socket": Script.open,
    "bind": Script.bind,
    "listen": Script.listen,
    "accept": Script.accept,
    "write": Script.write,
}


def outcome(name: str, flavor: str) -> dict[str, object]:
    script = Script(name, flavor)
    try:
        script.run()
    except ScriptError as error:
        return {"failed": str(error), "seen": script.peer.seen}
    return {"failed": "", "seen": script.peer.seen}


def run(job: list[tuple[str, str]]) -> list[dict[str, object]]:
    subprocess.run(["insmod", MODULE], check=True, timeout=60)
    return [outcome(name, flavor) for name, flavor in job]


if __name__ == "__main__":
    answer(run)
