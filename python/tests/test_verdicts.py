"""The scorer of `tools/verdicts` is believed because it catches planted answers: each lowers its own number alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from strandline.errors import InputError
from verdicts import report
from verdicts.corpus import DESIGNS, Settings, Variant, chosen, marks, read
from verdicts.judge import Answer, Case, Row, lines_of
from verdicts.score import judgements, score

TABLE = """
[flag]
kind = "missing flush"
RIGHT = {}
LATE = { fails = ["x86"], audit = ["stored_never_flushed"] }
"""
PROGRAM = """enum { RIGHT, LATE };
value = 7; /* BUG: LATE */
other = 8;
scratch = 9; /* MAY */
lock = 0; /* NOT */
"""

STORED = Row("stored_never_flushed", "correctness", frozenset({2}))
QUIET = Answer(recovers={"x86": True, "eadr": True})
ALARM = Answer(recovers={"x86": False, "eadr": True}, cases={"x86": (Case(frozenset({2, 3})),)}, audit=(STORED,))


@pytest.fixture
def corpus(tmp_path: Path) -> dict[str, Variant]:
    table = tmp_path / "corpus.toml"
    table.write_text(TABLE)
    (tmp_path / "flag.c").write_text(PROGRAM)
    return {variant.name: variant for variant in read(table, tmp_path)}


def shares(corpus: dict[str, Variant], right: Answer, late: Answer) -> tuple[float | None, ...]:
    """Recall, precision and exactness of two answers."""
    answers = {corpus["RIGHT"]: right, corpus["LATE"]: late}
    every = [each for variant, answer in answers.items() for each in judgements(variant, answer)]
    return report.shares(score(every))


def test_right_answers_score_all(corpus: dict[str, Variant]) -> None:
    assert shares(corpus, QUIET, ALARM) == (1, 1, 1)


def test_a_missed_fault_lowers_recall_alone(corpus: dict[str, Variant]) -> None:
    assert shares(corpus, QUIET, replace(ALARM, recovers=QUIET.recovers)) == (0.5, 1, 1)
    assert shares(corpus, QUIET, replace(ALARM, audit=())) == (0.5, 1, 1)


def test_a_false_alarm_lowers_precision_alone(corpus: dict[str, Variant]) -> None:
    assert shares(corpus, replace(QUIET, recovers={"x86": True, "eadr": False}), ALARM) == (1, 2 / 3, 1)
    assert shares(corpus, replace(QUIET, audit=(STORED,)), ALARM) == (1, 2 / 3, 1)


@pytest.mark.parametrize(
    "late",
    [
        replace(ALARM, cases={"x86": (Case(frozenset({3})), Case(frozenset({2})))}),
        replace(ALARM, cases={"x86": (Case(frozenset({2, 5})),)}),
        replace(ALARM, audit=(replace(STORED, lines=frozenset({3})),)),
        replace(ALARM, audit=(STORED, replace(STORED, lines=frozenset({3})))),
        replace(ALARM, audit=(replace(STORED, finding="flushed_never_fenced"),)),
    ],
    ids=["another line first", "an innocent line", "another line", "one line too many", "another finding"],
)
def test_a_wrong_line_lowers_exactness_alone(corpus: dict[str, Variant], late: Answer) -> None:
    assert shares(corpus, QUIET, late) == (1, 1, 0.5)


def test_no_verdict_is_a_missed_fault_and_never_right(corpus: dict[str, Variant]) -> None:
    broken = Answer(error="record: it died", command="strandline record")
    assert shares(corpus, QUIET, broken) == (0, None, None)
    lines = report.wrong(list(judgements(corpus["RIGHT"], broken)))
    assert len(lines) == len(DESIGNS) + 2
    assert lines[0] == "flag:RIGHT x86: record: it died; right: none: strandline record"


def test_a_second_bug_must_be_shown_too() -> None:
    both = marks(["a = 1; /* BUG */", "b = 2; /* BUG2: LATE */"], "LATE", faulty=True)
    variant = Variant("flag", "LATE", Settings(fails=("x86",)), marks=both)
    first, second = Case(frozenset({1})), Case(frozenset({2}))
    for cases, exact in (((first,), False), ((first, second), True)):
        answer = Answer(recovers={"x86": False, "eadr": True}, cases={"x86": cases})
        assert next(judgements(variant, answer)).exact is exact


def test_the_audit_may_name_what_is_marked_so(corpus: dict[str, Variant]) -> None:
    scratch = replace(STORED, lines=frozenset({4}))
    assert shares(corpus, replace(QUIET, audit=(scratch,)), replace(ALARM, audit=(STORED, scratch))) == (1, 1, 1)


def test_a_page_lists_wrong_answers_so_that_others_are_new(corpus: dict[str, Variant]) -> None:
    every = list(judgements(corpus["LATE"], QUIET))
    assert report.known(report.listed(every)) == {"flag:LATE x86", "flag:LATE audit"}


def test_lines_of_helpers_are_those_of_their_calls() -> None:
    place = {
        "site": "fence (pool.h:40) in run (flag.c:7)",
        "inlined_in": [],
        "caller": None,
        "callers": [{"site": "x (flag.c:9)"}],
    }
    assert lines_of(place, "flag.c") == {7, 9}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('[flag]\nLATE = { fail = ["x86"] }\n', "fail"),
        ("[other]\nRIGHT = {}\n", "does not exist"),
    ],
)
def test_a_wrong_table_is_one_line_with_its_place(tmp_path: Path, written: str, message: str) -> None:
    (tmp_path / "flag.c").write_text(PROGRAM)
    table = tmp_path / "corpus.toml"
    table.write_text(written)
    with pytest.raises(InputError, match=rf"corpus.toml:\d+: .*{message}"):
        read(table, tmp_path)


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    assert {each.name for each in chosen(read(), ["poll:R*"])} == {"RIGHT", "READ_ONCE"}
    with pytest.raises(InputError, match="no program matches `nonesuch`"):
        chosen(read(), ["nonesuch"])


def test_the_corpus_has_what_it_promises() -> None:
    variants = read()
    assert len(variants) >= 120
    assert len({variant.program for variant in variants}) >= 60
    assert 2 * sum(variant.is_right for variant in variants) >= len(variants)
    for variant in variants:
        text = variant.source.read_text()
        assert variant.name in text.partition("}")[0], f"{variant.label} is no name of its enum"
        assert variant.settings.kind
        assert variant.settings.source
