"""What another simulator has shown of litmus tests: a line of JSON for each state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from strandline import outside
from strandline.errors import InputError

EXAMPLE = '{"test": "classic/mp+clwb.sfence+dram", "state": {"x": 1, "z": 0}, "count": 12}'
"""A line."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$")]
Location = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]{0,15}$")]
Number = Annotated[int, msgspec.Meta(ge=0, le=255)]
Count = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class Observation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A state that a test has left, and how often."""

    test: Name
    """The test's own name, or its name on the built-in shelf."""
    state: dict[Location, Number]
    """The value of each persistent location and output."""
    count: Count


DECODER = msgspec.json.Decoder(Observation)


def observations(path: Path) -> list[tuple[str, Observation]]:
    """The lines of a file, each with its place `FILE:LINE` for messages.

    Blank lines and lines that begin with `#` say nothing. An `InputError` for any other line that is no observation,
    and for a file without one.
    """
    lines = outside.text_of(path).split("\n")
    numbered = [(f"{path}:{number}", line.strip()) for number, line in enumerate(lines, 1)]
    found = [(place, _read(place, line)) for place, line in numbered if line and not line.startswith("#")]
    if not found:
        raise InputError(f"{path}: has no results: each line must be such as {EXAMPLE}")
    return found


def _read(place: str, line: str) -> Observation:
    try:
        return DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        # The words of the library may quote the line.
        why = str(error).encode("ascii", "backslashreplace").decode().replace("\n", " ").replace("\r", " ")
        raise InputError(f"{place}: {why}: a line must be such as {EXAMPLE}") from error
