# SPDX-License-Identifier: GPL-2.0-only
"""Sources of a moving path. Each file with a class Settings is one kind.

`topology.path` of an experiment is a table with `kind` and the keys of that kind's Settings, or the
name of a CSV file. Settings is a frozen dataclass, and `path(site)` makes the path. If the path
depends on the seed, `path(site)` sets Path.drawn. Standard library only.
"""
