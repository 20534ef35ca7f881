# SPDX-License-Identifier: GPL-2.0-only
"""What was wrong before there were rules: how many faults of each rule a page may have.

known.toml may only shrink. `python -m tests.prose --shrink` lowers its numbers to what is left, and
never raises them.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import tomli_w

FILE = Path(__file__).with_name("known.toml")
HEAD = """# SPDX-License-Identifier: GPL-2.0-only
# Faults that were there before the rules: pages, rules, numbers. It may only shrink.
"""
Known = Mapping[str, Mapping[str, int]]


def read(text: str) -> Known:
    return tomllib.loads(text)


def smaller(known: Known, found: Mapping[str, Counter[str]]) -> Known:
    """The lower of both numbers, without the pages and rules that have none left."""
    both = {
        page: {rule: min(n, found.get(page, {}).get(rule, 0)) for rule, n in rules.items()}
        for page, rules in known.items()
    }
    left = {page: {rule: n for rule, n in rules.items() if n} for page, rules in both.items()}
    return {page: rules for page, rules in left.items() if rules}


def write(known: Known) -> None:
    FILE.write_text(HEAD + tomli_w.dumps(known), encoding="utf-8")
