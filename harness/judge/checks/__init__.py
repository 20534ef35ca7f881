# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of a trial, a file for each thing that they watch; what is in it is found.

Such a file has

    checks(plan)  its checks of a trial of this plan, in order (plan/checks.py)

tests/labs/test_broken_trials.py breaks what each of them watches.
"""
