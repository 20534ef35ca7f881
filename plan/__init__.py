# SPDX-License-Identifier: GPL-2.0-only
"""The code that all other rooms share: the plan of a trial, the parts of a plan, and its validator.

This room uses only the standard library and nothing else of the project, because labs use it too.
plan.py finds queues, delays, workloads and captures: it lists their folders.
"""
