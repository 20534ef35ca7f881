# SPDX-License-Identifier: GPL-2.0-only
"""ATM Forum 96-0518R1: TCP over plain UBR and its buffer requirements."""
