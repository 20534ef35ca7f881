# SPDX-License-Identifier: GPL-2.0-only
"""What follows a kernel's name after commas: hz=N, config=OPTION, patch=FILE, module=PATH."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plan.errors import NoFileError, UsageError
from plan.struct_ops import placed

# Patch 0017 of lab/kernel allows these, in ticks a second.
LEAST_HZ, MOST_HZ = 100, 1000
NAMES = ("hz", "config", "patch", "module")
BEGINS = re.compile(rf",(?=(?:{'|'.join(NAMES)})=)")
CONFIG = re.compile(r"([+-]?)(?:CONFIG_)?([A-Z0-9_]+)(?:=(\w+))?")
SWITCHED = {"+": "y", "-": "n"}


@dataclass(frozen=True)
class Options:
    """What is to be different from the source that a name stands for.

    Attributes:
        config: lines for Kconfig, as CONFIG_HZ=250; =n switches an option off.
        patches: files or folders of patches, in the order in which they are applied.
        modules: files or folders of modules that are built besides.
    """

    config: tuple[str, ...] = ()
    patches: tuple[Path, ...] = ()
    modules: tuple[Path, ...] = ()


def split(names: str) -> list[str]:
    """Names with commas between them; an option belongs to the name before it."""
    return re.split(rf",(?!(?:{'|'.join(NAMES)})=)", names)


def parted(name: str) -> tuple[str, Options]:
    """The name of a source, and its options; UsageError."""
    plain, *texts = BEGINS.split(name)
    options = Options()
    if not plain:
        return name, options  # no name at all, which the caller refuses
    for text in texts:
        kind, _, value = text.partition("=")
        options = READERS[kind](f"kernel {name}: {text}", options, value)
    return plain, options


def with_options(name: str, options: Sequence[str]) -> str:
    """The name of the same kernel with these options of Kconfig."""
    texts = (f",config=+{option}" for option in options)
    return name + "".join(text for text in texts if f"{text}," not in f"{name},")


def has_code(name: str) -> bool:
    """Does it have a patch or a module? Text that need not be a good name."""
    return ",patch=" in name or ",module=" in name


def _hz(where: str, options: Options, value: str) -> Options:
    if not value.isdecimal() or not LEAST_HZ <= int(value) <= MOST_HZ:
        raise UsageError(f"{where} must be a number from {LEAST_HZ} to {MOST_HZ}")
    return replace(options, config=(*options.config, f"CONFIG_HZ={int(value)}"))


def _config(where: str, options: Options, value: str) -> Options:
    found = CONFIG.fullmatch(value)
    if not found or bool(found[1]) == bool(found[3]):
        raise UsageError(
            f"{where} must be +NAME, -NAME or NAME=VALUE, for example config=+NET_SCH_CAKE"
        )
    line = f"CONFIG_{found[2]}={found[3] or SWITCHED[found[1]]}"
    return replace(options, config=(*options.config, line))


def _patch(where: str, options: Options, value: str) -> Options:
    return replace(options, patches=(*options.patches, _existing(where, value).resolve()))


def _module(where: str, options: Options, value: str) -> Options:
    return replace(options, modules=(*options.modules, placed(_existing(where, value))))


def _existing(where: str, value: str) -> Path:
    path = Path(value)
    if not value or not path.exists():
        here = (
            "" if not value or path.is_absolute() else f" in {Path.cwd()}, where this command runs"
        )
        raise NoFileError(f"{where}: there is no such file or folder{here}", path)
    return path


READERS: Mapping[str, Callable[[str, Options, str], Options]] = {
    "hz": _hz,
    "config": _config,
    "patch": _patch,
    "module": _module,
}
