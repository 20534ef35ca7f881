# SPDX-License-Identifier: GPL-2.0-only
"""The file of a study's claims, each an id, the words, their place, a check and its parameters.

[headings]                      not required: the heading above the claims whose id begins so
wan = "WAN"

[[claim]]
id = "wan-sack-best"            unique
sentence = "SACK is best."      the published words
reading = "..."                 how the check reads them, where they say more (not required)
source = "8.2.1, item 1"        section and item
check = "extreme"               one of checks.py, or of the study's own
...                             its parameters
wider = { at_most = 0.05 }      where a word has to be read: the same claim once more, with a wider
                                bound in place of the rule's; its id ends in "-wider" (not required)
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.claims.checks import CHECKS, Check
from analysis.claims.evidence import Evidence
from analysis.claims.findings import Finding, NoEvidenceError, Verdict
from analysis.claims.words import Words, fault, words_of
from analysis.errors import TableError
from analysis.study import Study

NO_CHECKS: Mapping[str, Check] = {}
WIDER = "-wider"
WIDER_WORDS = "With a wider bound."
"""What a claim's id and reading end with if it is judged with its second bound."""
REQUIRED = ("id", "sentence", "source", "check")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One published sentence, its section, and the check with the parameters that stand for it.

    check: its name in the file; rule: the function of that name. `heading` is what it stands
    under; `reading` says how the check reads the sentence, where that needs saying.
    """

    id: str
    sentence: str
    source: str
    check: str
    heading: str = ""
    reading: str = ""
    parameters: Mapping[str, Any] = field(repr=False)
    rule: Check = field(repr=False)

    def on(self, evidence: Evidence) -> Finding:
        """What the evidence says; undecided where it was not measured.

        Nothing is decided where a cell that it rests on was run with one seed.
        """
        evidence.asked.clear()
        try:
            found = self.rule(evidence, **self.parameters)
        except NoEvidenceError as error:
            return Finding(verdict=Verdict.UNDECIDED, evidence=str(error))
        firm = found.verdict is not Verdict.UNDECIDED
        return (
            replace(found, verdict=Verdict.ONE_SEED) if firm and evidence.one_seed(found) else found
        )


def claims_of(study: Study, own: Mapping[str, Check] = NO_CHECKS) -> tuple[Claim, ...]:
    """A study's claims, none where it has no file; raises TableError as load().

    own: the study's checks beyond the engine's.
    """
    if study.claims is None:
        return ()
    return load(study.claims, {**CHECKS, **own}, words_of(study))


def load(path: Path, checks: Mapping[str, Check], words: Words) -> tuple[Claim, ...]:
    """The claims in a file; raises TableError naming the one that is wrong, and its key.

    checks: those a claim may name; words: the words that their parameters may use.
    """
    document = _document(path)
    entries, headings = document.get("claim", []), document.get("headings", {})
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise TableError(f"{path}: 'claim' must be a list of tables; write [[claim]]")
    if not isinstance(headings, dict):
        raise TableError(f"{path}: 'headings' must be a table; write [headings]")
    found = tuple(
        _claim(path, one, checks, words, headings) for entry in entries for one in _bounds(entry)
    )
    _check_unique(path, [claim.id for claim in found])
    return found


def _document(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TableError(f"the claims in {path} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path} is not TOML: {error}") from None
    unknown = sorted(set(document) - {"claim", "headings"})
    if unknown:
        raise TableError(
            f"{path}: the key '{unknown[0]}' is unknown; allowed are claim and headings"
        )
    return document


def _check_unique(path: Path, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{path}: two claims have the id '{name}'")


def _bounds(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A claim, and the same with the wider bound where it has one."""
    strict = {key: value for key, value in entry.items() if key != "wider"}
    yield strict
    if isinstance(wider := entry.get("wider"), dict):
        reading = f"{entry.get('reading', '')} {WIDER_WORDS}".strip()
        yield {**strict, **wider, "id": f"{entry.get('id')}{WIDER}", "reading": reading}


def _claim(
    path: Path,
    entry: Mapping[str, Any],
    checks: Mapping[str, Check],
    words: Words,
    headings: Mapping[str, str],
) -> Claim:
    name = entry.get("id", "without id")
    for key in REQUIRED:
        if not isinstance(entry.get(key), str):
            raise TableError(f"{path}: claim '{name}': the key '{key}' is missing or no text")
    rule = checks.get(entry["check"])
    if rule is None:
        raise TableError(f"{path}: claim '{name}': the check '{entry['check']}' does not exist")
    parameters = {key: entry[key] for key in entry if key not in (*REQUIRED, "reading")}
    wrong = fault(rule, parameters, words)
    if wrong:
        raise TableError(f"{path}: claim '{name}': {wrong}")
    texts = {key: entry[key] for key in REQUIRED}
    return Claim(
        **texts,
        reading=str(entry.get("reading", "")),
        heading=str(headings.get(name.partition("-")[0], "")),
        parameters=parameters,
        rule=rule,
    )
