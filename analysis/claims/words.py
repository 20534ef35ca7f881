# SPDX-License-Identifier: GPL-2.0-only
"""What a claim's parameters may say: its check's keys, and the words of its study's design.

A word that the design has and the records have not is "not measured", a verdict. One that the
design has not either is a mistake in the file of claims, and is told when that is read.
"""

import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.study import METRICS, Study
from plan.schema import Reading, TypedError

BOUNDS = ("at_least", "at_most", "within")
"""Parameters of which a check that leaves them open needs one, for it cannot fail without."""
RESPONSE_KEYS = ("response", "with_any", "without")
LEVEL_KEYS = ("upper", "lower", "level", "levels", "best_to_worst")
"""Keys whose values are levels of the factor that the key `factor` names."""
COMPARED_KEYS = ("along", "levels", "best_to_worst")
"""Keys whose words are compared with each other: of one word nothing could fail."""


KINDS = Reading({}, defaults=False)


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of a design: levels of each factor, and responses."""

    levels: Mapping[str, Sequence[str]]
    responses: Sequence[str]


def words_of(study: Study) -> Words:
    """Those of a study's cells, of what it measures, and of what every trial has."""
    named = [one.name for one in (*study.means, *study.measures)]
    return Words(levels=study.cell, responses=tuple(dict.fromkeys((*named, *METRICS))))


def fault(check: Callable[..., object], parameters: Mapping[str, Any], known: Words) -> str | None:
    """What is wrong with the parameters of a claim, in words; None when nothing is."""
    _, *keys = inspect.signature(check, eval_str=True).parameters.values()
    faults = itertools.chain(
        _of_keys(keys, parameters),
        _of_kinds(keys, parameters),
        _of_words(parameters, known),
    )
    return next(faults, None)


def _of_keys(known: Sequence[inspect.Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    names = [parameter.name for parameter in known]
    for key in given:
        if key not in names:
            yield f"the key '{key}' is unknown (allowed: {', '.join(names)})"
    for parameter in known:
        if parameter.default is parameter.empty and parameter.name not in given:
            yield f"the key '{parameter.name}' is missing"
    bounds = [one.name for one in known if one.name in BOUNDS and one.default is None]
    if bounds and not any(name in given for name in bounds):
        yield f"it needs one of the keys {', '.join(bounds)}"


def _of_kinds(known: Sequence[inspect.Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    """Values that are not of the kind that the check's signature asks for."""
    for parameter in known:
        if parameter.name in given:
            try:
                KINDS.value(parameter.annotation, given[parameter.name], parameter.name)
            except TypedError as error:
                place, rest = re.split(r"(?= = |: )", str(error), maxsplit=1)
                yield f"the key '{place}'{rest}"


def _of_words(given: Mapping[str, Any], known: Words) -> Iterator[str]:
    """Factors, levels and responses that the design has not."""
    for key, value in given.items():
        if isinstance(value, Mapping):
            for factor, levels in value.items():
                yield from _of_factor(key, factor, levels, known)
        elif key in LEVEL_KEYS:
            yield from _of_factor(key, given.get("factor"), value, known)
        elif key == "factor" and value not in known.levels:
            yield _unknown(key, "factor", value, known.levels)
        elif key in RESPONSE_KEYS:
            yield from _of_list(key, "response", value, known.responses)


def _of_factor(key: str, factor: Any, levels: Any, known: Words) -> Iterator[str]:
    if factor not in known.levels:
        yield _unknown(key, "factor", factor, known.levels)
    else:
        yield from _of_list(key, f"level of {factor}", levels, known.levels[factor])


def _of_list(key: str, kind: str, value: Any, known: Sequence[str]) -> Iterator[str]:
    words = value if isinstance(value, list) else [value]
    fewest = 2 if key in COMPARED_KEYS else 1
    if len(words) < fewest:
        yield f"the key '{key}' lists {len(words)}, but needs {fewest} or more"
    for word in words:
        if str(word) not in known:
            yield _unknown(key, kind, word, known)


def _unknown(key: str, kind: str, word: object, known: Sequence[str] | Mapping[str, Any]) -> str:
    return f"the key '{key}': '{word}' is no {kind} (known: {', '.join(known)})"
