"""What both languages share: nested comments `(* ... *)`, and quotation marks."""

from __future__ import annotations

import re

from .errors import InputError

_PIECES = re.compile(r'"[^"\n]*"|\(\*|\*\)|\n|.')


def position(text: str, offset: int) -> str:
    """Line and column, from 1, of an offset in a text."""
    before = text[:offset]
    return f"{before.count(chr(10)) + 1}:{offset - before.rfind(chr(10))}"


def without_comments(text: str, where: str) -> str:
    """The text with blanks for comments; other characters keep their line and column."""
    out: list[str] = []
    opened: list[int] = []
    offset = 0
    while piece := _PIECES.match(text, offset):
        found = piece.group()
        if opened and found.startswith('"'):
            found = '"'  # a comment's quotation marks mean nothing
        if found == "(*":
            opened.append(offset)
        if opened:
            out.append("\n" if found == "\n" else " " * len(found))
        else:
            out.append(found)
        if found == "*)" and opened:
            opened.pop()
        offset += len(found)
    if opened:
        raise InputError(f"{where}:{position(text, opened[0])}: this comment does not end: close it with *)")
    return "".join(out)
