# SPDX-License-Identifier: GPL-2.0-only
"""The harness: command line, plan, labs, trial, recorder, checks."""
