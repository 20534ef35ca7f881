# SPDX-License-Identifier: GPL-2.0-only
"""The delays of the middle link, a file or a folder each; topology/delay.py says what is in one."""
