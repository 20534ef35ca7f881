# SPDX-License-Identifier: GPL-2.0-only
"""The lab's side of a sealed lab (harness/labs/sealed.py): one trial, alone with its machine."""
