# SPDX-License-Identifier: GPL-2.0-only
"""What all rooms share: the plan of a trial, its parts, and what checks them.

Imports nothing of the project, and of libraries the standard one alone: a lab uses it too. plan.py
finds queues, delays, workloads and captures by listing their folders.
"""
