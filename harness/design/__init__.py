# SPDX-License-Identifier: GPL-2.0-only
"""From an experiment file to the plans of its trials. Pure, but for reading the files."""
