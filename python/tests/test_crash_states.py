"""Which failing crash state of a recording is shown, and how."""

from dataclasses import replace
from typing import Any

import pytest

from made import states_plan
from strandline.api.recordings import CrashesOfRecording
from strandline.checking.examined import Examined
from strandline.checking.examining import weaken
from strandline.checking.groups import groups
from strandline.checking.means import Means
from strandline.checking.mending import Change, Remedy
from strandline.checking.request import Request
from strandline.checking.verdicts import End, Verdict
from strandline.engine import Reached, StatesPlan, StateVisit
from strandline.errors import InputError
from strandline.views import crash_states, failure_groups, named_lines
from strandline.views.crash_states import WHY, circumstances, explain, found, store_lines, verdicts
from strandline.views.recorded_case import page


def store(site: str, *, library: bool = False) -> dict[str, Any]:
    return {
        "site": site,
        "place": "pool+0x40",
        "times": 1,
        "in_library": library,
        "caller": None,
        "module": "list",
        "pc": 7,
    }


def state(name: str, has: list[dict[str, Any]], lacks: list[dict[str, Any]], differs: int = 0) -> StateVisit:
    interval = int(name.partition(":")[0])
    return StateVisit(name, interval, 0, differs, ["pool"], None, None, has, lacks, len(has), len(lacks))


def examined(*states: StateVisit) -> Examined:
    verdicts = [Verdict(state, "the checker exited with status 1") for state in states]
    return Examined("list.strand", "x86", states_plan(), len(verdicts), verdicts)


MANY = [store(f"memcpy (libc.so.6+{number:#x})", library=True) for number in range(98)]
BUG = store("append (list.c:31)")


def test_the_state_of_one_store_is_shown_and_not_that_with_everything() -> None:
    everything = state("21:all", [BUG, *MANY], [])
    alone = state("21:none,f015=3", [BUG], MANY, differs=1)
    result = examined(everything, alone)
    assert [failure.state.name for failure in result.failures] == ["21:none,f015=3", "21:all"]
    lines = explain(result, groups(result)[0], ["again"])
    assert lines[1].startswith("  smallest case: state 21:none,f015=3")
    assert lines[3] == "  has   append (list.c:31), at pool+0x40"


def test_what_a_state_lacks_explains_it_if_the_state_with_everything_is_right() -> None:
    lacks = state("7:all,3=0", [BUG, BUG, BUG], [store("fill (list.c:12)")], differs=1)
    more = state("8:none,3=1", [BUG, BUG], MANY, differs=1)
    assert [failure.state.name for failure in examined(more, lacks).failures] == ["7:all,3=0", "8:none,3=1"]
    everything = state("7:all", [BUG, BUG, BUG, BUG], [])
    assert examined(lacks, more, everything).failures[0].state.name == "8:none,3=1"


def test_of_as_many_stores_the_programs_own_come_first() -> None:
    library = state("3:none,1=1", MANY[:1], [BUG, BUG], differs=1)
    own = state("9:none,2=1", [BUG], MANY[:2], differs=1)
    assert [failure.state.name for failure in examined(library, own).failures] == ["9:none,2=1", "3:none,1=1"]


def plan(threads: int, orders: list[int], tried: int) -> StatesPlan:
    counts = {"instructions": 9, "threads": threads, "persistent_stores": 2, "orders": orders, "orders_tried": tried}
    return states_plan(program=["p"], model="px86", allowed_by="px86", **counts)


def test_the_verdict_says_which_orders_were_explored() -> None:
    several = plan(2, [0, 1, 4], 8)
    said = "2 threads (the recorded order and 2 others that its synchronisation allows; more orders may exist)"
    assert (
        circumstances(Examined("r", "x86", several, 0, None))
        == f"p: 9 instructions, {said}, 2 stores to persistent memory"
    )
    assert found(several) == "allowed by px86 in 3 orders"
    one = circumstances(Examined("r", "x86", plan(2, [0], 1), 0, None))
    assert "2 threads (only the recorded order; --orders N explores others" in one
    same = circumstances(Examined("r", "x86", plan(2, [0], 8), 0, None))
    assert "2 threads (the recorded order; 7 others tried, none differs)" in same
    single = plan(1, [0], 1)
    assert circumstances(Examined("r", "x86", single, 0, None)).startswith("p: 9 instructions, 1 thread, 2 stores")
    assert found(single) == "allowed by px86"


@pytest.mark.parametrize(
    ("known", "said", "source"),
    [
        ({"allowed_by": "px86", "classes": 2}, "recovers", "allowed by px86"),
        ({"allowed_by": "px86", "classes": 1349}, "no failure in 2 of 1,349 classes", "allowed by px86"),
        ({"runs": 8}, "no failure in 8 runs", "shown by 8 simulated runs"),
        (
            {"allowed_by": "px86", "classes": 2, "runs": 8},
            "recovers",
            "allowed by px86, shown by 8 simulated runs",
        ),
    ],
)
def test_no_failure_is_said_of_what_was_checked(known: dict[str, Any], said: str, source: str) -> None:
    checked = [Verdict(replace(state(f"{number}:all", [], []), represents=True), "") for number in range(2)]
    result = Examined("r", "x86", states_plan(threads=1, **known), 2, checked)
    assert (crash_states.verdict(result), crash_states.found(result.plan)) == (said, source)


def test_the_named_lines_stand_together_with_what_each_did() -> None:
    def line(number: int, text: str | None, **more: Any) -> dict[str, Any]:
        place = {"site": f"append (log.c:{number})", "file": "/src/log.c", "line": number, "text": text, "pc": number}
        return {**place, "in_library": False, "caller": None, "place": "pool+0x40", "times": 1, "why": None, **more}

    flush, drain = line(26, "pmem_flush(entry);"), line(29, "pmem_drain();")
    why = {"reason": "not_yet_fenced", "flush": "a", "fence": "b", "flush_at": flush, "fence_at": drain}
    entry = line(24, "entry->value = value;", why=why)
    in_library = {**store("memcpy", library=True), "caller": entry}
    lacks = [entry, in_library, line(25, None)]
    visit = replace(state("0:all,1=0", [line(27, "log->count++;")], lacks), ends={**drain, "instruction": "sfence"})
    assert named_lines.lines(visit) == [
        "log.c:24  entry->value = value;  lacks",
        "log.c:26  pmem_flush(entry);     flushes",
        "log.c:27  log->count++;          has",
        "log.c:29  pmem_drain();          fences, power fails before",
    ]
    shown = examined(visit)
    remedy = Remedy(Change(({**entry, "bytes": 8},), entry), 1, 3)
    said = explain(shown, groups(shown)[0], ["remedy: x", "again"], remedy=remedy)
    assert "    log.c:24  entry->value = value;  lacks, remedy behind" in said
    drawn = page.page([shown], lambda *_: "again", lambda *_: remedy, "list.strand")
    assert "<td><code>log-&gt;count++;</code></td><td>has</td>" in drawn
    assert "Remedy: persist 8 bytes at entry-&gt;value behind log.c:24; seen to mend the state (3 states" in drawn


def test_what_a_state_lacks_says_why_it_is_not_durable() -> None:
    def line(reason: str, flush: str | None = None, fence: str | None = None) -> str:
        why = {"reason": reason, "flush": flush, "fence": fence}
        return store_lines([{**BUG, "why": why}])[0].removeprefix("append (list.c:31), at pool+0x40: ")

    assert line("never_flushed") == "never flushed"
    early = "flushed in persist (list.c:7) before it was last written, not since"
    assert line("flushed_before", "persist (list.c:7)") == early
    assert line("never_fenced", "persist (list.c:7)") == "flushed in persist (list.c:7), never fenced"
    assert line("not_yet_flushed", "f (a.c:1)") == "not yet flushed: flushed later in f (a.c:1)"
    assert line("nt_never_fenced") == "non-temporal, no fence after it"
    assert all("None" not in line(reason, "f (a.c:1)", "g (a.c:2)") for reason in WHY)


def test_stores_of_one_line_and_one_place_are_told_apart() -> None:
    two = [{**BUG, "module": "list", "offset": offset} for offset in (0x1120, 0x1138)]
    assert store_lines(two) == [
        "append (list.c:31) at list+0x1120, at pool+0x40",
        "append (list.c:31) at list+0x1138, at pool+0x40",
    ]
    assert store_lines(two[:1]) == ["append (list.c:31), at pool+0x40"]


def test_a_store_is_shown_with_the_programs_call_that_led_to_it() -> None:
    call = {"site": "insert (list.c:40)", "pc": 3}
    assert store_lines([{**BUG, "caller": call}]) == [
        "append (list.c:31), called from insert (list.c:40), at pool+0x40"
    ]
    library = store("insert (list.c:40) via memcpy (libpmem.so.1+0x8)", library=True)
    assert store_lines([{**library, "caller": call}]) == [f"{library['site']}, at pool+0x40"]


def test_a_torn_store_of_which_manuals_promise_more_is_told() -> None:
    torn = {"instruction": "cmpxchg16b", "site": "swap (list.c:9)"}
    result = examined(replace(state("7:all,3=1", [BUG], [BUG], differs=1), torn=[torn]))
    lines = explain(result, groups(result)[0], [])
    assert [line.split(":")[0] for line in lines if "torn" in line] == ["  torn  cmpxchg16b in swap (list.c"]


def test_the_page_says_what_of_an_order_is_not_certain() -> None:
    torn = {"instruction": "cmpxchg16b", "site": "swap (list.c:9)"}
    assumed = {"loads": 2, "load": {"site": "take (list.c:12)"}, "store": {"site": "put (list.c:7)"}}
    failing = examined(replace(state("7:all,3=1", [BUG], [BUG], differs=1), torn=[torn]))
    shown = replace(failing, plan=states_plan(assumed=assumed))
    drawn = page.page([shown], lambda *_: "again", lambda *_: None, "list.strand")
    said = "this order is assumed for 2 loads (the first in take (list.c:12), stored in put (list.c:7))"
    assert f"The threads: {said}." in drawn
    assert "torn  cmpxchg16b in swap (list.c:9)" in drawn


def test_an_incomplete_recording_is_never_right() -> None:
    counts = {"states": 2, "intervals": 1, "classes": 1, "model": "px86", "threads": 1, "promises_recovery": True}
    right = [Verdict(state("1:all", [BUG], []), "")]
    result = Examined("list.strand", "x86", states_plan(**counts, incomplete=True), 1, right)
    assert verdicts([result]).rows[0][-2] == "no failure in what was recorded"
    nothing: Any = None
    judged = CrashesOfRecording(Request("list.strand"), [result], None, nothing, nothing)
    assert not judged.recovers
    assert [(each["incomplete"], each["recovers"]) for each in judged.columns().by_row()] == [(True, None)]
    failing = replace(result, verdicts=[Verdict(state("1:all", [BUG], []), "refused")])
    assert verdicts([failing]).rows[0][-2] == "FAILS"
    with pytest.raises(InputError, match="the recording is incomplete"):
        weaken(Means(nothing, 1, nothing), Request("list.strand"), result)


def lacking(name: str, code: list[int], why: str = "refused", end: End = End.REFUSES) -> Verdict:
    interval = int(name.partition(":")[0])
    shown = [store(f"place {pc}") for pc in code]
    visit = StateVisit(
        name, interval, 0, len(code), ["pool"], None, None, [BUG], shown, 99, len(code), lacks_code=code, has_code=[0]
    )
    return Verdict(visit, why, end=end)


def grouped(verdicts: list[Verdict]) -> list[tuple[str, int]]:
    result = Examined("list.strand", "x86", states_plan(model="px86"), len(verdicts), verdicts)
    return [(group.representative.state.name, group.others) for group in groups(result)]


def test_a_common_failure_does_not_hide_a_rare_one() -> None:
    common = [lacking(f"{interval}:all,1=0", [7]) for interval in range(942, 0, -1)]
    rare = lacking("500:all,2=0", [9, 10])
    assert grouped([*common, rare]) == [("1:all,1=0", 941), ("500:all,2=0", 0)]


def test_a_state_that_lacks_more_is_in_the_group_of_one_that_fails_with_less() -> None:
    verdicts = [lacking("4:r1.3", [7, 8, 9]), lacking("5:all,2=0", [8]), lacking("6:all,3=0", [9, 10])]
    assert grouped(verdicts) == [("5:all,2=0", 1), ("6:all,3=0", 0)]


def test_each_kind_of_end_has_a_group() -> None:
    verdicts = [lacking("4:all,2=0", [8]), lacking("5:all,2=0", [8], "killed by signal 11", End.KILLED)]
    assert grouped(verdicts) == [("4:all,2=0", 0), ("5:all,2=0", 0)]


def test_a_simulated_state_that_lacks_nothing_explains_no_other() -> None:
    run = Reached(None, 1, 1, None, (), 0)
    verdicts = [lacking("4:all", []), lacking("5:all,2=0", [8])]
    simulated = [replace(verdict, state=replace(verdict.state, interval=None, run=run)) for verdict in verdicts]
    assert grouped(simulated) == [("4:all", 0), ("5:all,2=0", 0)]


def test_the_number_of_printed_groups_is_bounded_on_the_page_too() -> None:
    verdicts = [lacking(f"{pc}:all,{pc}=0", [pc], f"why {pc}") for pc in range(1, 12)]
    result = Examined("list.strand", "x86", states_plan(model="px86"), len(verdicts), verdicts)
    lines = failure_groups.others(groups(result), lambda verdict: [f"reproduce: again {verdict.state.name}"])
    assert lines[0] == "failure 2 of 11: why 2"
    assert "  reproduce: again 2:all,2=0" in lines
    assert lines[-1] == "3 more kinds of failure in 3 states: --json has all"
    drawn = page.page([result], lambda _, verdict: f"again {verdict.state.name}", lambda *_: None, "list.strand")
    assert (drawn.count("<section>"), "why 8<" in drawn, "why 9<" in drawn) == (8, True, False)
    assert "3 more kinds of failure in 3 states" in drawn
