"""Crashes inside recovery, without the recorder and the native module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from made import states_of, states_plan, visit
from strandline.checking import images
from strandline.checking.examined import Examined
from strandline.checking.groups import groups
from strandline.checking.in_order import Early
from strandline.checking.inside import Exploration, Explorer, Inside, choose, shares
from strandline.checking.processes import Processes
from strandline.checking.recovering import AFTER, INSIDE, Crasher, Overlay, Recorded, program_of
from strandline.checking.verdicts import Checker, End, Recovery, Verdict
from strandline.checking.verify import Checked, verify
from strandline.engine import PoolFile, StatesSpec, StateVisit
from strandline.errors import InputError
from strandline.views import crash_states, recovered

RECOVER = "sed -i s/dirty/clean/"
"""A recovery that a shell starts here; it runs before the checker."""
CHECK = "grep -q clean"


@dataclass(frozen=True)
class FakeCrasher(Crasher):
    """Recoveries whose crash states are listed, by the content of what they recover."""

    inside: dict[str, list[str]] = field(default_factory=dict)
    asked: list[tuple[str, int | str]] = field(default_factory=list)

    def record(self, state: StateVisit, folder: Path) -> Recorded | None:
        text = Path(state.files[0]).read_text()
        if text == "unrecorded":
            return None
        return Recorded(state, folder, len(self.inside.get(text, [])), (f"warned of {text}",))

    def states(self, recorded: Recorded, points: int | str, only: str | None = None) -> Iterator[StateVisit]:
        assert only is None
        outer = recorded.state
        text = Path(outer.files[0]).read_text()
        self.asked.append((outer.name, points))
        for number, content in enumerate(self.inside[text]):
            folder = recorded.folder / f"{len(self.asked)}"
            yield visit(f"{outer.name}/r:{number}:all", folder, content, outer.name)


def explore(
    tmp_path: Path, contents: list[str], inside: dict[str, list[str]], points: int = 100, depth: int = 1, jobs: int = 2
) -> tuple[list[Verdict], Inside, list[tuple[str, int | str]]]:
    """What is found inside the recoveries of states, and which recoveries were crashed with how many points."""
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    checker = Checker(CHECK, 60, Recovery(("sed", "-i", "s/dirty/clean/")), True)
    checked = verify(states_of(contents), checker, tmp_path / "first", 1, lambda: None)
    with Processes() as processes:
        spec = StatesSpec("r.strand", points=points)
        crasher = FakeCrasher(None, checker.recovery, spec, 60, processes, inside=inside)  # type: ignore[arg-type]
        exploration = Exploration(Explorer(crasher, checker, tmp_path / "second", depth), checked.verdicts, None)
        exploration.run(states_of(contents), jobs, lambda: None)
    assert list((tmp_path / "second").iterdir()) == [], "nothing is left"
    return exploration.verdicts, exploration.inside, crasher.asked


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_state_inside_recovery_is_named_after_both(tmp_path: Path, jobs: int) -> None:
    inside = {"dirty 2": ["dirty 3", "broken", "clean"], "dirty 3": ["broken", "lost"]}
    contents = ["clean 0", "clean 1", "dirty 2", "dirty 3"]
    verdicts, found, _ = explore(tmp_path, contents, inside, jobs=jobs)
    failing = [(verdict.state.name, verdict.why) for verdict in verdicts if verdict.why]
    why = "the checker exited with status 1"
    # The second `broken` recovers as the first did.
    assert failing == [("2:all/r:1:all", why), ("3:all/r:1:all", why)]
    assert (found.recorded, found.wrote_nothing, found.states, found.repeated) == (4, 2, 3, 2)
    assert found.warnings == ["warned of clean 0", "warned of clean 1", "warned of dirty 2", "warned of dirty 3"]


def test_an_equal_image_is_recorded_once_and_a_failing_one_never(tmp_path: Path) -> None:
    contents = ["clean", "clean", "dirty", "dirty", "broken"]
    _, found, asked = explore(tmp_path, contents, {"dirty": ["dirty"], "clean": ["clean"]})
    # What was acknowledged is the same everywhere here.
    assert [name for name, _ in asked] == ["initial", "2:all"]
    assert (found.recorded, found.states, found.repeated) == (2, 0, 2)


def test_depth_interrupts_the_recovery_of_a_state_inside_recovery(tmp_path: Path) -> None:
    inside = {"dirty 2": ["dirty 3"], "dirty 3": ["dirty 4"], "dirty 4": ["broken"]}
    for depth, names in enumerate(
        [
            ["2:all/r:0:all"],
            ["2:all/r:0:all", "2:all/r:0:all/r:0:all"],
            ["2:all/r:0:all", "2:all/r:0:all/r:0:all", "2:all/r:0:all/r:0:all/r:0:all"],
        ],
        1,
    ):
        folder = tmp_path / str(depth)
        folder.mkdir()
        verdicts, found, _ = explore(folder, ["clean", "clean", "dirty 2"], inside, depth=depth)
        assert [verdict.state.name for verdict in verdicts] == names
        assert (found.depth, found.recorded) == (depth, depth + 1)
        assert bool(verdicts[-1].why) == (depth == 3)


def test_points_are_shared_and_what_they_do_not_reach_is_counted(tmp_path: Path) -> None:
    assert [shares(1000, 10), shares(1000, 500), shares(5, 3), shares("all", 7), shares(16, 0)] == [
        (10, 100),
        (125, 8),
        (1, 5),
        (7, "all"),
        (0, 16),
    ]
    contents = ["clean 0", "clean 1", *(f"dirty {number}" for number in range(9))]
    inside = {text: ["clean"] for text in contents}
    _, found, asked = explore(tmp_path, contents, inside, points=33, jobs=1)
    assert asked == [("initial", 8), ("final", 8), ("2:all", 8), ("3:all", 8)]
    assert (found.recorded, found.left_out) == (4, 7)


def test_a_recovery_that_does_not_end_well_while_recorded_is_counted(tmp_path: Path) -> None:
    verdict = Verdict(visit("2:all", tmp_path / "states", "unrecorded"), "", image="x")
    with Processes() as processes:
        checker = Checker("true", 60, Recovery(("true",)))
        crasher = FakeCrasher(None, checker.recovery, StatesSpec("r"), 60, processes)  # type: ignore[arg-type]
        explorer = Explorer(crasher, checker, tmp_path, 1)
        found = explorer.crash(verdict.state, 8, 1, frozenset())
    assert (found.verdicts, found.inside.unrecorded, found.inside.recorded) == ([], 1, 0)


def test_what_an_early_end_killed_says_nothing_of_equal_images(tmp_path: Path) -> None:
    state, inside = visit("2:all", tmp_path / "states", "dirty"), {"dirty": ["clean"]}
    for stops, known in ((False, 1), (True, 0)):
        with Processes() as processes:
            if stops:
                processes.stop()
            checker = Checker(CHECK, 60, Recovery(("true",)))
            crasher = FakeCrasher(None, checker.recovery, StatesSpec("r"), 60, processes, inside=inside)  # type: ignore[arg-type]
            explorer = Explorer(crasher, checker, tmp_path, 1)
            explorer.crash(state, 8, 1, frozenset())
        assert len(explorer.known) == known


def test_states_of_a_recovery_are_not_recorded_twice() -> None:
    states = [visit_in(name) for name in ("a", "b", "c", "d")]
    verdicts = [Verdict(state, "", image=image) for state, image in zip(states, "xxyz", strict=True)]
    chosen, share = choose([*verdicts, Verdict(states[0], "fails", image="w")], 80, {"z"})
    assert (set(chosen.names), set(chosen.images)) == ({"a", "c"}, {"x", "y"})
    assert (chosen.left_out, share) == (0, 40)


def visit_in(name: str, **more: Any) -> StateVisit:
    return StateVisit(name, 0, files=["pool"], has_stores=1, **more)


ENDS = {
    "exit 3": (End.RECOVERY_FAILS, "recovery exited with status 3", False),
    "kill -SEGV $$": (End.RECOVERY_FAILS, "recovery was killed by signal 11 (SIGSEGV)", False),
    "sleep 60": (End.RECOVERY_TIMED_OUT, "recovery did not end within 2 s", True),
}


@pytest.mark.parametrize("command", ENDS)
def test_a_recovery_that_fails_is_told_from_a_checker_that_refuses(tmp_path: Path, command: str) -> None:
    program = f'echo told; grep -q good "$0" || {{ {command}; }}'
    checker = Checker("grep -q good", 2, Recovery(("/bin/sh", "-c", program)))
    found = verify(states_of(["good", "good", "bad"]), checker, tmp_path, 1, lambda: None)
    verdict = found.verdicts[2]
    assert (verdict.end, verdict.why, verdict.hung) == ENDS[command]
    assert verdict.output == ("told",)


def test_a_recovery_that_fails_on_a_finished_run_is_bad_input(tmp_path: Path) -> None:
    checker = Checker("true", 60, Recovery(("/bin/false",)))
    with pytest.raises(
        InputError, match=r"^--recover: the command fails on the pool before the program and .* status 1"
    ):
        verify(states_of(["good", "good"]), checker, tmp_path, 1, lambda: None)


def test_the_recovery_is_a_program_with_its_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "strandline-launch").touch()
    monkeypatch.setenv("STRANDLINE_RECORDER", str(tmp_path))
    monkeypatch.chdir("/usr/bin")
    recovery = program_of("./sh -c 'a b' --pool={}", INSIDE)
    assert recovery.of(Path("/my pool")) == ["/usr/bin/sh", "-c", "a b", "--pool=/my pool"]
    assert program_of("sh x", AFTER).of(Path("/p"))[1:] == ["x", "/p"]


def test_the_verdict_says_what_was_crashed_inside_recovery() -> None:
    def said(**numbers: Any) -> list[str]:
        return recovered.lines(Examined("r", "x86", states_plan(), 1, [], inside=(Inside(**numbers),)))

    assert recovered.lines(Examined("r", "x86", states_plan(), 1, [])) == []
    assert said(depth=2, recorded=5, wrote_nothing=2, states=31, repeated=7) == [
        "x86: 5 recoveries recorded (2 wrote nothing), 31 states inside recovery checked to depth 2, "
        "7 more are equal to others"
    ]
    assert said(depth=1, recorded=1, states=1, left_out=3, unrecorded=1, warnings=["write"])[1:] == [
        "note: 3 recoveries of right states left out: raise --points to record more",
        "note: 1 recovery did not end well under the recorder, and was not crashed",
        "note: recovery: write",
    ]
    assert said(depth=1, recorded=2, wrote_nothing=2)[1] == (
        "note: no recovery stored to the pool: does --recover name it by {}?"
    )
    assert said(depth=1, recorded=1, wrote_nothing=1, left_out=2, after=True) == [
        "x86: 1 next operation recorded (1 wrote nothing), 0 states after recovery checked",
        "note: 2 next operations of right states left out: raise --points to record more",
        "note: no next operation stored to the pool: does --then name it by {}?",
    ]


def test_a_failure_inside_recovery_says_so_and_has_a_group_of_its_own() -> None:
    why = "the checker exited with status 1"
    outer = Verdict(visit_in("2:all", lacks_stores=1), why, end=End.REFUSES)
    inner = Verdict(replace(outer.state, name="2:all/r:2:all", within="2:all"), why, end=End.REFUSES)
    result = Examined("r", "x86", states_plan(), 2, [outer, inner])
    assert [len(group.verdicts) for group in groups(result)] == [1, 1]
    later = replace(inner, state=replace(inner.state, name="2:all/t:2:all"))
    assert len(groups(replace(result, verdicts=[outer, inner, later]))) == 3, (
        "after recovery is another place than in it"
    )
    assert crash_states.place(inner.state).startswith("in the recovery of state 2:all, before any store")
    after = replace(inner.state, name="2:all/r:final", interval=None)
    assert crash_states.place(after) == "in the recovery of state 2:all, after its end, with all its stores"


def test_an_early_end_of_the_first_states_stays(tmp_path: Path) -> None:
    checker = Checker("grep -q good", 60, Recovery(("/bin/true",)))
    found = verify(states_of(["good", "good", "bad", "bad"]), checker, tmp_path, 1, lambda: None, 1)
    assert isinstance(found, Checked)
    assert found.early is Early.FAILURES


def test_what_recovery_did_not_map_stays(tmp_path: Path) -> None:
    outer = visit("2:all", tmp_path / "outer", "a" * 5000 + "tail")
    before, raw = tmp_path / "before", tmp_path / "raw"
    for folder, text in ((before, b"a" * 4096), (raw, b"a" * 10 + b"\0b" + b"a" * 4084)):
        folder.mkdir()
        (folder / "pool.2").write_bytes(text)
    (raw / "new.2").write_text("made")
    recorded = Recorded(outer, tmp_path, 1, ())
    files = [
        PoolFile("pool.2", str(tmp_path / "pool" / "my pool"), 4096),
        PoolFile("new.2", str(tmp_path / "pool" / "new"), 4),
        PoolFile("elsewhere", "/dev/shm/elsewhere", 4),  # noqa: S108 - it is not opened
    ]
    overlay = Overlay.of(recorded, INSIDE, files, before)
    put = overlay.put(visit_in("1:all"), raw)
    assert (put.name, put.within, put.tasks_done) == ("2:all/r:1:all", "2:all", (1,))
    assert Path(put.files[0]).read_bytes() == b"a" * 10 + b"\0b" + b"a" * (5000 - 12) + b"tail"
    assert (tmp_path / "state" / "new").read_text() == "made"
    overlay.clear()
    assert not Path(put.files[0]).exists()


def test_images_are_told_by_contents_and_by_what_was_acknowledged(tmp_path: Path) -> None:
    one, other = (visit(name, tmp_path, "text") for name in ("1:all", "2:all"))
    assert images.key(one) == images.key(other)
    assert images.key(replace(one, tasks_done=[2])) != images.key(one)
    Path(other.files[0]).write_text("texu")
    assert images.key(one) != images.key(other)


def test_a_copy_keeps_holes_and_a_patch_lengthens(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(1 << 20)
        file.write(b"here")
    images.copy(source, target)
    assert target.stat().st_size == 1 << 30
    assert target.stat().st_blocks < 100
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_bytes(b"ab")
    after.write_bytes(b"ax" + b"\0" * 5000 + b"y")
    target.write_bytes(b"qbq")
    images.patch(target, before, after)
    assert target.read_bytes() == b"qxq" + b"\0" * 4999 + b"y"
