"""The notebook as a page: its text, its code, and the tables and pictures that the code has given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

FILE = Path(__file__).resolve().parents[2] / "docs" / "notebook.ipynb"


def page() -> str:
    """The cells in their order."""
    notebook = nbformat.read(FILE, as_version=4)  # type: ignore[no-untyped-call]
    return "\n\n".join(map(_cell, notebook.cells)) + "\n"


def _cell(cell: Mapping[str, Any]) -> str:
    if cell["cell_type"] == "markdown":
        return str(cell["source"])
    parts = [f"```python\n{cell['source']}\n```", *map(_output, cell["outputs"])]
    return "\n\n".join(parts)


def _output(output: Mapping[str, Any]) -> str:
    """The richest form of an output that a page shows."""
    data = output.get("data", {})
    if "text/html" in data:
        # An empty line would end the HTML, and begin Markdown.
        return re.sub(r"\n\s*\n", "\n", data["text/html"]).strip()
    if "image/png" in data:
        return f'<img alt="The figure that the code draws" src="data:image/png;base64,{data["image/png"].strip()}">'
    return f"```text\n{output.get('text', data.get('text/plain', ''))}\n```"
