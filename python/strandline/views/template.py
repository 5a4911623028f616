"""Pages without any other file: one head and base of styles for all, and the body, style and scripts of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

SHARED = "strandline.views", "pages"
"""The folder of what all pages have, also that of `strandline explore`."""

PLACE = re.compile("@([A-Z]+)@")


def page(package: str, title: str, parts: Mapping[str, str], scripts: Sequence[str] = (), images: bool = False) -> str:
    """The page of a package, whose folder `page` has `body.html`, `page.css` and the scripts.

    A place `@NAME@` of the body takes the part of that name. With `images`, parts may have pictures as data.
    """
    own = package, "page"
    sources = [*(["img-src data:"] if images else []), "style-src 'unsafe-inline'"]
    every = {"TITLE": escape(title), "STYLE": f"{_text(*SHARED, 'base.css')}\n{_text(*own, 'page.css')}", **parts}
    if scripts:
        sources.append("script-src 'unsafe-inline'")
        every["SCRIPT"] = "\n".join(_text(*own, name) for name in scripts)
    every["SOURCES"] = "; ".join(sources)
    every["BODY"] = _filled(_text(*own, "body.html"), every)
    return _filled(_text(*SHARED, "page.html"), every)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    # In one pass: a part may hold what looks like a place.
    return PLACE.sub(lambda found: parts[found[1]], template)


def _text(package: str, folder: str, name: str) -> str:
    return (resources.files(package) / folder / name).read_text("utf-8")
