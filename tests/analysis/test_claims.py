# SPDX-License-Identifier: GPL-2.0-only
"""The file of claims: what is wrong in one is told in a line; each check of the engine is used."""

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.claims import Evidence, Finding, Method, Verdict, claims_of
from analysis.claims.checks import CHECKS
from analysis.claims.reading import load
from analysis.claims.words import Words, words_of
from analysis.errors import TableError
from analysis.report.pages import pages_of
from analysis.study import NONE
from studies.ubr_1996 import study as ubr
from studies.ubrplus_1998 import study as ubrplus
from studies.ubrplus_1998.checks import CHECKS as OWN

STUDIES = (ubr.STUDY, ubrplus.STUDY)


def test_every_check_is_used() -> None:
    """So that a test of the studies' claims is one of all checks."""
    own = [pages_of(study).checks for study in STUDIES]
    used = [claims_of(study, checks) for study, checks in zip(STUDIES, own, strict=True)]
    found = {claim.check for claims in used for claim in claims}
    assert found == set(CHECKS) | {name for checks in own for name in checks}


WORDS = "where = { network = ['WAN'] }\nresponse = 'fairness'\n"
LESS = f"{WORDS}check = 'difference'\nminus = {{}}\n"
SHARE = f"{WORDS}check = 'share_at_most'\nfactor = 'policy'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "not TOML"),
        ("title = 'x'", "the key 'title' is unknown"),
        ("[[claim]]\nid = 'a'", "claim 'a': the key 'sentence' is missing"),
        ("check = 'guess'", "the check 'guess' does not exist"),
        ("claim = 1", "'claim' must be a list of tables"),
        ("claim = [1]", "'claim' must be a list of tables"),
        ("check = 'overlap'\nwhere = {}", "claim 'a': the key 'response' is missing"),
        (
            "check = 'gap_grows'\ncolour = 1",
            r"the key 'colour' is unknown \(allowed: along, response",
        ),
        (f"{SHARE}percent = 'five'", "the key 'percent' = \"five\": must be a number"),
        (f"{SHARE}percent = true", "the key 'percent' = true: must be a number"),
        (
            f"{SHARE.replace('WAN', 'LAN')}percent = 5",
            r"the key 'where': 'LAN' is no level of network \(known: WAN, MEO, GEO\)",
        ),
        (f"{SHARE.replace('policy', 'drops')}percent = 5", "'drops' is no factor"),
        (f"{SHARE.replace('fairness', 'speed')}percent = 5", "'speed' is no response"),
        (
            f"{WORDS}check = 'overlap'\nfactor = 'policy'\nlevels = ['EPD']",
            "the key 'levels' lists 1, but needs 2 or more",
        ),
        (
            f"{WORDS}check = 'separated'\nfactor = 'policy'\nupper = []\nlower = ['EPD']",
            "the key 'upper' lists 0, but needs 1 or more",
        ),
        (
            f"{LESS}at_least = 0.0\nof = {{}}\nfor_each = {{ flavor = [] }}\n",
            "the key 'for_each' lists 0, but needs 1 or more",
        ),
        (
            f"{WORDS}check = 'overlap'\nfactor = 'policy'\nlevels = ['EPD', 'RED']",
            r"the key 'levels': 'RED' is no level of policy \(known: EPD, SD\)",
        ),
        (
            f"{LESS}at_least = 0.0\nof = {{ flavour = ['SACK'] }}\n",
            "the key 'of': 'flavour' is no factor",
        ),
        (
            f"{LESS}at_least = 0.0\nof = {{ buffer = ['4'] }}\n",
            "the key 'of': '4' is no level of buffer",
        ),
        (
            f"{LESS}of = {{}}\n",
            "needs one of the keys at_least, at_most, within",
        ),
    ],
)
def test_bad_claims_file(tmp_path: Path, text: str, message: str) -> None:
    if "check = " in text:
        text = "[[claim]]\nid = 'a'\nsentence = 's'\nsource = '1'\n" + text
    path = tmp_path / "claims.toml"
    path.write_text(text)
    with pytest.raises(TableError, match=message):
        load(path, CHECKS, words_of(ubrplus.STUDY))


def test_a_word_is_judged_under_both_bounds(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(
        "[[claim]]\nid = 'a'\nsentence = 's'\nsource = '1'\ncheck = 'share_at_most'\n"
        "where = {}\nresponse = 'efficiency'\nfactor = 'policy'\npercent = 1.0\n"
        "wider = { percent = 5.0 }\n"
    )
    strict, wider = load(path, CHECKS, words_of(ubrplus.STUDY))
    assert (strict.id, wider.id) == ("a", "a-wider")
    assert (strict.parameters["percent"], wider.parameters["percent"]) == (1.0, 5.0)
    assert (strict.reading, wider.reading) == ("", "With a wider bound.")


def ours(path: Path, rule: Callable[..., Finding]) -> None:
    """Decide, on nothing, one claim whose check is `rule`, known to no table of checks."""
    path.write_text("[[claim]]\nid = 'a'\nsentence = 's'\nsource = '1'\ncheck = 'mine'\n")
    [claim] = load(path, {"mine": rule}, Words(levels={}, responses=()))
    assert claim.on(Evidence([], NONE, Method.SEEDS)).evidence == "mine"


def test_the_checks_that_a_file_is_read_with_judge_it(tmp_path: Path) -> None:
    ours(tmp_path / "mine.toml", lambda _: Finding(verdict=Verdict.HOLDS, evidence="mine"))


def test_a_mistake_in_a_check_is_not_taken_for_want_of_evidence(tmp_path: Path) -> None:
    def mistaken(_: object) -> Finding:
        return {}["no such key"]

    with pytest.raises(KeyError):
        ours(tmp_path / "mine.toml", mistaken)


def test_two_claims_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    text = ubrplus.FOLDER.joinpath("claims.toml").read_text()
    path.write_text(text + text[text.index("[[claim]]") :])
    with pytest.raises(TableError, match="two claims have the id 'wan-efficiency-flavor"):
        load(path, {**CHECKS, **OWN}, words_of(ubrplus.STUDY))
