# SPDX-License-Identifier: GPL-2.0-only
"""The WWW clients of 98-0876R1 (section 5.3) as data: who asks for which file, and when.

A client asks for a document every `period_s`: a batch of 1 to 9 requests, apart by a random gap,
sent without waiting for the answers (HTTP/1.1 pipelining). The schedule depends on the parameters
and the seed alone, never on the network.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from . import specweb
from .errors import WorkloadError
from .limits import check_one_of, check_range, check_types
from .poisson import FITS, Bounded, bounded
from .streams import stream

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
FIRST_BATCH = ("together", "jitter", "spread")
SERVER_STREAM = ("nginx", "joined")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The workload's parameters; the defaults are the paper's.

    duration_s            length of a trial [s] (section 6.1)
    period_s              time from a batch's first request to the next batch's [s] (section 5.3)
    requests_mean         mean number of requests a batch (section 5.3)
    requests_min, _max    bounds of that number (section 5.3)
    gap_min_ms, _max_ms   bounds of the gap between two requests of a batch, uniform [ms] (5.3)
    request_bytes         size of a request on its connection [bytes] (section 6.2)
    poisson_fit           how a Poisson of mean 5 became 1..9: see poisson.py. Not in the paper;
                          "mean" yields the means that it states
    first_batch           when a client's first batch starts. Not in the paper. "together": all at
                          exactly 0; "jitter": uniform in 0..jitter_ms; "spread": in 0..period_s
    server_stream         what an answer is on its connection. "joined": one stream, the HTTP header
                          in the same segments as the file, the request's ACK with it (section 5.2:
                          the server "sends some data back"); "nginx": the header leaves at once, a
                          segment of its own where the window is open
    jitter_ms             bound for first_batch = "jitter" [ms]
    """

    duration_s: float = 100.0
    period_s: float = 10.0
    requests_mean: float = 5.0
    requests_min: int = 1
    requests_max: int = 9
    gap_min_ms: float = 100.0
    gap_max_ms: float = 500.0
    request_bytes: int = 128
    poisson_fit: str = "mean"
    first_batch: str = "together"
    jitter_ms: float = 10.0
    server_stream: str = "nginx"

    def __post_init__(self) -> None:
        check_types(self)
        check_range(
            self,
            duration_s=(0.001, 86400),
            period_s=(0.001, 86400),
            requests_min=(0, self.requests_max - 1),
            requests_max=(1, 1000),
            gap_min_ms=(0, self.gap_max_ms),
            gap_max_ms=(0, 86_400_000),
            request_bytes=(64, 1024),
            jitter_ms=(0, self.period_s * 1000),
        )
        check_one_of(self, poisson_fit=FITS, first_batch=FIRST_BATCH, server_stream=SERVER_STREAM)
        if not self.requests_min < self.requests_mean < self.requests_max:
            low, high = self.requests_min, self.requests_max
            raise WorkloadError(
                f"workload.requests_mean: {self.requests_mean:g}, must be inside {low}..{high}"
            )

    @property
    def duration_ns(self) -> int:
        """Length of a trial [ns]."""
        return round(self.duration_s * NS_PER_S)


@dataclass(frozen=True, slots=True)
class Request:
    """One request: pair from 1, batch and request (within the batch) from 0, file from 1.

    `due_ns` counts from the start of the trial; `size_bytes` is the file's, without HTTP header.
    """

    pair: int
    batch: int
    request: int
    file_class: int
    file: int
    size_bytes: int
    due_ns: int

    @property
    def path(self) -> str:
        """The file's path in the request line."""
        return specweb.path(self.file_class, self.file)


def schedule(params: Parameters, seed: int, pairs: int) -> tuple[Request, ...]:
    """Return every request of a trial with `pairs` pairs, by due time, then pair, then number.

    Requests due at or after the end of the trial are left out. The draws of each pair and batch
    are streams of their own: another number of pairs, or another reading of the Poisson, leaves
    all other draws as they are.
    """
    if pairs < 1:
        raise WorkloadError(f"pairs: {pairs}, must be 1 or more")
    counts = bounded(
        params.requests_mean, params.requests_min, params.requests_max, params.poisson_fit
    )
    files = bounded(specweb.FILE_MEAN, specweb.FILES[0], specweb.FILES[-1], params.poisson_fit)
    found = [
        request
        for pair in range(1, pairs + 1)
        for batch, start_ns in enumerate(_batch_starts_ns(params, seed, pair))
        for request in _batch(params, seed, pair, batch, start_ns, counts, files)
        if request.due_ns < params.duration_ns
    ]
    return tuple(sorted(found, key=lambda r: (r.due_ns, r.pair, r.batch, r.request)))


def scheduled_bytes(requests: tuple[Request, ...], pairs: int) -> tuple[int, ...]:
    """Return for pair 1, 2, … the bytes of all files it asks for (the paper's S_i x duration)."""
    totals = [0] * pairs
    for request in requests:
        totals[request.pair - 1] += request.size_bytes
    return tuple(totals)


def _batch_starts_ns(params: Parameters, seed: int, pair: int) -> range:
    period_ns = round(params.period_s * NS_PER_S)
    within_ns = {
        "together": 0,
        "jitter": round(params.jitter_ms * NS_PER_MS),
        "spread": period_ns,
    }[params.first_batch]
    first_ns = int(stream(seed, "www", "start", pair).random() * within_ns)
    return range(first_ns, params.duration_ns, period_ns)


def _batch(
    params: Parameters,
    seed: int,
    pair: int,
    batch: int,
    start_ns: int,
    counts: Bounded,
    files: Bounded,
) -> Iterator[Request]:
    def draws(name: str) -> Iterator[float]:
        source = stream(seed, "www", name, pair, batch)
        return iter(source.random, None)

    gaps, classes, numbers = draws("gap"), draws("class"), draws("file")
    due_ns = start_ns
    for request in range(counts.at(next(draws("count")))):
        file_class = specweb.class_at(next(classes))
        file = files.at(next(numbers))
        size = specweb.size_bytes(file_class, file)
        yield Request(pair, batch, request, file_class, file, size, due_ns)
        due_ns += _gap_ns(params, next(gaps))


def _gap_ns(params: Parameters, uniform: float) -> int:
    gap_ms = params.gap_min_ms + (params.gap_max_ms - params.gap_min_ms) * uniform
    return round(gap_ms * NS_PER_MS)
