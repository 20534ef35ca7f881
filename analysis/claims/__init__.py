# SPDX-License-Identifier: GPL-2.0-only
"""A study's sentences as data, each with a check of its measured cells.

words.py      what a claim's parameters may say
reading.py    the file of claims
evidence.py   what checks draw on
findings.py   what checks find: a verdict, and figures with their direction and size
checks.py     the checks that every study's claims can name
"""

from analysis.claims.evidence import Evidence, Method
from analysis.claims.findings import Finding, Judged, NoEvidenceError, Verdict
from analysis.claims.reading import Claim, claims_of

__all__ = [
    "Claim",
    "Evidence",
    "Finding",
    "Judged",
    "Method",
    "NoEvidenceError",
    "Verdict",
    "claims_of",
]
