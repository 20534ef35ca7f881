# SPDX-License-Identifier: GPL-2.0-only
"""Studies, a folder each; analysis/study.py says what one is. Nothing imports one but the loader.

A folder's name is the study's id, and a Python name, for the folder is a package.
"""
