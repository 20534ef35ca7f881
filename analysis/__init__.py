# SPDX-License-Identifier: GPL-2.0-only
"""Analysis of cellbed trials: metrics, ANOVA, comparison with the papers, report.

It knows only the versioned on-disk formats, and imports nothing of `topology`,
`workload` or `harness`. `metrics` and `published` need the standard library alone.
"""
