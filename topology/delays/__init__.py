# SPDX-License-Identifier: GPL-2.0-only
"""The delays of the middle link, each a file or a folder; topology/delay.py has the interface."""
