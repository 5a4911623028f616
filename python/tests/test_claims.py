"""`strandline claims`, and the comparison of a claim with a measurement."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from fake_native import PERSIST_CYCLES, SWITCH_INSTRUCTIONS, TASKS, FakeNative
from strandline.errors import InputError
from strandline.figures.claims import Claim, Kind, Measured, holds, load
from strandline.figures.cosplay import r_squared
from strandline.figures.evaluate import Outcome, State
from strandline.figures.verdicts import residual
from strandline.figures.verdicts import state as verdict_of


def test_all(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("claims")
    # The fake machine gains more than the paper's at long persist latencies.
    assert (answer.code, answer.err) == (1, "")
    assert answer.out == snapshot


def test_json(strandline: Strandline) -> None:
    low, high = strandline("claims", "cosplay-fig1-adr", "cosplay-fig10-adr", "--json").document["claims"]
    assert low["paper_value"] == {"low": 1.07, "high": 3.14}
    slowdowns = [1 + fences * PERSIST_CYCLES / cycles for _, _, fences, cycles in TASKS.values()]
    assert low["measured"]["low"] == pytest.approx(min(slowdowns))
    assert low["measured"]["high"] == pytest.approx(max(slowdowns))
    assert low["holds"] is True
    # Plain ADR: 7 benchmarks under 2 designs.
    assert len(low["records"]) == 14
    assert (high["holds"], high["measured"], high["records"]) == (None, None, [])
    assert high["reason"] == "not measurable yet: needs design strandweaver"


def test_a_pattern_or_a_paper_is_all_of_its_claims(strandline: Strandline) -> None:
    def ids(*given: str) -> list[str]:
        return [each["id"] for each in strandline("claims", *given, "--tasks", "20", "--json").document["claims"]]

    assert ids("dpo-so*", "cosplay-table3") == ["dpo-so-pcm", "cosplay-table3"]
    assert {"dpo-so-pcm", "dpo-cost"} < set(ids("dpo"))


def test_table_3(strandline: Strandline) -> None:
    claim = strandline("claims", "cosplay-table3", "--json").document["claims"][0]
    instructions, flushes, fences, _ = TASKS["tpcc"]
    expected = {"cki": 1000 * flushes / instructions, "ski": 1000 * fences / instructions}
    more = {"cii": (instructions + SWITCH_INSTRUCTIONS) / instructions}
    assert claim["measured"]["tpcc"] == pytest.approx({**expected, **more})
    assert claim["holds"] is None


def test_a_run_that_several_claims_need_is_made_once(strandline: Strandline, native: FakeNative) -> None:
    strandline("claims", "--store", "off")
    made = Counter(json.dumps(spec, sort_keys=True) for spec in native.specs)
    assert set(made.values()) == {1}
    # Searches have runs of an eighth of 20,000, 10,000 or 2,000 tasks at each of 17 windows: of cosplay, Figure 8 of 7
    # benchmarks under 5 latencies, which 10 to 13 share, and 14 with three more numbers of threads; 12 of sbatch of 4
    # benchmarks; 13 of freeswitch under encryption.
    short = [spec for spec in native.specs if spec["tasks"] in (2500, 1250, 250)]
    assert len(short) == (7 * 5 + 3 * 7 + 4 + 7) * 17
    # Figure 9 shows 13 windows under two latencies in full, and of other curves few windows count.
    full = [spec for spec in native.specs if spec["design"] == "cosplay" and spec not in short]
    assert 2 * 7 * 13 < len(full) < 2 * 7 * 17 + (3 + 3) * 7 * 6


def test_only_the_places_that_a_claim_is_about_are_run(strandline: Strandline, native: FakeNative) -> None:
    strandline("claims", "cosplay-fig8-adr")
    assert {spec["bmo"] for spec in native.specs} == {0}


def test_a_claim_that_does_not_hold_exits_1(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fake_native.PERSIST_CYCLES", 5000)
    answer = strandline("claims", "cosplay-fig1-adr")
    assert answer.code == 1
    assert "NO" in answer.out


def test_a_verdict_within_the_runs_errors_is_undecided(strandline: Strandline, native: FakeNative) -> None:
    # The paper's largest slowdown is 3.14, of which half of the excess over 1 is permitted: 2.07 or more. Ours is
    # 1 + 2 fences x 100 cycles / 120 = 2.67. The smallest is 1.06, and must lie from 1.035 to 1.105.
    def outcome(share: float) -> tuple[dict[str, Any], int, str]:
        native.errors = {"x86": share, "unordered": share}
        found = strandline("claims", "cosplay-fig1-adr", "--json", "--store", "off")
        table = strandline("claims", "cosplay-fig1-adr", "--store", "off").out
        return found.document["claims"][0], found.code, table

    sure, code, table = outcome(0.001)
    assert (sure["holds"], sure["undecided"], code) == (True, False, 0)
    assert 0 < sure["error"]["high"] < 0.01
    assert f"{sure['measured']['high']:.2f} ± 0.01" in " ".join(table.split())
    unsure, code, table = outcome(0.2)
    assert (unsure["holds"], unsure["undecided"], code) == (True, True, 0)
    assert "undecided" in table
    assert "1 undecided (run longer: --tasks)" in table


def test_an_undecided_claim_that_fails_is_no_failure(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 1 + 2 x 64 / 120 = 2.067, just below the bound.
    monkeypatch.setattr("fake_native.PERSIST_CYCLES", 64)
    exits = {}
    for share in (0.0001, 0.1):
        native.errors = {"x86": share, "unordered": share}
        exits[share] = strandline("claims", "cosplay-fig1-adr", "--store", "off").code
    assert exits == {0.0001: 1, 0.1: 0}


def test_the_same_figure_has_the_same_interval(strandline: Strandline, native: FakeNative) -> None:
    native.errors = {"x86": 0.05, "unordered": 0.05}
    first, second = (
        strandline("claims", "cosplay-fig1-adr", "--json", "--store", "off").document["claims"][0] for _ in range(2)
    )
    assert first["error"] == second["error"]


def claim(kind: Kind, *, tolerance: float = 0.0, excess: bool = False, **numbers: Any) -> Claim:
    return Claim(
        id="id",
        paper="paper",
        kind=kind,
        text="text",
        tolerance=tolerance,
        excess=excess,
        designs=("x86",),
        workloads=(),
        **numbers,
    )


@pytest.mark.parametrize(
    ("held", "measured", "verdict"),
    [
        (claim(Kind.VALUE, value=2.0, tolerance=0.25), 2.5, True),
        (claim(Kind.VALUE, value=2.0, tolerance=0.25), 2.6, False),
        (claim(Kind.VALUE, value=2.0, tolerance=0.25, excess=True), 1.75, True),
        (claim(Kind.VALUE, value=2.0, tolerance=0.25, excess=True), 2.5, False),
        (claim(Kind.VALUE, values={"a": 2.0, "b": 4.0}, tolerance=0.25), {"a": 2.0, "b": 5.0}, True),
        (claim(Kind.VALUE, values={"a": 2.0, "b": 4.0}, tolerance=0.25), {"a": 2.0, "b": 5.5}, False),
        (claim(Kind.RANGE, low=1.5, high=3.0, tolerance=0.5, excess=True), {"low": 1.25, "high": 4.0}, True),
        (claim(Kind.RANGE, low=1.5, high=3.0, tolerance=0.5, excess=True), {"low": 1.2, "high": 3.0}, False),
        (claim(Kind.EXACT, value=46), 46, True),
        (claim(Kind.EXACT, value=46), 46.5, False),
        (claim(Kind.INPUT, value=46), 1, None),
    ],
)
def test_verdicts(held: Claim, measured: Any, verdict: bool | None) -> None:
    assert holds(held, Measured(measured)) is verdict


def test_r_squared() -> None:
    assert r_squared([(0, 1), (1, 3), (2, 5)]) == pytest.approx(1)
    # Around the mean of 1, the line 0.5 + 0.5 x leaves 1.5 of a variance of 2.
    assert r_squared([(0, 0), (1, 2), (2, 1)]) == pytest.approx(0.25)
    assert r_squared([(0, 2), (1, 2)]) == 1


def test_a_missing_file_is_told(strandline: Strandline, tmp_path: Path) -> None:
    from strandline.figures.experiments import Experiments

    assert "claims.toml: cannot be read" in strandline("claims", experiments=Experiments(tmp_path)).refusal


CLAIM = """[[claim]]
id = "a"
paper = "p"
kind = "value"
text = "T"
tolerance = 0.5
value = 2
designs = ["x86"]
workloads = ["sps"]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        (
            'kind = "value"',
            'kind = "valu"',
            4,
            "kind: expected `value`, `range`, `input`, `order` or `exact`, found `valu`",
        ),
        ("value = 2", "low = 2", 4, "kind: claim a of kind value needs value or values: give just that"),
        ("value = 2", "value = 2\nlow = 2", 4, "kind: claim a of kind value needs value or values"),
        ("tolerance = 0.5", "tolerance = -1", 6, "tolerance: expected a number from 0 up, found `-1`"),
        ('designs = ["x86"]', "designs = []", 8, "designs: expected an array of at least one: text in quotes"),
        ('text = "T"', "", 1, "text: missing: add it"),
        ('text = "T"', 'text = "T"\nwhy = "T"', 6, "why: unknown key: use one of id, paper, kind"),
        ('["sps"]\n', f'["sps"]\n{CLAIM}', 1, "claim: `a` occurs twice"),
    ],
)
def test_bad_claims_are_told_by_line(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(CLAIM.replace(old, new))
    with pytest.raises(InputError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}:{line}: {problem}")


@pytest.mark.parametrize(
    ("found", "state", "said"),
    [
        ({"holds": True}, State.MET, "-"),
        ({"holds": True, "inputs": {"sps": {"cki": 1.12}, "pc": {"cki": 0.95}}}, State.MET, "within 12 %"),
        ({"holds": True, "inputs": {"sps": {"cki": 1.3}}}, State.MET, "sps: cki 1.3 times the paper's"),
        (
            {"holds": True, "inputs": {"sps": {"cki": 1.2, "ski": 0.5}}},
            State.INPUT_OFF,
            "sps: ski 0.50 times the paper's",
        ),
        ({"holds": False, "inputs": {"sps": {"cki": 3.0}}}, State.NOT_MET, "sps: cki 3.0 times the paper's"),
        ({"holds": False, "artifact": "asap-artifact"}, State.PAPERS_OWN, "-"),
        ({"holds": False, "undecided": True}, State.UNDECIDED, "-"),
        ({"holds": None}, State.SHOWN, "-"),
        ({"holds": None, "reason": "not measurable yet"}, State.NOT_MEASURABLE, "-"),
    ],
)
def test_the_state_of_a_claim_and_its_furthest_input(found: dict[str, Any], state: State, said: str) -> None:
    given = structs.replace(claim(Kind.VALUE, value=2.0), artifact=found.pop("artifact", ""))
    outcome = Outcome(given, 2.0, **{"reason": None, "records": (), **found})
    assert (outcome.state, residual(outcome)) == (state, said)
    shown = "NOT MET" if state is State.NOT_MET else state.value
    assert verdict_of(outcome) == shown
