# SPDX-License-Identifier: GPL-2.0-only
"""The tables of docs/experiments.md: every key of an experiment, of the classes that read it.

A test says when the page is not what they say; then

    python3 -m harness.design.keys

writes it. Each key's range, default and text stand in the field's type (plan/schema.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from harness.design import experiment, settings
from harness.design.listed import LISTED
from plan import plan, schema
from plan.loss import Loss

PAGE = Path(__file__).resolve().parents[2] / "docs" / "experiments.md"
PLACE = re.compile(r"(<!-- keys -->\n).*?(<!-- end -->)", re.DOTALL)
LONG = re.compile(r"(?<![.\d])\d{4,}")
HEADINGS = ("key", "default", "allowed", "meaning")
# Keys of an experiment that are tables of their own, and have none here.
ELSEWHERE = ("factors", "only", "base", "rule")


def page(text: str) -> str:
    """The page with the tables as they are now."""
    return PLACE.sub(lambda place: place[1] + "\n" + tables() + "\n" + place[2], text)


def tables() -> str:
    """All of them, each with its heading."""
    return "\n".join(f"### {title}\n\n{table(rows)}" for title, rows in sections())


def sections() -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Title and rows of each table, in the order of the page."""
    yield "The experiment", of_class("", experiment.Design)
    for name, kind in plan.SHAPES.kinds.items():
        default = ", the default" if name == plan.FIRST_SHAPE else ""
        yield f'`[topology]` with `kind = "{name}"`{default}', of_class("topology", kind.Settings)
    yield "`topology.loss`", of_class("topology.loss", Loss)
    for name, kind in plan.PATHS.kinds.items():
        yield f'`topology.path` with `kind = "{name}"`', of_class("topology.path", kind.Settings)
    for name, kind in plan.QUEUES.kinds.items():
        default = ", the default" if name == plan.FIRST_QUEUE else ""
        yield f'`[queue]` with `kind = "{name}"`{default}', of_class("queue", kind.Settings)
    yield "`[tcp]`", of_class("tcp", settings.Tcp)
    for name, kind in plan.WORKLOADS.kinds.items():
        yield f'`[workload]` with `kind = "{name}"`', of_class("workload", kind.Parameters)
    captures = [kind.Settings for kind in plan.CAPTURES.kinds.values()]
    yield "`[record]`", [row for kind in captures for row in of_class("record", kind)]
    yield "`[lab]`", of_class("lab", settings.Machine)


def of_class(table: str, kind: type) -> list[tuple[str, ...]]:
    """A row for each key of a table: the key, its default, what is allowed, what it is."""
    hints = schema.type_hints(kind)
    known = [field for field in schema.written(kind) if field.name not in ELSEWHERE]
    return [
        (
            f"`{schema.joined(table, field.name)}`",
            default_of(field),
            *explained(table, field, hints),
        )
        for field in known
    ]


def default_of(field: Field[Any]) -> str:
    """The default as TOML has it; nothing where none is no value."""
    if not schema.has_default(field):
        return "required"
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if value is None or value == {} or value == ():
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{int(value):,}" if value == int(value) else f"{value}"
    return f"{list(value)}" if isinstance(value, tuple) else f"{value}"


def explained(table: str, field: Field[Any], hints: Mapping[str, Any]) -> tuple[str, str]:
    """What is allowed, and the text; ValueError for a key that has none."""
    hint = hints[field.name]
    words = [one for one in get_args(hint)[1:] if isinstance(one, str)]
    if get_origin(hint) is not Annotated or not words:
        raise ValueError(f"{table}.{field.name}: its type has no text that says what it is")
    return allowed(table, field.name, hint), words[0]


def allowed(table: str, key: str, hint: Any) -> str:
    """The values of a key: what is listed in a folder, a range, choices, or its type."""
    listed = LISTED.get(schema.joined(table, key))
    if listed:
        return ", ".join(listed())
    kind, *limits = get_args(hint)
    ranges = [one for one in limits if isinstance(one, schema.Within)]
    if ranges:
        unit = "whole, " if int in {kind, *get_args(kind)} else ""
        said = str(ranges[0]).removeprefix("allowed are ").removeprefix("must be ")
        return unit + LONG.sub(lambda digits: f"{int(digits[0]):,}", said.replace("_", ""))
    if any(isinstance(one, schema.OneOrMore) for one in limits):
        return "a number or a list"
    return schema.in_words(kind).removeprefix("a ") if kind is bool else schema.in_words(kind)


def table(rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [HEADINGS, tuple("---" for _ in HEADINGS), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page(text), encoding="utf-8")
    print(f"{PAGE}: written")


if __name__ == "__main__":
    main()
