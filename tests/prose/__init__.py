# SPDX-License-Identifier: GPL-2.0-only
"""The English of the pages: `python -m tests.prose`, which `make lint` runs.

pages.py takes the prose out of Markdown, rules.py says what is wrong with it, known.py has what was
wrong before there were rules.
"""
