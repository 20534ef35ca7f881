# SPDX-License-Identifier: GPL-2.0-only
"""Labs for students: what is asked, what is handed in, and whether it is right."""
