"""Typed structs as the schema of TOML files: the type at a path, and the user's name of a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct
from msgspec.inspect import (
    AnyType,
    BoolType,
    DictType,
    EnumType,
    FloatType,
    IntType,
    LiteralType,
    Metadata,
    StrType,
    StructType,
    Type,
    UnionType,
    VarTupleType,
)

from strandline.words import word

Sort = TypeVar("Sort")

KeyPath = tuple[str | int, ...]
"""The position of a value in a document: keys of tables, and indices of arrays."""
EVERY_KEY = "[...]"
"""In a path: any key of a table with keys of the user, because msgspec does not name it."""
Names = Annotated[tuple[str, ...], Meta(min_length=1)]


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a TOML file. Its fields are the keys, with types, ranges, defaults and descriptions."""


def says(description: str) -> Meta:
    """The purpose of a key, in the words of the manual."""
    return Meta(description=description)


def alternatives(kind: Type) -> tuple[Type, ...]:
    """The types of a union, or the type itself."""
    if isinstance(kind, Metadata):
        return alternatives(kind.type)
    return kind.types if isinstance(kind, UnionType) else (kind,)


def structs(kind: Type) -> list[StructType]:
    """The structs that a value may be; a tag selects one of several."""
    return [each for each in alternatives(kind) if isinstance(each, StructType)]


def required(kind: Type, table: Mapping[str, Any]) -> list[str]:
    """The keys that a table must have."""
    found = [each for each in structs(kind) if each.tag_field is None or table.get(each.tag_field) == each.tag]
    return [field.encode_name for each in found for field in each.fields if field.required]


def keys(kind: Type, table: Mapping[str, Any]) -> dict[str, Type]:
    """The keys that a table may have, and the type of each. The value of a tag selects the others."""
    found = structs(kind)
    tags = {each.tag_field: LiteralType(tuple(each.tag for each in found)) for each in found if each.tag_field}
    mine = [each for each in found if each.tag_field is None or table.get(each.tag_field) == each.tag]
    return {**tags, **{field.encode_name: field.type for each in mine for field in each.fields}}


@dataclass(frozen=True)
class Mismatch:
    """A value at a path that a type does not allow, and the correction."""

    path: KeyPath
    problem: str
    written: str = ""
    """A name that is not known."""
    known: tuple[str, ...] = ()
    """The names that may be meant."""


def mismatch(kind: Type, value: Any, path: KeyPath) -> Mismatch | None:
    """The first mismatch of a value, or of one in it."""
    if _of(kind, AnyType):
        return None
    if isinstance(value, dict):
        if structs(kind):
            return _in_table(kind, value, path)
        for each in _of(kind, DictType):
            inner = (mismatch(each.value_type, item, (*path, EVERY_KEY)) for item in value.values())
            return next(filter(None, inner), None)
    if isinstance(value, list):
        for array in _of(kind, VarTupleType):
            if len(value) >= (array.min_length or 0):
                inner = (mismatch(array.item_type, item, (*path, index)) for index, item in enumerate(value))
                return next(filter(None, inner), None)
    if any(_allows(each, value) for each in alternatives(kind)):
        return None
    every = " for every key" if path[-1:] == (EVERY_KEY,) else ""
    return Mismatch(path, f"expected {words(kind)}{every}, found {_shown(value)}", str(value), _choices(kind))


def _in_table(kind: Type, table: Mapping[str, Any], path: KeyPath) -> Mismatch | None:
    """The first mismatch in a table: a tag first, then its keys as written, then those it lacks."""
    tag = next((each.tag_field for each in structs(kind) if each.tag_field), None)
    if tag and tag not in table:
        return Mismatch((*path, tag), "missing: add it")
    known = keys(kind, table)
    if tag and (wrong := mismatch(known[tag], table[tag], (*path, tag))):
        return wrong
    for key, value in table.items():
        if key not in known:
            return Mismatch((*path, key), f"unknown key: use one of {', '.join(known)}", key, tuple(known))
        if wrong := mismatch(known[key], value, (*path, key)):
            return wrong
    missing = (key for key in required(kind, table) if key not in table)
    return next((Mismatch((*path, key), "missing: add it") for key in missing), None)


def _choices(kind: Type) -> tuple[str, ...]:
    """The texts that a type allows, if it names them."""
    literals = [str(value) for each in _of(kind, LiteralType) for value in each.values]
    return (*literals, *(str(member.value) for each in _of(kind, EnumType) for member in each.cls))


def _of(kind: Type, sort: type[Sort]) -> list[Sort]:
    return [each for each in alternatives(kind) if isinstance(each, sort)]


def _allows(kind: Type, value: Any) -> bool:
    """Whether a type allows a value that is no table and no array."""
    if isinstance(kind, LiteralType):
        return any(type(value) is type(known) and value == known for known in kind.values)
    if isinstance(kind, EnumType):
        return isinstance(value, str) and value in [member.value for member in kind.cls]
    if isinstance(value, bool):
        return isinstance(kind, BoolType)
    if isinstance(value, int | float):
        numbers = (IntType, FloatType) if isinstance(value, int) else (FloatType,)
        return isinstance(kind, numbers) and (kind.ge is None or value >= kind.ge)
    return isinstance(value, str) and isinstance(kind, StrType)


def _shown(value: Any) -> str:
    """A value as TOML writes it; tables and arrays are approximate."""
    return f"`{word(value)}`"


def words(kind: Type) -> str:
    """The user's name of a value's type."""
    return _either(_WORDS[type(each)](each) for each in alternatives(kind) if type(each) in _WORDS)


def _number(name: str) -> Callable[[Any], str]:
    return lambda kind: name if kind.ge is None else f"{name} from {kind.ge:g} up"


def _array(kind: Any) -> str:
    items = "tables" if structs(kind.item_type) == [kind.item_type] else words(kind.item_type)
    return f"an array of {'at least one: ' if kind.min_length else ''}{items}"


def _either(names: Iterable[str]) -> str:
    every = list(dict.fromkeys(names))
    if "a number" in every and "a whole number" in every:
        every.remove("a whole number")
    return " or ".join(part for part in (", ".join(every[:-1]), every[-1]) if part)


def quoted(names: Iterable[Any]) -> str:
    """Names to choose from."""
    return _either(f"`{name}`" for name in names)


_WORDS: Mapping[type, Callable[[Any], str]] = {
    StrType: lambda _: "text in quotes",
    BoolType: lambda _: "true or false",
    IntType: _number("a whole number"),
    FloatType: _number("a number"),
    LiteralType: lambda kind: quoted(kind.values),
    EnumType: lambda kind: quoted([member.value for member in kind.cls]),
    VarTupleType: _array,
    DictType: lambda _: "a table",
    StructType: lambda _: "a table",
}
"""All types that a file can hold. Users do not see that a key is optional as a type."""
