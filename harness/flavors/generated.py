# SPDX-License-Identifier: GPL-2.0-only
"""Generates text from the table of TCP parameters (plan/flavor.py).

It generates the header of the kernel module and the tables of docs/flavors.md. A test fails if
they are not those of the table. Then run

    python3 -m harness.flavors.generated

It needs only Python's standard library, and no set-up.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from plan.flavor import (
    PARAMETERS,
    ROUTE,
    Choice,
    Milliseconds,
    Number,
    Parameter,
    Segments,
    Switch,
)

PROJECT = Path(__file__).resolve().parents[2]
HEADER = PROJECT / "tcp-configs" / "module" / "cellbed_params.h"
PAGE = PROJECT / "docs" / "flavors.md"

PLACE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS, TAB, BACKSLASH = 80, 8, 72  # of C, as the kernel writes it

OPENING = """\
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generated: to change it, change plan/flavor.py, and then
 *
 *	python3 -m harness.flavors.generated
 *
 * The parameters of a network namespace, /proc/sys/net/ipv4/cellbed/NAME, and
 * in brackets what it begins with. They are copied when a connection begins: a
 * later write changes the connections after it, never one that is running.
 *
"""
GUARD = """\
 */
#ifndef CELLBED_PARAMS_H
#define CELLBED_PARAMS_H

"""
LIST = """\
/*
 * All of them as X(name, least, default, greatest, handler). The handler of a
 * time refuses what the kernel's timers cannot keep.
 */
"""


def header(parameters: Mapping[str, Parameter] = PARAMETERS) -> str:
    """cellbed_params.h: what each is, the constants of the choices, the struct, the sysctls."""
    each = parameters.items()
    return "".join([
        OPENING,
        " *\n".join("".join(_explained(name, p)) for name, p in each),
        GUARD,
        *(_enum(name, p.kind) for name, p in each if isinstance(p.kind, Choice)),
        "struct cellbed_params {\n",
        *(f"\tint {name};\n" for name in parameters),
        "};\n\n",
        LIST,
        _macro("#define CELLBED_PARAMS(X)", (_entry(name, p) for name, p in each)),
        "\n#endif\n",
    ])  # fmt: skip


def constant(name: str, word: str) -> str:
    """What the C code calls a word of a choice."""
    return f"CELLBED_{name}_{word}".upper()


def _explained(name: str, parameter: Parameter) -> Iterator[str]:
    kind, default = parameter.kind, parameter.kernels_default
    between = " or " if kind.greatest == kind.least + 1 else " to "
    yield f" * {name}: {kind.least}{between}{kind.greatest} [{default}]\n"
    yield _wrapped(parameter.text)
    if isinstance(kind, Choice):
        for number, (word, meaning) in enumerate(kind.words.items()):
            yield _wrapped(f"{number} {word}: {meaning}")


def _wrapped(text: str) -> str:
    """Lines of a comment, a tab from its margin."""
    width = COLUMNS - TAB
    lines = textwrap.wrap(text.replace("`", ""), width, break_on_hyphens=False)
    return "".join(f" *\t{line}\n" for line in lines)


def _enum(name: str, kind: Choice) -> str:
    words = "".join(f"\t{constant(name, word)},\n" for word in kind.words)
    return f"enum cellbed_{name} {{\n{words}}};\n\n"


def _entry(name: str, parameter: Parameter) -> str:
    kind = parameter.kind
    handler = "cellbed_ms" if isinstance(kind, Milliseconds) else "proc_dointvec_minmax"
    numbers = f"{kind.least}, {parameter.kernels_default}, {kind.greatest}"
    return f"\tX({name}, {numbers}, {handler})"


def _macro(first: str, others: Iterable[str]) -> str:
    """Lines of which each but the last goes on, its backslash in the usual column."""
    *before, last = [first, *others]
    tabs = ("\t" * max(1, -(-(BACKSLASH - len(s.expandtabs(TAB))) // TAB)) for s in before)
    return "".join(f"{s}{t}\\\n" for s, t in zip(before, tabs, strict=True)) + f"{last}\n"


def page(text: str) -> str:
    """The text of docs/flavors.md, its tables as they are now."""
    tables = {"parameters": _parameters(), "route": _route()}
    return PLACE.sub(lambda match: f"{match[1]}{tables[match[2]]}{match[3]}", text)


def _parameters() -> str:
    rows = (f"| `{n}` | {_values(p)} | {_meaning(p)} |\n" for n, p in PARAMETERS.items())
    return "| parameter | values | meaning |\n| --- | --- | --- |\n" + "".join(rows)


def _route() -> str:
    rows = (f"| `{name}` | {_allowed(a.kind)} | {a.text} |\n" for name, a in ROUTE.items())
    return "| attribute | values | meaning |\n| --- | --- | --- |\n" + "".join(rows)


def _values(parameter: Parameter) -> str:
    """The values, the default in bold."""
    kind, default = parameter.kind, parameter.default
    if isinstance(kind, Choice):
        return ", ".join(f"**{word}**" if word == default else word for word in kind.words)
    if isinstance(kind, Switch):
        return "false, **true**" if default else "**false**, true"
    return f"**{default}** ({_allowed(kind)})"


def _allowed(kind: Switch | Number | Segments) -> str:
    if isinstance(kind, Number):
        return f"{kind.least} to {kind.greatest}"
    return "false, true" if isinstance(kind, Switch) else '"bdp", from 2'


def _meaning(parameter: Parameter) -> str:
    if not isinstance(parameter.kind, Choice):
        return parameter.text
    words = " ".join(f"`{word}`: {text}" for word, text in parameter.kind.words.items())
    return f"{parameter.text} {words}"


def write() -> None:
    """Write the header, and the tables into the page."""
    HEADER.write_text(header(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
