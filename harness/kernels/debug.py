# SPDX-License-Identifier: GPL-2.0-only
"""What --debug builds into a kernel: the options of Kconfig for each of its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.host import paths
from plan.errors import UsageError
from plan.near import choices

KINDS: Mapping[str, tuple[str, ...]] = {
    # Inline checks begin before the memory is there in which they look.
    "kasan": ("KASAN", "KASAN_OUTLINE", "KASAN_VMALLOC"),
    "lockdep": ("DEBUG_KERNEL", "PROVE_LOCKING"),
    "symbols": ("DEBUG_KERNEL", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT"),
}

# Lines for Kconfig, of which only this patch makes an option.
PATCHES: Mapping[str, Path] = {
    "CONFIG_CELLBED_CALLS=y": paths.PROJECT / "lab" / "calls" / "calls.patch",
}


def options(words: Iterable[str]) -> list[str]:
    """The options for some words, each once; UsageError for a word that is none."""
    found: dict[str, None] = {}
    for word in words:
        if word not in KINDS:
            raise UsageError(f"--debug: {word}: no such word; {choices(word, KINDS)}")
        found.update(dict.fromkeys(KINDS[word]))
    return list(found)
