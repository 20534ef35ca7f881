# SPDX-License-Identifier: GPL-2.0-only
"""What a conclusion may say: its check's keys, and the words of its paper's design.

A word that the design has and the records have not is "not measured", a verdict. One that the
design has not either is a mistake in the conclusions' file, and is told when that is read.
"""

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

BOUNDS = ("at_least", "at_most", "within")
"""Parameters of which a check that leaves them open needs one, for it cannot fail without."""
METRIC_KEYS = ("response", "metric")
NETWORK_KEYS = ("network", "networks", "than")
LEVEL_KEYS = ("upper", "lower", "level", "levels", "best_to_worst", "of", "minus")
"""Keys whose values are levels of the factor that the key `factor` names."""
COMPARED_KEYS = ("networks", "levels", "best_to_worst")
"""Keys whose words are compared with each other: of one word nothing could fail."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of a design: levels of each factor, networks, and metrics of a trial."""

    levels: Mapping[str, Sequence[str]]
    networks: Sequence[str]
    metrics: Sequence[str]


def fault(
    check: Callable[..., object], parameters: Mapping[str, Any], vocabulary: Vocabulary
) -> str | None:
    """What is wrong with the parameters of a conclusion, in words; None when nothing is."""
    _, *known = inspect.signature(check).parameters.values()
    faults = itertools.chain(
        _of_keys(known, parameters),
        _of_kinds(known, parameters),
        _of_words(parameters, vocabulary),
    )
    return next(faults, None)


def _of_keys(known: Sequence[inspect.Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    names = [parameter.name for parameter in known]
    for key in given:
        if key not in names:
            yield f"unknown key '{key}' (allowed: {', '.join(names)})"
    for parameter in known:
        if parameter.default is parameter.empty and parameter.name not in given:
            yield f"the key '{parameter.name}' is missing"
    bounds = [one.name for one in known if one.name in BOUNDS and one.default is None]
    if bounds and not any(name in given for name in bounds):
        yield f"needs one of the keys {', '.join(bounds)}"


def _of_kinds(known: Sequence[inspect.Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    """Values that are not of the kind that the check's signature asks for."""
    for parameter in known:
        if parameter.name in given:
            try:
                TypeAdapter(parameter.annotation).validate_python(
                    given[parameter.name], strict=True
                )
            except ValidationError as error:
                yield f"the key '{parameter.name}': {error.errors()[0]['msg']}"


def _of_words(given: Mapping[str, Any], vocabulary: Vocabulary) -> Iterator[str]:
    """Factors, levels, networks and metrics that the design has not."""
    for key, value in given.items():
        if isinstance(value, Mapping):
            for factor, levels in value.items():
                yield from _of_factor(key, factor, levels, vocabulary)
        elif key in LEVEL_KEYS:
            yield from _of_factor(key, given.get("factor"), value, vocabulary)
        elif key == "factor" and value not in vocabulary.levels:
            yield _unknown(key, "factor", value, vocabulary.levels)
        elif key in NETWORK_KEYS:
            yield from _of_list(key, "network", value, vocabulary.networks)
        elif key in METRIC_KEYS:
            yield from _of_list(key, "metric", value, vocabulary.metrics)


def _of_factor(key: str, factor: Any, levels: Any, vocabulary: Vocabulary) -> Iterator[str]:
    if factor not in vocabulary.levels:
        yield _unknown(key, "factor", factor, vocabulary.levels)
    else:
        yield from _of_list(key, f"level of {factor}", levels, vocabulary.levels[factor])


def _of_list(key: str, kind: str, value: Any, known: Sequence[str]) -> Iterator[str]:
    words = value if isinstance(value, list) else [value]
    fewest = 2 if key in COMPARED_KEYS else 1
    if len(words) < fewest:
        yield f"the key '{key}': lists {len(words)}, needs {fewest} or more"
    for word in words:
        if str(word) not in known:
            yield _unknown(key, kind, word, known)


def _unknown(key: str, kind: str, word: object, known: Sequence[str] | Mapping[str, Any]) -> str:
    return f"the key '{key}': unknown {kind} '{word}' (known: {', '.join(known)})"
