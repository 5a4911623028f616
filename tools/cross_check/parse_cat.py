"""Parses a model: the subset of herd's language in `docs/litmus.md`, "A model"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import InputError
from .text import position, without_comments

_TOKEN = re.compile(r'\s*(?:([A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*)|("[^"\n]*")|(\^-1|[-|;\\&*~+?\[\]()=0,]))')
_KEYWORDS = frozenset(
    [
        "let",
        "rec",
        "and",
        "if",
        "then",
        "else",
        "include",
        "flag",
        "acyclic",
        "irreflexive",
        "empty",
        "as",
        "domain",
        "range",
    ]
)
_CHECKS = ("acyclic", "irreflexive", "empty")
_BINARY = ("|", ";", "\\", "&", "*")
_POSTFIX = ("+", "*", "?", "^-1")


@dataclass(frozen=True)
class Name:
    """A set or a relation by its name."""

    where: str
    name: str


@dataclass(frozen=True)
class Nothing:
    """`0`."""

    where: str


@dataclass(frozen=True)
class Unary:
    """`~` `+` `*` `?` `^-1` `[` `domain` `range`."""

    where: str
    op: str
    of: Expr


@dataclass(frozen=True)
class Binary:
    r"""`|` `;` `\` `&` `*`."""

    where: str
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class If:
    """What a variant changes."""

    where: str
    variant: str
    then: Expr
    otherwise: Expr


Expr = Name | Nothing | Unary | Binary | If


@dataclass(frozen=True)
class Let:
    """One binding, or several mutually recursive ones."""

    where: str
    recursive: bool
    bindings: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True)
class Check:
    """A check, or with `flag` a mark."""

    where: str
    flag: bool
    negated: bool
    kind: str
    of: Expr


Statement = Let | Check


@dataclass(frozen=True)
class Model:
    """A model: its statements, with those of included files in place."""

    name: str
    statements: tuple[Statement, ...]
    isa: frozenset[str]
    """The names in `let isa`."""
    variants: tuple[str, ...]
    """The variants that the model or its includes test, in order."""
    has_hosts: bool
    """Whether the model or its includes name `same-host`."""
    has_rest: bool
    """Whether they name `REST`."""
    has_failure: bool
    """Whether they name `late`."""
    has_owners: bool
    """Whether they name `HOME`."""


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and its subexpressions."""
    yield expr
    if isinstance(expr, Unary):
        yield from subexpressions(expr.of)
    elif isinstance(expr, Binary):
        yield from subexpressions(expr.left)
        yield from subexpressions(expr.right)
    elif isinstance(expr, If):
        yield from subexpressions(expr.then)
        yield from subexpressions(expr.otherwise)


def read_model(path: Path) -> Model:
    """Parses a model and its includes, relative to its folder."""
    statements = tuple(_File(path, path.parent, set()).statements())
    bindings = [binding for item in statements if isinstance(item, Let) for binding in item.bindings]
    expressions = [expr for _, expr in bindings] + [item.of for item in statements if isinstance(item, Check)]
    defined = dict(bindings)
    for needed in ("isa", "pmo"):
        if needed not in defined:
            raise InputError(f"{path}: a model must say `let {needed} = ...`")
    isa = frozenset(part.name for part in subexpressions(defined["isa"]) if isinstance(part, Name))
    variants = {part.variant for expr in expressions for part in subexpressions(expr) if isinstance(part, If)}
    names = {part.name for expr in expressions for part in subexpressions(expr) if isinstance(part, Name)}
    has = ("same-host" in names, "REST" in names, "late" in names, "HOME" in names)
    return Model(path.stem, statements, isa, tuple(sorted(variants)), *has)


def read_models(folder: Path) -> dict[str, Model]:
    """All models of a folder, by name."""
    models = {path.stem: read_model(path) for path in sorted(folder.glob("*.cat"))}
    if not models:
        raise InputError(f"{folder}: no models (*.cat) here: run from the repository's root")
    return models


class _File:
    """A file during parsing: its tokens and the index of the next."""

    def __init__(self, path: Path, root: Path, seen: set[Path]) -> None:
        self.path, self.root, self.seen = path, root, seen
        seen.add(path.resolve())
        try:
            text = without_comments(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from None
        self.tokens: list[tuple[str, str]] = []
        offset, end = 0, len(text.rstrip())
        while offset < end:
            match = _TOKEN.match(text, offset)
            start = offset + len(text[offset:]) - len(text[offset:].lstrip())
            if not match:
                raise InputError(f"{path}:{position(text, start)}: {text[start]!r} means nothing in a model")
            self.tokens.append((match.group().strip(), f"{path}:{position(text, start)}"))
            offset = match.end()
        self.tokens.append(("", f"{path}:{position(text, end)}"))
        self.at = 0

    @property
    def word(self) -> str:
        return self.tokens[self.at][0]

    @property
    def where(self) -> str:
        return self.tokens[self.at][1]

    def take(self, *wanted: str) -> bool:
        if self.word in wanted:
            self.at += 1
            return True
        return False

    def need(self, wanted: str) -> None:
        if not self.take(wanted):
            raise InputError(f"{self.where}: expected {wanted}, found {self.word or 'the end of the file'}")

    def name(self) -> str:
        if not re.match(r"[A-Za-z_]", self.word) or self.word in _KEYWORDS:
            raise InputError(f"{self.where}: expected a name, found {self.word or 'the end of the file'}")
        self.at += 1
        return self.tokens[self.at - 1][0]

    def string(self) -> str:
        if not self.word.startswith('"'):
            raise InputError(f"{self.where}: expected a name in quotation marks, found {self.word or 'the end'}")
        self.at += 1
        return self.tokens[self.at - 1][0][1:-1]

    def statements(self) -> Iterator[Statement]:
        if self.word.startswith('"'):
            self.at += 1
        while self.word:
            where = self.where
            if self.take("include"):
                path = self.root / self.string()
                if path.resolve() not in self.seen:
                    yield from _File(path, self.root, self.seen).statements()
            elif self.take("let"):
                yield self.let(where)
            else:
                yield self.check(where)

    def let(self, where: str) -> Let:
        recursive = self.take("rec")
        bindings = []
        while True:
            name = self.name()
            self.need("=")
            bindings.append((name, self.expr()))
            if not self.take("and"):
                return Let(where, recursive, tuple(bindings))

    def check(self, where: str) -> Check:
        flag = self.take("flag")
        negated = self.take("~")
        kind = self.word
        if not self.take(*_CHECKS):
            raise InputError(f"{self.where}: expected include, let or a check, found {kind or 'the end of the file'}")
        of = self.expr()
        if self.take("as"):
            self.name()
        return Check(where, flag, negated, kind, of)

    def expr(self, level: int = 0) -> Expr:
        """An expression of the operators from `_BINARY[level]` on, which bind more tightly."""
        if level == len(_BINARY):
            return self.prefixed()
        left = self.expr(level + 1)
        while self.word == _BINARY[level]:
            where = self.where
            self.at += 1
            left = Binary(where, _BINARY[level], left, self.expr(level + 1))
        return left

    def prefixed(self) -> Expr:
        where = self.where
        if self.take("~"):
            return Unary(where, "~", self.prefixed())
        expr = self.atom()
        while self.word in _POSTFIX and not (self.word == "*" and self.starts_operand(self.at + 1)):
            expr = Unary(self.where, self.word, expr)
            self.at += 1
        return expr

    def starts_operand(self, at: int) -> bool:
        """Whether an operand starts there: then a `*` before it is a product."""
        token = self.tokens[at][0]
        if re.match(r"[A-Za-z_]", token):
            return token not in _KEYWORDS or token in ("if", "domain", "range")
        return token in ("0", "(", "[", "~")

    def atom(self) -> Expr:
        where = self.where
        if self.take("0"):
            return Nothing(where)
        if self.take("("):
            expr = self.expr()
            self.need(")")
            return expr
        if self.take("["):
            expr = self.expr()
            self.need("]")
            return Unary(where, "[", expr)
        if self.word in ("domain", "range"):
            op = self.word
            self.at += 1
            self.need("(")
            expr = self.expr()
            self.need(")")
            return Unary(where, op, expr)
        if self.take("if"):
            variant = self.string()
            self.need("then")
            then = self.expr()
            self.need("else")
            return If(where, variant, then, self.expr())
        return Name(where, self.name())
