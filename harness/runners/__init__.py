# SPDX-License-Identifier: GPL-2.0-only
"""What runs the trials of a campaign: labs of this machine, or those of a Dask cluster."""
