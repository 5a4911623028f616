"""The glossary: words of the field, headings of tables, and quantities that are derived from records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated

from strandline.api.topic import Topic, topic
from strandline.figures import toml_file
from strandline.figures.schema import Table, says

FILE = Path(__file__).with_suffix(".toml")


class Word(Table, frozen=True):
    """An entry."""

    name: Annotated[str, says("The word as it is written.")]
    what: Annotated[str, says("What it means, in sentences.")]
    also: Annotated[tuple[str, ...], says("Other words for it.")] = ()
    of: Annotated[tuple[str, ...], says("The commands whose tables have it as a heading.")] = ()
    paper: Annotated[str, says("The paper or manual that defines it.")] = ""
    see: Annotated[tuple[str, ...], says("Other names that `strandline explain` knows.")] = ()
    page: Annotated[str, says("The manual's page.")] = "docs/records.md"

    @property
    def names(self) -> tuple[str, ...]:
        """All words for it."""
        return self.name, *self.also


class Glossary(Table, frozen=True):
    """The document of the file."""

    terms: Annotated[tuple[Word, ...], says("Words of the field.")]
    columns: Annotated[tuple[Word, ...], says("Headings of tables.")]
    quantities: Annotated[tuple[Word, ...], says("Quantities that are derived from records.")]

    def entries(self) -> Iterator[tuple[str, Word]]:
        """All entries, each with its kind."""
        for kind, words in (("term", self.terms), ("column", self.columns), ("quantity of records", self.quantities)):
            yield from ((kind, word) for word in words)


@cache
def glossary() -> Glossary:
    """The glossary of the package."""
    return toml_file.read(FILE).convert(Glossary)


def meanings(name: str) -> list[Topic]:
    """The entries with this name, however it is spelled: capitals, blanks and dashes do not matter."""
    meant = _plain(name)
    return [_topic(kind, word) for kind, word in glossary().entries() if meant in map(_plain, word.names)]


def names() -> list[str]:
    """All words."""
    return [name for _, word in glossary().entries() for name in word.names]


def _plain(name: str) -> str:
    return name.casefold().replace("-", " ").replace("_", " ")


def _topic(kind: str, word: Word) -> Topic:
    rows = {"what": word.what, "also": word.also, "in_tables_of": word.of, "paper": word.paper, "see": word.see}
    return topic(word.name, kind, **rows, page=word.page)
