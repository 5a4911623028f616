"""`python -m tools.notebook [OUT]`: executes `docs/notebook.ipynb` and writes it with its output, there or to OUT."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
SECONDS = 300


def main() -> int:
    """Executes all cells in an empty folder; an error of one is this program's."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    # The output says nothing of runs that this machine has made before.
    os.environ["STRANDLINE_STORE"] = "off"
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=where, record_timing=False).execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(notebook, out)  # type: ignore[no-untyped-call]
    return 0


if __name__ == "__main__":
    sys.exit(main())
