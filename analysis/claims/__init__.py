# SPDX-License-Identifier: GPL-2.0-only
"""A study's sentences as data, each with a check of its measured cells.

words.py      what a claim's parameters may say
reading.py    the file of claims
evidence.py   what checks draw on, and verdicts
checks.py     the checks that every study's claims can name
"""

from analysis.claims.evidence import Evidence, Finding, Method, NoEvidenceError, Verdict
from analysis.claims.reading import Claim, claims_of

__all__ = ["Claim", "Evidence", "Finding", "Method", "NoEvidenceError", "Verdict", "claims_of"]
