# SPDX-License-Identifier: GPL-2.0-only
"""The servers: how each stack is started, and what it says against itself."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from workload.quic.parameters import Stack
from workload.ready import await_line, last_words, not_begun
from workload.source import Host, Programs, Testbed

PORT = 443
DRAWS = "/opt/cellbed/quic_draws"
UDP_IP_HEADER_BYTES = 28
TCP_IP_HEADER_BYTES = 40
END_S = 60
# What a client may have under way to its server: with less, the server would hold requests back.
LARGE_BYTES = 1 << 24
STREAMS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a trial's programs are and what they use.

    Attributes:
        layer: folder with the packages of QUIC (Testbed.layer).
        folder: for the programs' own files.
        documents: the servers' files.
        begin_ns: the moment from which the programs' clocks count.
    """

    layer: Path
    folder: Path
    documents: Path
    begin_ns: int

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    def environment(self, draws: str) -> dict[str, str]:
        """Return the variables of a program whose random numbers start with `draws`."""
        return {
            "LD_LIBRARY_PATH": str(self.layer / "usr/lib/x86_64-linux-gnu"),
            "LD_PRELOAD": DRAWS,
            "PYTHONPATH": str(self.layer / "usr/lib/python3/dist-packages"),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "CELLBED_DRAWS": draws,
            "CELLBED_BEGIN_NS": str(self.begin_ns),
        }


def datagram_bytes(mss_bytes: int) -> int:
    """Return the UDP payload of a packet as large as a full segment of TCP."""
    return mss_bytes + TCP_IP_HEADER_BYTES - UDP_IP_HEADER_BYTES


def python(module: str, *words: str) -> list[str]:
    """Return the command of one of the programs in Python."""
    return ["python3", "-m", module, *words]


def write_spec(path: Path, spec: Mapping[str, object]) -> Path:
    """Write what a program reads at its start; return the file."""
    path.write_text(json.dumps(spec))
    return path


class Servers:
    """The servers of all pairs while they run.

    Attributes:
        expected: how lines begin that a good server prints.
    """

    expected: tuple[str, ...] = ()

    def __init__(self, testbed: Testbed, params: Stack, place: Place) -> None:
        self.testbed = testbed
        self.params = params
        self.place = place
        self.started: list[Popen[str]] = []

    def qlog(self, pair: int) -> Path:
        """Return the qlog of a pair's server, which is absent if no client has reached it."""
        raise NotImplementedError

    def start(self, programs: Programs, descriptors: Sequence[int]) -> None:
        """Start them and wait until they can be reached. The sockets are open for all of them."""
        raise NotImplementedError

    def end(self) -> list[str]:
        """End them; return what they say: nothing after a good trial.

        Raises:
            RuntimeError: one has ended by itself, so its qlog is cut short.
        """
        for process in self.started:
            if process.poll() is not None:
                raise RuntimeError(
                    f"a server ended during the trial, with status {process.returncode}:"
                    f" {last_words(process.communicate()[0]) or 'no word'}"
                )
        for process in self.started:
            process.send_signal(signal.SIGINT)  # at SIGTERM, ngtcp2 does not finish its qlog
        said = [last_output(process) for process in self.started]
        failed = [
            f"a server ended with status {p.returncode}" for p in self.started if p.returncode
        ]
        lines = [line for text in said for line in text.splitlines()]
        return [line for line in lines if not line.startswith(self.expected)][:20] + failed


class Aioquic(Servers):
    """One process for all hosts, with a socket in each host's namespace."""

    def qlog(self, pair: int) -> Path:
        return self.place.folder / f"s{pair}.sqlog"

    def start(self, programs: Programs, descriptors: Sequence[int]) -> None:
        hosts = self.testbed.servers
        spec = write_spec(self.place.folder / "server.json", {
            "folder": str(self.place.folder),
            "docroot": str(self.place.documents),
            "congestion": self.params.congestion,
            "datagram_bytes": datagram_bytes(self.testbed.mss_bytes),
            "certificate": str(self.place.certificate),
            "key": str(self.place.key),
            "pairs": [{"pair": host.pair, "descriptor": descriptor}
                      for host, descriptor in zip(hosts, descriptors, strict=True)],
        })  # fmt: skip
        environment = self.place.environment(f"{self.testbed.seed} servers")
        process = programs.start(
            self.testbed.server_pid(hosts[0].pair),
            python("workload.quic.server", str(spec)),
            environment,
            descriptors,
        )
        await_line(process, "the server of aioquic")
        self.started.append(process)


class Ngtcp2(Servers):
    """A process for each host. It opens its socket itself."""

    expected = (
        "Using document root",
        "sendmsg: disabling GSO",  # which the lab does not have (programs/quic_draws.c)
        "ngtcp2_conn_read_pkt: ERR_DRAINING",  # the client has closed the connection
    )

    def folder(self, pair: int) -> Path:
        return self.place.folder / f"s{pair}"

    def qlog(self, pair: int) -> Path:
        found = list(self.folder(pair).glob("*.sqlog"))
        if len(found) > 1:
            raise RuntimeError(f"server {pair} had {len(found)} connections, but must have one")
        return found[0] if found else self.folder(pair) / "none.sqlog"

    def start(self, programs: Programs, descriptors: Sequence[int]) -> None:
        for host in self.testbed.servers:
            self.folder(host.pair).mkdir()
            environment = self.place.environment(f"{self.testbed.seed} server {host.pair}")
            pid = self.testbed.server_pid(host.pair)
            process = programs.start(pid, self.argv(host), environment)
            self.started.append(process)
            what = f"the server of ngtcp2 of pair {host.pair}"
            self.testbed.wait_until(partial(began, process, pid, what), what)

    def argv(self, host: Host) -> list[str]:
        return [
            str(self.place.layer / "usr/sbin/gtlsserver"),
            "--quiet", "--no-quic-dump", "--no-http-dump",
            f"--htdocs={self.place.documents}",
            f"--qlog-dir={self.folder(host.pair)}",
            f"--cc={self.params.congestion}",
            f"--max-udp-payload-size={datagram_bytes(self.testbed.mss_bytes)}",
            "--timeout=24h",
            "--initial-pkt-num=0",  # else drawn by chance
            f"--max-data={LARGE_BYTES}",
            f"--max-streams-bidi={STREAMS}",
            host.ip, str(PORT), str(self.place.key), str(self.place.certificate),
        ]  # fmt: skip


def last_output(process: Popen[str]) -> str:
    """Wait until a server ends; return what it said.

    Raises:
        RuntimeError: it did not end.
    """
    try:
        return process.communicate(timeout=END_S)[0]
    except TimeoutExpired:
        raise RuntimeError(f"a server did not end within {END_S} s of SIGINT") from None


def began(process: Popen[str], pid: int, what: str) -> bool:
    """Return whether a server's socket is open.

    Raises:
        RuntimeError: the server has ended; the text has the end of what it said.
    """
    if process.poll() is not None:
        raise not_begun(what, process.communicate()[0])
    return opened(pid)


def opened(pid: int) -> bool:
    """Return whether a UDP socket in the namespace of `pid` has the servers' port."""
    lines = Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]
    return any(int(line.split()[1].rpartition(":")[2], 16) == PORT for line in lines)


STACKS: Mapping[str, type[Servers]] = {"ngtcp2": Ngtcp2, "aioquic": Aioquic}
