# SPDX-License-Identifier: GPL-2.0-only
"""What makes a record of what a lab left: whole or not at all, sealed, with the identity of all
that ran it."""
