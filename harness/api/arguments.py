# SPDX-License-Identifier: GPL-2.0-only
"""What the library's functions are called with: refused in the words of the command line."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from numbers import Integral
from pathlib import Path
from typing import Any, get_args

from harness.design.experiment import Port
from harness.labs import LABS
from plan.errors import UsageError
from plan.near import choices

CLOCKS = ("virtual", "real")
MOST_SEEDS, MOST_JOBS = 1000, 256
LAST_FIRST_SEED = 1_000_000_000
LEAST_STEP_S = 0.001
SIMPLE = (str, int, float, bool, date, time)


def path_of(value: object, name: str) -> Path:
    """A path; UsageError for what is none."""
    if isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str) and str(value):
        return Path(value)
    raise UsageError(f"{name} = {shown(value)}: must be the name of a file or folder, as a text")


def text_of(value: object, name: str) -> str:
    """A text; UsageError for anything else."""
    if isinstance(value, str):
        return value
    raise UsageError(f"{name} = {shown(value)}: must be a text (str)")


def mapping_of(value: object, name: str, example: str) -> Mapping[Any, Any]:
    """A mapping; UsageError for anything else, with an example."""
    if isinstance(value, Mapping):
        return value
    raise UsageError(f"{name} = {shown(value)}: must be a dict, such as {example}")


def check_number(value: object, name: str, most: int) -> None:
    """UsageError unless a value is None or a whole number from 1 to `most`."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and 1 <= value <= most):  # type: ignore[operator]
        raise UsageError(
            f"{name} = {shown(value)}: must be a whole number; allowed are 1 to {most}"
        )


def check_step(value: object) -> None:
    """UsageError unless a value is a number of seconds above 0."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not LEAST_STEP_S <= value < math.inf:  # type: ignore[operator]
        raise UsageError(
            f"step_s = {shown(value)}: must be a number of seconds, at least {LEAST_STEP_S}"
        )


def check_pairs(value: object) -> None:
    """UsageError unless a value is a list of whole numbers, none of which stands twice."""
    example = "must be a list of numbers, such as pairs=[1, 2]"
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise UsageError(f"pairs = {shown(value)}: {example}")
    pairs = list(value)
    if any(isinstance(one, bool) or not isinstance(one, Integral) for one in pairs):
        raise UsageError(f"pairs = {shown(value)}: {example}")
    if len(set(pairs)) < len(pairs):
        raise UsageError(f"pairs = {shown(value)}: a pair stands twice; name each pair once")


def check_flag(value: object, name: str) -> None:
    """UsageError unless a value is True or False."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} = {shown(value)}: must be True or False")


def check_run(
    *, seeds: object, first_seed: object, jobs: object, lab: object, clock: object, pcap: object,
    trace: object, kernels: object, module: object, debug: object, gdb: object,
    trust_kernels: object,
) -> None:  # fmt: skip
    """UsageError for the first argument of run() that does not do."""
    check_number(seeds, "seeds", MOST_SEEDS)
    check_number(first_seed, "first_seed", LAST_FIRST_SEED)
    check_number(jobs, "jobs", MOST_JOBS)
    check_choice(lab, "lab", tuple(LABS))
    if clock is not None:
        check_choice(clock, "clock", CLOCKS)
    for port in list_of(pcap, "pcap"):
        check_choice(port, "pcap", get_args(Port))
    list_of(trace, "trace")
    list_of(kernels, "kernels")
    list_of(debug, "debug")
    text_of(gdb, "gdb")
    check_flag(trust_kernels, "trust_kernels")
    text_of(str(module) if isinstance(module, os.PathLike) else module, "module")


def check_choice(value: object, name: str, allowed: Sequence[str]) -> None:
    """UsageError unless a value is one of some words."""
    if value not in allowed:
        raise UsageError(f"{name} = {shown(value)}: {choices(value, allowed)}")


def list_of(value: object, name: str) -> Iterable[str]:
    """A list of texts; UsageError for a single text, which would be taken letter by letter."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        written = shown([value] if isinstance(value, str) else ["..."])
        raise UsageError(f"{name} = {shown(value)}: must be a list, such as {name}={written}")
    return [text_of(one, name) for one in value]


def plain(value: Any, place: str = "") -> Any:
    """An experiment's tables as TOML has them; UsageError for a value that TOML lacks.

    Tuples, ranges, and the arrays and numbers of numpy stand for lists and numbers.
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        for key in value:
            text_of(key, f"experiment: {place or 'the name of a key'}")
        return {k: plain(below, f"{place}.{k}" if place else k) for k, below in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(one, place) for one in value]
    if isinstance(value, SIMPLE):
        return value
    raise UsageError(
        f"experiment: {place} = {shown(value)}: must be a text, a number, true or false, a list or"
        " a dict; leave out a key that has no value"
    )


def shown(value: object) -> str:
    """A value as Python writes it; of a long one its type."""
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else f"a {type(value).__name__}"
