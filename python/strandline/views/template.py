"""Pages without any other file: a template of the package, whose places take styles, scripts and contents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import resources

PLACE = re.compile("@([A-Z]+)@")


def page(package: str, title: str, parts: Mapping[str, str]) -> str:
    """The `page/page.html` of a package; a place `@NAME@` takes the part of that name. `title` must be escaped."""
    every = {"TITLE": title, **parts}
    # In one pass: a part may hold what looks like a place.
    return PLACE.sub(lambda found: every[found[1]], _file(package, "page.html"))


def files(package: str, names: Iterable[str]) -> str:
    """Files of the package's folder `page`, one behind the other."""
    return "\n".join(_file(package, name) for name in names)


def _file(package: str, name: str) -> str:
    return (resources.files(package) / "page" / name).read_text("utf-8")
