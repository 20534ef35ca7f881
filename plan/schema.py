# SPDX-License-Identifier: GPL-2.0-only
"""The one validator: reads, checks and writes dataclasses as JSON or TOML. Standard library only.

A field has a simple type, a dataclass, `tuple[X, ...]`, `Sequence[X]`, `Mapping[str, X]`,
`Mapping[int, X]`, a union, a Literal, or a type for which the caller gives a reader. The type also
contains further limits: `Annotated[int, Within(1, 1024)]`, `Annotated[str, Matches(...)]`,
`Annotated[Sequence[str], OneOrMore()]`. A text in Annotated describes the key;
harness/design/keys.py makes tables of these texts. A field with `later` in its metadata is newer
than some documents: it may be absent, and a field with its default value is not written. A field
with `aside` in its metadata is never part of a document.

An error is one line with the key, the value and the allowed values.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import date, time
from functools import cache
from math import inf, isfinite
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from plan.near import choices

T = TypeVar("T")
NONE: type = type(None)
Reader = Callable[[object, str], Any]
Readers = Mapping[Any, Reader]  # a type, or a union of types -> its reader
SIMPLE = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    NONE: "nothing",
}


MOST_SHOWN = 40  # letters of a value that an error quotes


class TypedError(ValueError):
    """Data has the wrong type or value. The text is one line: key, value, allowed values."""


class UnknownKeyError(TypedError):
    """A table contains an unknown key.

    Attributes:
        place: the place of the table.
        key, value: the unknown key, and its value.
        known: the known keys.
    """

    def __init__(self, place: str, key: object, value: object, known: Sequence[str]) -> None:
        self.place, self.key, self.value, self.known = place, str(key), value, known
        super().__init__(f"{joined(place, key)}: this key is unknown; {choices(key, known)}")


class MissingKeyError(TypedError):
    """A table lacks a key that has no default value.

    Attributes:
        place: the place of the key.
    """

    def __init__(self, place: str, words: str) -> None:
        self.place = place
        super().__init__(f"{place}: this key is missing; it must be {words}")


class WrongTypeError(TypedError):
    """A value has another type than its key requires.

    Attributes:
        place: the place of the key.
        value: the value in the document.
        words: the required type, in words.
    """

    def __init__(self, place: str, value: object, words: str) -> None:
        self.place, self.value, self.words = place, value, words
        super().__init__(f"{place or 'it'}{shown(value)}: must be {words}")


@dataclass(frozen=True)
class Within:
    """The least and the largest allowed value; None: there is no bound."""

    least: float | None = None
    largest: float | None = None

    def check(self, value: float, place: str) -> None:
        """Raise TypedError for a value out of range."""
        low = -inf if self.least is None else self.least
        high = inf if self.largest is None else self.largest
        if not low <= value <= high:
            raise TypedError(f"{place} = {value}: {self}")

    def __str__(self) -> str:
        if self.largest is None:
            return f"must be at least {grouped(self.least)}"
        if self.least is None:
            return f"must be at most {grouped(self.largest)}"
        return f"allowed are {grouped(self.least)} to {grouped(self.largest)}"


def grouped(bound: float | None) -> str:
    """Return a bound as an experiment file writes it: 86_400."""
    return f"{bound:_.15g}" if bound is not None and abs(bound) >= 10_000 else str(bound)


@dataclass(frozen=True)
class Matches:
    """A regular expression for the whole text, the same rule in words, and the greatest length."""

    pattern: str
    words: str
    most: int = 1000

    def check(self, value: str, place: str) -> None:
        """Raise TypedError for a text that does not match."""
        if not re.fullmatch(self.pattern, value):
            raise TypedError(f"{place}{shown(value)}: must be {self.words}{self.such_as(value)}")
        if len(value) > self.most:
            raise TypedError(
                f"{place}: the text has {len(value)} letters; at most {self.most} are allowed"
            )

    def such_as(self, value: str) -> str:
        """Return a hint with a similar text that matches; "" if it cannot make such a text."""
        for blank in "-_":
            made = re.sub(r"\W+", blank, value.casefold()).strip(blank)
            if re.fullmatch(self.pattern, made):
                return f'; did you mean "{made}"?'
        return ""


@dataclass(frozen=True)
class ZeroOr(Within):
    """A range that also allows 0."""

    def check(self, value: float, place: str) -> None:
        if value:
            super().check(value, place)

    def __str__(self) -> str:
        return f"allowed are 0, or {grouped(self.least)} to {grouped(self.largest)}"


@dataclass(frozen=True)
class Called:
    """What a key's values are, in words that say more than their type."""

    words: str


@dataclass(frozen=True)
class OneOrMore:
    """A list that may be written as one value."""


def to_json(value: Any, kind_of: Callable[[Any], str | None] = lambda _: None) -> Any:
    """Return plain JSON types. `kind_of(dataclass)`, if not None, becomes its first key `kind`."""
    if type(value) in SIMPLE:
        return value
    if is_dataclass(value):
        kind = kind_of(value)
        named = {} if kind is None else {"kind": kind}
        return named | {
            f.name: to_json(found, kind_of)
            for f in keys_of(type(value)).values()
            if (found := getattr(value, f.name)) != f.default or not is_later(f)
        }
    if isinstance(value, Mapping):
        return {key: to_json(inner, kind_of) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(inner, kind_of) for inner in value]
    return value


def from_json(
    kind: type[T],
    data: object,
    place: str,
    *,
    defaults: bool = False,
    others: bool = False,
    readers: Readers | None = None,
) -> T:
    """Return a dataclass from the output of to_json, or from a document that a person wrote.

    Args:
        place: the place of the data, for error messages.
        defaults: whether a key with a default may be absent.
        others: whether to ignore unknown keys.
        readers: type -> reader, for fields of all other types.

    Raises:
        TypedError: a key is unknown or missing, or a value has another type.
    """
    if not isinstance(data, Mapping):
        raise WrongTypeError(place, data, "a table")
    known, hints = keys_of(kind), type_hints(kind)
    for key in () if others else data:
        if key not in known:
            raise UnknownKeyError(place, key, data[key], list(known))
    for name, field in known.items():
        if name not in data and not (has_default(field) and (defaults or is_later(field))):
            words = allowed_in_words(hints[name])
            raise MissingKeyError(joined(place, name), words)
    read = Reading(readers or {}, defaults, others)
    found = {k: data[k] for k in known if k in data}
    return kind(**{k: read.value(hints[k], value, joined(place, k)) for k, value in found.items()})


def check(value: Any, place: str) -> None:
    """Raise TypedError unless all fields of a flat dataclass match their types."""
    reading, hints = Reading({}, defaults=False), type_hints(type(value))
    for field in fields(value):
        reading.value(hints[field.name], getattr(value, field.name), joined(place, field.name))


def written(kind: type) -> list[Field[Any]]:
    """Return the fields of a dataclass that are keys of its documents."""
    return [*keys_of(kind).values()]


def keys_of(kind: type) -> Mapping[str, Field[Any]]:
    """Return the same fields by their names."""
    return _keys_of(kind)


@cache
def _keys_of(kind: type) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(kind) if not field.metadata.get("aside")}


def joined(place: str, key: object) -> str:
    """Return the place of a key, for error messages."""
    return f"{place}.{key}" if place else str(key)


def has_default(field: Field[Any]) -> bool:
    """Return whether a field has a default value."""
    return field.default is not MISSING or field.default_factory is not MISSING


def is_later(field: Field[Any]) -> bool:
    """Return whether a field is newer than some documents, which lack it."""
    return bool(field.metadata.get("later"))


def may_be_none(hint: Any) -> bool:
    """Return whether a field allows null."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return NONE in get_args(hint)


def type_hints(kind: type) -> dict[str, Any]:
    """Return the types of a class's fields."""
    return _type_hints(kind)


@cache
def _type_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


class Reading:
    """Reads a value of any type that a field may have."""

    def __init__(self, readers: Readers, defaults: bool, others: bool = False) -> None:
        self.readers = readers
        self.defaults = defaults
        self.others = others

    def value(self, hint: Any, data: object, place: str) -> Any:
        # To compare types of typing takes long: most are simple, or nobody gives a reader.
        if isinstance(hint, type) and hint in SIMPLE:
            return simple(hint, data, place)
        if self.readers and hint in self.readers:
            return self.readers[hint](data, place)
        if hint is Any or hint is object:
            return data
        if get_origin(hint) is Annotated:
            return self._limited(hint, data, place)
        if get_origin(hint) is None:
            how = {"defaults": self.defaults, "others": self.others}
            return from_json(hint, data, place, **how, readers=self.readers)
        return self._composed(hint, data, place)

    def _limited(self, hint: Any, data: object, place: str) -> Any:
        kind, *limits = get_args(hint)
        if not isinstance(data, list | tuple) and any(type(x) is OneOrMore for x in limits):
            return (self.value(get_args(kind)[0], data, place),)
        try:
            found = self.value(kind, data, place)
        except WrongTypeError:
            if words := called(limits):
                raise WrongTypeError(place, data, words) from None
            raise
        for limit in limits:
            if isinstance(limit, Within | Matches) and found is not None:
                limit.check(found, place)
        return found

    def _composed(self, hint: Any, data: object, place: str) -> Any:
        origin, parts = get_origin(hint), get_args(hint)
        if origin is Literal:
            return one_of(parts, data, place)
        if origin in (Union, types.UnionType):
            return self._union(hint, data, place)
        if origin in (tuple, list, Sequence):
            if not isinstance(data, list | tuple):
                raise WrongTypeError(place, data, "a list")
            return tuple(
                self.value(parts[0], inner, f"{place}.{at}") for at, inner in enumerate(data)
            )
        if not isinstance(data, Mapping):
            raise WrongTypeError(place, data, "a table")
        return {
            self._key(parts[0], key, place): self.value(parts[1], inner, f"{place}.{key}")
            for key, inner in data.items()
        }

    @staticmethod
    def _key(kind: Any, key: str, place: str) -> Any:
        """Return a key of a table. JSON stores a whole number as a text."""
        try:
            return kind(key)
        except ValueError:
            raise TypedError(f"{place}.{key}: the key must be {SIMPLE[kind]}") from None

    def _union(self, hint: Any, data: object, place: str) -> Any:
        parts = get_args(hint)
        if NONE in parts and len(parts) == 2 and data is not None:
            return self.value(next(part for part in parts if part is not NONE), data, place)
        tables = [part for part in parts if get_origin(part) is Mapping]
        if tables and isinstance(data, Mapping):
            return self.value(tables[0], data, place)
        for part in parts:
            with suppress(TypedError):
                return self.value(part, data, place)
        raise WrongTypeError(place, data, in_words(hint))


def in_words(hint: Any) -> str:
    """Return the values that a type allows, in words."""
    origin = get_origin(hint)
    if origin is Literal:
        return quoted(get_args(hint))
    if origin is Annotated:
        kind, *limits = get_args(hint)
        return called(limits) or in_words(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(in_words(part) for part in get_args(hint) if part is not NONE)
    if hint in SIMPLE:
        return SIMPLE[hint]
    return "a list" if origin in (tuple, list, Sequence) else "a table"


def called(limits: Sequence[object]) -> str:
    """Return the words of `Called`; "" without it."""
    return next((one.words for one in limits if isinstance(one, Called)), "")


def quoted(allowed: tuple[Any, ...]) -> str:
    """Return the values of a Literal, in words."""
    return " or ".join(f'"{word}"' for word in allowed)


def allowed_in_words(hint: Any) -> str:
    """Return the values that a type allows, in words, with the bounds."""
    words = in_words(hint)
    bounds = [str(one) for one in get_args(hint) if isinstance(one, Within)]
    return f"{words}; {bounds[0]}" if get_origin(hint) is Annotated and bounds else words


def shown(value: object) -> str:
    """Return "= VALUE" as in TOML if the value is short; "" for a table or a long value."""
    text = "" if isinstance(value, Mapping) else as_written(value)
    return f" = {text}" if text and len(text) <= MOST_SHOWN else ""


def as_written(value: object) -> str:
    """Return a value as a file writes it; a value that JSON lacks is written as in Python."""
    if isinstance(value, date | time):  # TOML has them, and people write them by accident
        return value.isoformat()
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)


def simple(kind: type, data: object, place: str) -> Any:
    """Return a simple value. A whole number counts as a number. No other type replaces another."""
    fits = isinstance(data, kind) or (kind is float and isinstance(data, int))
    if not fits or isinstance(data, bool) != (kind is bool):
        raise WrongTypeError(place, data, SIMPLE[kind])
    if isinstance(data, float) and not isfinite(data):
        raise TypedError(f"{place} = {data!r}: must be a finite number")
    return data


def one_of(allowed: tuple[Any, ...], data: object, place: str) -> Any:
    """Return `data` if it is one of the allowed values; else raise TypedError."""
    if isinstance(data, list):
        raise WrongTypeError(place, data, quoted(allowed))
    if data not in allowed:
        raise TypedError(f"{place} = {data}: {choices(data, allowed)}")
    return data


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Raise ValueError unless low <= value <= high."""
    if not low <= value <= high:
        raise ValueError(f"{name} = {value}: allowed are {low} to {high}")
