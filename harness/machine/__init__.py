# SPDX-License-Identifier: GPL-2.0-only
"""What a person does with this machine: see what is missing, what it carries; clean up."""
