# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own tests (tools/testing/selftests), each in a lab of its own."""
