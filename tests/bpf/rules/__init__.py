# SPDX-License-Identifier: GPL-2.0-only
"""Independent accounts of the policies of bpf/policy/, one file each, found by its name.

`refuses` is asked of a frame's first cell that finds X cells in the buffer, X_i of its own VC and
N_a active VCs, where X > R (reference.Port has R, K and Z).
"""
