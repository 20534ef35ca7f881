# SPDX-License-Identifier: GPL-2.0-only
"""The schedule of the WWW clients of 98-0876R1 (section 5.3): each request's client, file, time.

A client asks for a document every `period_s`: a batch of 1 to 9 requests with random gaps between
them. It does not wait for answers (HTTP/1.1 pipelining). The schedule depends on the parameters and
the seed alone, never on the network.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workload import specweb
from workload.errors import WorkloadError
from workload.poisson import Bounded, bounded
from workload.streams import stream
from workload.www.parameters import NS_PER_S, Schedule

NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """One request: pair from 1, batch and request (within the batch) from 0, file from 1.

    `due_ns` counts from the start of the trial. `size_bytes` is the file's size without HTTP
    header.
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


def schedule(params: Schedule, seed: int, pairs: int) -> tuple[Request, ...]:
    """Return all requests of a trial with `pairs` pairs, by due time, then pair, then number.

    Requests that are due at or after the end of the trial are left out. Each pair and batch has its
    own streams. So another number of pairs, or another reading of the Poisson distribution, changes
    no other draws.
    """
    if pairs < 1:
        raise WorkloadError(f"pairs = {pairs}: must be at least 1")
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
    """Return the bytes of all files that each pair asks for (S_i x duration in the paper)."""
    totals = [0] * pairs
    for request in requests:
        totals[request.pair - 1] += request.size_bytes
    return tuple(totals)


def _batch_starts_ns(params: Schedule, seed: int, pair: int) -> range:
    period_ns = round(params.period_s * NS_PER_S)
    within_ns = {
        "together": 0,
        "jitter": round(params.jitter_ms * NS_PER_MS),
        "spread": period_ns,
    }[params.first_batch]
    first_ns = int(stream(seed, "www", "start", pair).random() * within_ns)
    return range(first_ns, params.duration_ns, period_ns)


def _batch(
    params: Schedule,
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


def _gap_ns(params: Schedule, uniform: float) -> int:
    gap_ms = params.gap_min_ms + (params.gap_max_ms - params.gap_min_ms) * uniform
    return round(gap_ms * NS_PER_MS)
