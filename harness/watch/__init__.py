# SPDX-License-Identifier: GPL-2.0-only
"""A local page of a campaign while it runs, and of its recorded trials over again."""
