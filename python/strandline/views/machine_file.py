"""A machine's TOML file to begin from: its preset as base, and each parameter as a line to take in and change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

WIDTH = 80
"""Characters of a line."""

SET = "command line"
"""The source of a parameter that `--set` gives."""

NO_TEXT = re.compile(r"true|false|[+-]?[0-9][0-9_]*(\.[0-9]+)?")
"""A value that TOML writes without quotes."""

NEEDED = "ns"
"""The unit that a value must have: a time without one is in cycles."""

HEAD = """\
# A machine of your own, for -m FILE.toml. It is as its base, except for what
# this file sets: remove the # before a line, and change its value.
"""


def machine_file(base: str, parameters: Sequence[Mapping[str, Any]]) -> str:
    """The text of the file; parameters that the command line gives are set, others are comments."""
    tables: dict[str, list[Mapping[str, Any]]] = {"": []}
    for each in parameters:
        tables.setdefault(each["key"].rpartition(".")[0], []).append(each)
    lines = [HEAD, f"base = {json.dumps(base)}", '#name = "mine"']
    for table, entries in tables.items():
        lines += ["", f"[{table}]"] if table else []
        lines += [line for each in entries for line in _lines(each)]
    return "\n".join([*lines, ""])


def _lines(parameter: Mapping[str, Any]) -> Iterator[str]:
    unit = f" ({parameter['unit']})" if parameter["unit"] else ""
    said = f"{parameter['help']}{unit}. Source: {parameter['source']}"
    yield ""
    yield from wrap(said, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    name, value = parameter["key"].rpartition(".")[2], str(parameter["value"])
    written = value if NO_TEXT.fullmatch(value) else json.dumps(value)
    if parameter["unit"] == NEEDED:
        written = f'{{ value = {written}, unit = "{NEEDED}" }}'
    yield f"{'' if parameter['source'] == SET else '#'}{name} = {written}"
