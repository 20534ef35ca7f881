# SPDX-License-Identifier: GPL-2.0-only
"""Options that several commands have."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from harness.cli import completion
from harness.kernels import options as kernel_options
from harness.labs import LABS, processors

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

TLS_HELP = "The file with the cluster's secret [the file that ./cellbed scheduler writes]."
tls_option = click.option("--tls", type=click.Path(path_type=Path), help=TLS_HELP)


experiment_argument = click.argument(
    "experiment",
    type=click.Path(path_type=Path),
    shell_complete=completion.experiment_files,
)


def lab_option(text: str) -> Decorator:
    """--lab and --arch: which of the labs, with the help of --lab; the command is given `lab`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def chosen(*args: Any, lab: str | None, arch: str | None, **rest: Any) -> Any:
            return command(*args, lab=processors.lab(lab, arch), **rest)

        of_arch = click.option(
            "--arch",
            type=click.Choice(list(processors.NAMES)),
            help="The processor of the lab [this machine's]; arm64 only with the vm lab.",
        )
        return click.option("--lab", type=click.Choice(list(LABS)), help=text)(of_arch(chosen))

    return decorate


def kernel_option(metavar: str, text: str) -> Decorator:
    """--kernel: names of kernels (docs/kernels.md) with commas between them; as a list."""

    def split(context: click.Context, option: click.Parameter, value: str | None) -> list[str]:
        return kernel_options.split(value) if value is not None else []

    return click.option(
        "--kernel", "kernels", metavar=metavar, callback=split, help=text,
        shell_complete=completion.names(kernels_here),
    )  # fmt: skip


def kernels_here() -> list[str]:
    """Set-up's kernel, and those with short names that are built."""
    from harness.kernels.names import SET_UP  # for a shell that asks, and for no other command
    from harness.kernels.store import built

    found = [SET_UP, *(kernel.name for kernel in built())]
    return [name for name in dict.fromkeys(found) if not re.search("[,:=]", name)]


trust_kernels_option = click.option(
    "--trust-kernels",
    is_flag=True,
    help="Build the kernel trees that EXPERIMENT names. Their build files run with your rights.",
)


def levels_option(metavar: str, text: str) -> Decorator:
    """--only: levels of factors, with its help."""
    return click.option(
        "--only", multiple=True, metavar=metavar, help=text, shell_complete=completion.levels
    )
