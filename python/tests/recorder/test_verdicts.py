"""The short set of `tools/verdicts`: programs with known answers, each judged right, at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from amounts import IS_THOROUGH
from verdicts import report
from verdicts.corpus import Variant, chosen, read
from verdicts.judge import judge
from verdicts.score import judgements

pytestmark = pytest.mark.recorder

VARIANTS = chosen(read(), (), short=not IS_THOROUGH)
"""All of them in `make thorough`."""


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.label)
def test_a_program_is_judged_as_it_is(variant: Variant, tmp_path: Path) -> None:
    listed = report.known(report.page())
    every = [each for each in judgements(variant, judge(variant, tmp_path)) if each.name not in listed]
    assert report.wrong(every) == []
