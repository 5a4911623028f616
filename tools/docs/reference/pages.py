"""The generated pages of `docs/reference`, by their paths from the root."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import commands, designs, files, machines, models, python, settings, words

PAGES: Mapping[str, Callable[[], str]] = {
    "docs/reference/commands.md": commands.page,
    "docs/reference/settings.md": settings.page,
    "docs/reference/machines.md": machines.page,
    "docs/reference/designs.md": designs.page,
    "docs/reference/models.md": models.page,
    "docs/reference/words.md": words.page,
    "docs/reference/records.md": files.record,
    "docs/reference/files.md": files.page,
    "docs/reference/python.md": python.page,
}
