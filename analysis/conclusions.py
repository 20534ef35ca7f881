# SPDX-License-Identifier: GPL-2.0-only
"""Conclusions as data: reading them, and those of 98-0876R1 (`conclusions.toml`) judged."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.comparison import RESPONSES, CellComparison
from analysis.errors import TableError
from analysis.evidence import FACTORS, Evidence, Method, NoEvidenceError
from analysis.records import PAPER_LEVELS
from analysis.verdicts import CHECKS, Check, Finding, Verdict
from analysis.vocabulary import Vocabulary, fault

CONCLUSIONS = Path(__file__).with_name("conclusions.toml")
REQUIRED = ("id", "sentence", "source", "check")
VOCABULARY = Vocabulary(
    levels={factor: PAPER_LEVELS[factor] for factor in FACTORS},
    networks=PAPER_LEVELS["network"],
    metrics=RESPONSES,
)
"""The words of 98-0876R1's design, within one network."""


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """One published sentence, its section, and the check with the parameters that stand for it.

    check: its name in the file; rule: the function of that name. `reading` says how the check
    reads the sentence, where that needs saying.
    """

    id: str
    sentence: str
    source: str
    check: str
    reading: str = ""
    parameters: Mapping[str, Any] = field(repr=False)
    rule: Check = field(repr=False)

    def on(self, evidence: object) -> Finding:
        """What the evidence, of the kind that the rule wants, says; undecided if not measured."""
        try:
            return self.rule(evidence, **self.parameters)
        except NoEvidenceError as error:
            return Finding(verdict=Verdict.UNDECIDED, evidence=str(error))


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A conclusion's finding by one method."""

    conclusion: Conclusion
    method: Method
    finding: Finding


def load(
    path: Path = CONCLUSIONS,
    checks: Mapping[str, Check] = CHECKS,
    vocabulary: Vocabulary = VOCABULARY,
) -> tuple[Conclusion, ...]:
    """The conclusions in a file; raises TableError naming the one that is wrong, and its key.

    checks: those a conclusion may name, each a function of the evidence and of its parameters;
    vocabulary: the words that those may use.
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
    entries = document.get("conclusion", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise TableError(f"{path}: 'conclusion' is no list of tables; write [[conclusion]]")
    found = tuple(_conclusion(path, entry, checks, vocabulary) for entry in entries)
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
        Judgement(conclusion=conclusion, method=method, finding=conclusion.on(evidence))
        for conclusion in (load() if conclusions is None else conclusions)
    )


def _conclusion(
    path: Path, entry: Mapping[str, Any], checks: Mapping[str, Check], vocabulary: Vocabulary
) -> Conclusion:
    name = entry.get("id", "without id")
    for key in REQUIRED:
        if not isinstance(entry.get(key), str):
            raise TableError(f"{path}: conclusion '{name}': the key '{key}' is missing or no text")
    rule = checks.get(entry["check"])
    if rule is None:
        raise TableError(f"{path}: conclusion '{name}': unknown check '{entry['check']}'")
    parameters = {key: entry[key] for key in entry if key not in (*REQUIRED, "reading")}
    wrong = fault(rule, parameters, vocabulary)
    if wrong:
        raise TableError(f"{path}: conclusion '{name}': {wrong}")
    texts = {key: entry[key] for key in REQUIRED}
    reading = str(entry.get("reading", ""))
    return Conclusion(**texts, reading=reading, parameters=parameters, rule=rule)
