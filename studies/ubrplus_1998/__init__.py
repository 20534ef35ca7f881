# SPDX-License-Identifier: GPL-2.0-only
"""ATM Forum 98-0876R1: TCP enhancements for WWW traffic using UBR+."""
