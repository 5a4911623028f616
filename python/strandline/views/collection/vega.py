"""The programs that draw a page's charts: Vega, Vega-Lite and Vega-Embed, as vl-convert has them.

The extra `charts` installs them. They take as much room as all else that the package needs, so they are no default.
"""

from __future__ import annotations

from importlib.util import find_spec

NOTICE = "/* Vega, Vega-Lite and Vega-Embed: BSD 3-Clause, University of Washington Interactive Data Lab */"
"""The programs' licence asks for this line in each copy, which a page is."""


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("vl_convert") is not None


def programs() -> str:
    """The programs as one script, which defines `vegaEmbed`. Joining them takes seconds."""
    from vl_convert import javascript_bundle

    return f"{NOTICE}\n{javascript_bundle('window.vegaEmbed = vegaEmbed;')}"
