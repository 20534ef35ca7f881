# SPDX-License-Identifier: GPL-2.0-only
"""The published conclusions (`conclusions.toml`) judged on a set of cells."""

import inspect
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.comparison import CellComparison
from analysis.errors import TableError
from analysis.evidence import Evidence, Method, NoEvidenceError
from analysis.verdicts import CHECKS, Check, Finding, Verdict

CONCLUSIONS = Path(__file__).with_name("conclusions.toml")
REQUIRED = ("id", "sentence", "source", "check")


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """One published sentence, its section, and the check with the parameters that stand for it.

    `reading` says how the check reads the sentence, where that needs saying.
    """

    id: str
    sentence: str
    source: str
    check: str
    reading: str = ""
    parameters: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A conclusion's finding by one method."""

    conclusion: Conclusion
    method: Method
    finding: Finding


def load(
    path: Path = CONCLUSIONS, checks: Mapping[str, Check] = CHECKS
) -> tuple[Conclusion, ...]:
    """The conclusions in a file; raises TableError naming the one that is wrong, and its key.

    checks: those a conclusion may name, each a function of the evidence and of its parameters.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TableError(f"{path}: cannot read the conclusions: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path}: not TOML: {error}") from None
    unknown = sorted(set(document) - {"conclusion"})
    if unknown:
        raise TableError(f"{path}: unknown key '{unknown[0]}'")
    found = tuple(_conclusion(path, entry, checks) for entry in document.get("conclusion", []))
    names = [conclusion.id for conclusion in found]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{path}: two conclusions have the id '{name}'")
    return found


def judge(
    cells: Sequence[CellComparison],
    method: Method = Method.CELL_MEANS,
    conclusions: Sequence[Conclusion] | None = None,
) -> tuple[Judgement, ...]:
    """Every conclusion judged on `cells` (of all responses); what was not measured is undecided."""
    evidence = Evidence(cells, method)
    return tuple(
        Judgement(conclusion=conclusion, method=method, finding=_finding(evidence, conclusion))
        for conclusion in (load() if conclusions is None else conclusions)
    )


def _conclusion(
    path: Path, entry: Mapping[str, Any], checks: Mapping[str, Check]
) -> Conclusion:
    name = entry.get("id", "without id")
    for key in REQUIRED:
        if not isinstance(entry.get(key), str):
            raise TableError(f"{path}: conclusion '{name}': the key '{key}' is missing or no text")
    if entry["check"] not in checks:
        raise TableError(f"{path}: conclusion '{name}': unknown check '{entry['check']}'")
    parameters = {key: entry[key] for key in entry if key not in (*REQUIRED, "reading")}
    try:
        inspect.signature(checks[entry["check"]]).bind(None, **parameters)
    except TypeError as error:
        raise TableError(f"{path}: conclusion '{name}': {error}") from None
    texts = {key: entry[key] for key in REQUIRED}
    return Conclusion(**texts, reading=str(entry.get("reading", "")), parameters=parameters)


def _finding(evidence: Evidence, conclusion: Conclusion) -> Finding:
    try:
        return CHECKS[conclusion.check](evidence, **conclusion.parameters)
    except NoEvidenceError as error:
        return Finding(verdict=Verdict.UNDECIDED, evidence=str(error))
    except KeyError as error:  # a level that the campaign does not have
        return Finding(verdict=Verdict.UNDECIDED, evidence=f"not measured: {error.args[0]}")
