# SPDX-License-Identifier: GPL-2.0-only
"""Cases of RFC 9743 (BCP 133) for the senders of Linux, with a figure and a verdict each."""
