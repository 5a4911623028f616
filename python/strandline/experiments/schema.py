"""Typed structs as the schema of TOML files: the type at a path, and the user's name of a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.inspect import (
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


def keys(kind: Type, table: Mapping[str, Any]) -> dict[str, Type]:
    """The keys that a table may have, and the type of each. The value of a tag selects the others."""
    found = structs(kind)
    tags = {each.tag_field: LiteralType(tuple(each.tag for each in found)) for each in found if each.tag_field}
    mine = [each for each in found if each.tag_field is None or table.get(each.tag_field) == each.tag]
    return {**tags, **{field.encode_name: field.type for each in mine for field in each.fields}}


def at(kind: Type, value: Any, path: KeyPath) -> tuple[Type, Any]:
    """The type and value at a path below a type and a value; `None` if there is none."""
    for step in path:
        if step == EVERY_KEY:
            (kind,) = (each.value_type for each in alternatives(kind) if isinstance(each, DictType))
        elif isinstance(step, str):
            kind, value = keys(kind, value)[step], value.get(step)
        else:
            (array,) = (each for each in alternatives(kind) if isinstance(each, VarTupleType))
            kind, value = array.item_type, value[step]
    return kind, value


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
