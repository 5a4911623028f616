"""The glossary, which `strandline explain` reads too."""

from __future__ import annotations

from strandline.api.glossary import Word, glossary

from .markdown import code, table

HEAD = """# Words

Use this page to look up a word of the field, a heading of a table, or a quantity that figures derive from records, as
`strandline explain WORD` does.
"""


def page() -> str:
    """A table of each kind."""
    known = glossary()
    columns = [(_name(each), code(list(each.of)), each.what) for each in known.columns]
    return "\n".join(
        [
            HEAD,
            "## Terms\n",
            table(("term", "what", "source"), [(_name(each), each.what, each.paper) for each in known.terms]),
            "## Headings of tables\n",
            table(("heading", "in tables of", "what"), columns),
            "## Quantities derived from records\n",
            table(("quantity", "what"), [(code(each.name), each.what) for each in known.quantities]),
        ]
    )


def _name(each: Word) -> str:
    """A word, and the others for it."""
    return f"**{each.name}**" + (f" ({', '.join(each.also)})" if each.also else "")
