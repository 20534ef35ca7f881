# SPDX-License-Identifier: GPL-2.0-only
"""Runs persistent sources in a lab.

The measurements come from the kernel and not from iperf3's blocks: each receiver's in-order payload
at both ends of the interval, and the counters in each sender's namespace.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from workload import ready, source
from workload.errors import WorkloadError
from workload.iperf import iperf3
from workload.iperf.checks import idle_sources, receiver_window
from workload.iperf.parameters import Parameters
from workload.source import Programs

NS_PER_S = 1_000_000_000
NOTSENT = Path("/proc/sys/net/ipv4/tcp_notsent_lowat")
UNLIMITED = 0xFFFF_FFFF
BEGIN, END = "begin", "end"
END_LIMIT_S = 1200.0
"""More than the 925 s after which TCP gives up a connection with net.ipv4.tcp_retries2 = 15."""


class Source(source.Source):
    """Data flows from server i to client i; the receiver listens."""

    checks = (idle_sources, receiver_window)

    parameters: Parameters
    _summary: dict[str, Any]
    _data_port: int

    def run(self, progress: Callable[[int], None]) -> None:
        params = self.parameters
        self._data_port = params.data_port
        self._limit_unsent(params.unsent_bytes)
        with self.testbed.programs() as programs:
            self._listen(params, programs)
            t0_ns = self.testbed.whole_second()
            marks = {}
            if params.measure_from_s == 0:  # the interval includes the starts
                marks[BEGIN] = self._mark(BEGIN)
            sources = self._start(params, programs, t0_ns)
            marks |= self._watch(params, t0_ns, progress)
            with killed_after(END_LIMIT_S, sources.values()):
                said = {pair: sources[pair].communicate()[0] for pair in sorted(sources)}
        versions, failures = ended(said)
        self._limit_unsent(UNLIMITED)
        self.write_flows(flow(pair, marks[BEGIN], marks[END]) for pair in self._pairs())
        self._summary = summarise(t0_ns, marks) | {"iperf3": versions} | failures

    def _pairs(self) -> list[int]:
        return [host.pair for host in self.testbed.clients]

    def _pid_of(self, end: str) -> Callable[[int], int]:
        """Return pair -> the process that holds the namespace of its client or server."""
        return self.testbed.client_pid if end == "client" else self.testbed.server_pid

    def _listen(self, params: Parameters, programs: Programs) -> None:
        pid_of = self._pid_of(iperf3.listen_host(params))
        pids = [pid_of(pair) for pair in self._pairs()]
        for pid in pids:
            programs.start(pid, iperf3.listen_argv(params))

        def all_listen() -> bool:
            return all(ready.is_listening(pid, params.port) for pid in pids)

        self.testbed.wait_until(all_listen, "iperf3")

    def _start(self, params: Parameters, programs: Programs, t0_ns: int) -> dict[int, Any]:
        """Start each pair's source at its time; return the processes by pair."""
        at_client = iperf3.listen_host(params) == "client"
        hosts = self.testbed.clients if at_client else self.testbed.servers
        pid_of = self._pid_of("server" if at_client else "client")
        times = iperf3.starts_ns(params, self.testbed.seed, len(hosts))
        sources = {}
        for start_ns, host in sorted(zip(times, hosts, strict=True), key=lambda both: both[0]):
            self.testbed.sleep_until(t0_ns + start_ns)
            argv = iperf3.source_argv(params, host.ip)
            sources[host.pair] = programs.start(pid_of(host.pair), argv)
        return sources

    def _watch(
        self, params: Parameters, t0_ns: int, progress: Callable[[int], None]
    ) -> dict[str, dict[int, dict[str, Any]]]:
        """Follow the trial by seconds; return the marks at the interval's ends after time 0."""
        marks = {}
        ends = dict(zip(params.ends_s, (BEGIN, END), strict=True))
        for second in range(1, params.duration_s + 1):
            self.testbed.sleep_until(t0_ns + second * NS_PER_S)
            if second in ends:
                marks[ends[second]] = self._mark(ends[second])
            self.testbed.sample_tcp(second)
            progress(second)
        return marks

    def _mark(self, name: str) -> dict[int, dict[str, Any]]:
        """Note the queues' counters and each pair's state, at one end of the interval."""
        with self._reading():
            self.testbed.snapshot(name)
            return {pair: self._read(pair) for pair in self._pairs()}

    def _reading(self) -> AbstractContextManager[None]:
        """Let no source wait for the mark of time 0; then the mark of the end is read alike.

        If no mark is at time 0, the marks do not hold up any source.
        """
        at_zero = self.parameters.measure_from_s == 0
        return self.testbed.at_once() if at_zero else nullcontext()

    def _read(self, pair: int) -> dict[str, Any]:
        received = self.testbed.shown_connection(self.testbed.client_pid(pair), self._data_port)
        at_ns = time.monotonic_ns()
        sender = self.testbed.shown_connection(self.testbed.server_pid(pair), self._data_port)
        senders = self.testbed.connections(self.testbed.server_pid(pair))
        return {
            "at_ns": at_ns,
            "received_bytes": int(received.get("bytes_received", 0)),
            **self.testbed.tcp_totals(self.testbed.server_pid(pair)),
            "sender": sender,
            "cwnd_segments": next(
                (one.cwnd_segments for one in senders if self._data_port in one.ports), None
            ),
        }

    def _limit_unsent(self, size: int) -> None:
        """Limit the unsent data: more data than a window needs only costs memory."""
        for pair in self._pairs():
            with self.testbed.inside(self.testbed.server_pid(pair)):
                NOTSENT.write_text(str(size))

    def summary(self) -> dict[str, Any]:
        return self._summary


@contextmanager
def killed_after(limit_s: float, sources: Iterable[Any]) -> Iterator[None]:
    """Kill the sources when the `with` has lasted for a time.

    An iperf3 whose receiver has given up may have no segment left to send, so it waits for ever. A
    signal kills it, because a look at the sources would take time from all hosts of the lab.
    """
    before = signal.signal(signal.SIGALRM, lambda *_: [one.kill() for one in sources])
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ended(said: Mapping[int, str]) -> tuple[list[str], dict[str, dict[int, str]]]:
    """Return the versions of iperf3, and `iperf3_failures`: pair -> cause, if any failed.

    An iperf3 gives up with an error if its control connection loses too much, or is killed if it
    does not end; usually, the interval is over then. Such a failure decides nothing: the
    measurements come from the kernel, and a source that stops before the interval's end is idle. If
    all fail, the lab has no working iperf3.

    Args:
        said: pair -> the output of its iperf3.
    """
    versions, failures = set(), {}
    for pair, text in said.items():
        try:
            versions.add(iperf3.report(text).version)
        except WorkloadError as error:
            failures[pair] = str(error)
    if not versions:
        raise WorkloadError(next(iter(failures.values())))
    return sorted(versions), {"iperf3_failures": failures} if failures else {}


def flow(
    pair: int, begin: dict[int, dict[str, Any]], end: dict[int, dict[str, Any]]
) -> dict[str, object]:
    """Return a row of flows.csv: the interval's changes, and the sender's state at its end."""
    first, last = begin[pair], end[pair]
    counted = ("received_bytes", "timeouts", "retransmits")
    sender = last["sender"]
    return {
        "pair": pair,
        **{name: last[name] - first[name] for name in counted},
        "cwnd_segments": last["cwnd_segments"],
        "ssthresh_segments": sender.get("ssthresh"),
        "srtt_us": round(float(sender["rtt"].split("/")[0]) * 1000) if "rtt" in sender else None,
    }


def summarise(t0_ns: int, marks: dict[str, dict[int, dict[str, Any]]]) -> dict[str, Any]:
    """Return the actual interval, and receivers' windows, flights and idle sources at its end.

    A source is idle if it has no connection or no unsent data.
    """
    begin, end = marks[BEGIN], marks[END]
    newly = [delivered_bytes(end[pair]) - delivered_bytes(begin[pair]) for pair in end]
    spans = [end[pair]["at_ns"] - begin[pair]["at_ns"] for pair in end]
    senders = [one["sender"] for one in end.values()]
    return {
        "t0_ns": t0_ns,
        "idle_sources": sum(not int(s.get("notsent", 0)) for s in senders),
        "measured_s": mean_s(spans),
        "received_whole_bytes": [one["received_bytes"] for one in end.values()],
        "delivered_bytes": newly,
        "whole_s": mean_s([one["at_ns"] - t0_ns for one in end.values()]),
        "peer_window_bytes": [int(s["snd_wnd"]) if "snd_wnd" in s else None for s in senders],
        "flight_segments": [int(s.get("unacked", 0)) for s in senders],
    }


def mean_s(spans_ns: Sequence[int]) -> float:
    """Return the mean of the spans [s], rounded to microseconds.

    A sleeping process wakes exactly at its time, or a nanosecond later unless another timer of the
    lab ended just then. This difference is no property of the trial.
    """
    return round(sum(spans_ns) / len(spans_ns) / 1e3) / 1e6


def delivered_bytes(mark: dict[str, Any]) -> int:
    """Return the bytes that the sender knows to have arrived, in order or not, in whole segments.

    The receiver's in-order bytes jump when a hole is filled, by all the data that the receiver
    held. In a short interval, such a jump may be more than the link can carry.
    """
    sender = mark["sender"]
    return int(sender.get("delivered", 0)) * int(sender.get("mss", 0))
