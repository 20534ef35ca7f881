# SPDX-License-Identifier: GPL-2.0-only
"""Any Mininet script in a lab: job.py is what host.py tells lab.py, which runs it there."""
