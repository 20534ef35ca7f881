# SPDX-License-Identifier: GPL-2.0-only
"""Where a moving path comes from: a file here for each kind, with a class Settings.

`topology.path` of an experiment is a table with `kind` and the keys of that kind's Settings, or the
name of a CSV file. Settings is a frozen dataclass; `path(site)` makes the path. A kind that draws
sets Path.drawn. Standard library only.
"""
