"""The notebook as a page: its text, its code, and the tables and pictures that the code has given."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def page(notebook: str) -> str:
    """The cells of a notebook's text in their order. A text of several lines is a list of them there."""
    return "\n\n".join(map(_cell, json.loads(notebook)["cells"])) + "\n"


def _cell(cell: Mapping[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *map(_output, cell["outputs"])])


def _output(output: Mapping[str, Any]) -> str:
    """The richest form of an output that a page shows."""
    data = output.get("data", {})
    if "text/html" in data:
        # An empty line would end the HTML, and begin Markdown.
        return re.sub(r"\n\s*\n", "\n", "".join(data["text/html"])).strip()
    if "image/png" in data:
        picture = "".join(data["image/png"]).strip()
        return f'<img alt="The figure that the code draws" src="data:image/png;base64,{picture}">'
    return f"```text\n{''.join(output.get('text', data.get('text/plain', '')))}\n```"
