# SPDX-License-Identifier: GPL-2.0-only
"""Completion by the shell, click's own, with what it lacks for FACTOR=LEVEL[,LEVEL].

Bash takes `network=GEO` for three words, so that its pieces are put together again, and only the
last one is given back. In zsh click's looks for the program in the PATH, where ./cellbed is not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from harness.design import experiment as experiments
from plan.errors import CellbedError
from plan.plan import level_name

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
ADDED = "COMPREPLY+=($value)"
# After `network=` its level follows at once, and after a folder its files. `filenames` lets bash
# quote a name and see what is a folder.
NO_SPACE = f"""{ADDED}
            [[ $value != *= ]] || compopt -o nospace
        elif [[ "$type" == 'path' ]]; then
            COMPREPLY+=($value)
            compopt -o filenames"""

PLAIN = 'if [[ "$type" == "plain" ]]; then'
NO_SPACE_ZSH = f"""if [[ "$type" == "path" ]]; then
            [[ "$key" == */ ]] && compadd -U -S '' -V unsorted -- "$key" || completions+=("$key")
        elif [[ "$type" == "plain" && "$key" == *= ]]; then
            compadd -U -S '' -V unsorted -- "$key"
        el{PLAIN}"""
IN_PATH = "    (( ! $+commands[%(prog_name)s] )) && return 1\n\n"


class Bash(BashComplete):
    """Bash, whose words end at an equals sign."""

    source_template = BashComplete.source_template.replace(ADDED, NO_SPACE)

    def get_completion_args(self) -> tuple[list[str], str]:
        words, at = split_arg_string(os.environ["COMP_WORDS"]), int(os.environ["COMP_CWORD"])
        before, last = [*words, ""][1:at], [*words, ""][at]
        joined: list[str] = []
        for word in [*before, last]:
            if joined and "=" in (word[:1], joined[-1][-1:]):
                joined[-1] += word
            else:
                joined.append(word)
        return joined[:-1], joined[-1]

    def format_completion(self, item: CompletionItem) -> str:
        name, equals, level = item.value.partition("=")
        return f"{item.type},{level if equals and level else item.value}"


class Zsh(ZshComplete):
    """Zsh, which asks the command as it stands on the line."""

    source_template = (
        ZshComplete.source_template.replace(IN_PATH, "")
        .replace("zsh_complete %(prog_name)s", "zsh_complete ${words[1]}")
        .replace(PLAIN, NO_SPACE_ZSH)
    )


def install() -> None:
    """Let click use them."""
    add_completion_class(Bash)
    add_completion_class(Zsh)


def experiment_files(
    _: click.Context, __: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The experiments and folders that begin so; hidden names only if they are asked for."""
    folder, begun = os.path.split(incomplete)
    above = Path(folder or ".").expanduser()
    try:
        found = sorted(above.iterdir())
    except OSError:
        return []
    return [
        CompletionItem(os.path.join(folder, one.name) + "/" * one.is_dir(), type="path")
        for one in found
        if one.name.startswith(begun) and (begun or not one.name.startswith("."))
        if one.is_dir() or one.suffix == ".toml"
    ]


def names(known: Callable[[], Iterable[str]]) -> Completer:
    """Completes the names that a function lists; it is called only when a shell asks."""

    def begun(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        had = context.params.get(parameter.name or "") or ()
        return [CompletionItem(n) for n in known() if n.startswith(incomplete) and n not in had]

    return begun


def levels(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """FACTOR=, or its levels, of the experiment that stands before on the line."""
    # An option without its value ends click's reading of the line: arguments are left as they are.
    given = [context.params.get("experiment"), *context.args]
    path = next((Path(one) for one in given if one), None)
    try:
        factors = experiments.load(path).factors if path else {}
    except CellbedError:
        return []  # the command itself will say what is wrong with it
    factor, equals, text = incomplete.partition("=")
    if not equals:
        return [CompletionItem(f"{name}=") for name in factors if name.startswith(factor)]
    *had, begun = text.split(",")
    begin = ",".join([*had, ""])
    return [
        CompletionItem(f"{factor}={begin}{level}")
        for level in map(level_name, factors.get(factor, []))
        if level.casefold().startswith(begun.casefold()) and level not in had
    ]
