"""Crash states of a recording, from the command line to the checker and back."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import made_once

from .conftest import Installed

ROOT = Path(__file__).resolve().parents[3]

CHECKER = """
import struct, sys

pool = open(sys.argv[1], "rb").read()
if pool[:4] != b"LIST":
    sys.exit("no list")
(node,) = struct.unpack_from("<Q", pool, 8)
while node:
    following, value = struct.unpack_from("<QQ", pool, node)
    if value != node // 64 or following != node - 64:
        sys.exit(f"node {node // 64} holds {value}")
    node = following
"""


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a list's appends (a recording for each kind of `synthetic`), and a `check.py` of the list."""
    return made_once(tmp_path_factory, "some recordings", make)


def make(folder: Path) -> None:
    """Makes the recordings and the checker."""
    # Built as for `make test`: a single package is built with other features.
    build = ("cargo", "build", "--quiet", "--locked", "--workspace", "--example", "synthetic")
    subprocess.run(build, cwd=ROOT, check=True)
    for kind in ("fenced", "unfenced", "unflushed", "late", "twice"):
        subprocess.run([ROOT / "target/debug/examples/synthetic", kind, "5", folder / f"{kind}.strand"], check=True)
    (folder / "check.py").write_text(CHECKER)


@pytest.fixture
def verify(recordings: Path) -> tuple[str, str]:
    """The option by which `check.py` judges."""
    return "--verify", f"{shlex.quote(sys.executable)} {shlex.quote(str(recordings / 'check.py'))} {{}}"


@pytest.fixture
def checked(installed: Installed, recordings: Path) -> Installed:
    """Checks the recording of a kind."""
    return lambda kind, *options: installed("check", str(recordings / f"{kind}.strand"), *options)


def test_a_list_with_its_fences_recovers_from_every_crash(checked: Installed, verify: tuple[str, str]) -> None:
    done = checked("fenced", "--points", "all", *verify, "--json")
    assert (done.code, done.err) == (0, "")
    (result,) = done.document["results"]
    # Each append: the node's line has two stores, so two new states; then the head one. And the initial pool.
    assert (result["states"], result["points"], result["recovers"]) == (16, 16, True)
    assert done.document["audit"] == []


def test_a_list_without_a_fence_is_broken_and_the_state_comes_again(
    installed: Installed, checked: Installed, verify: tuple[str, str]
) -> None:
    done = checked("unfenced", "--points", "all", *verify, "--json")
    assert done.code == 1
    # For five appends each: the head without the node, and the head with only the node's first store.
    assert len(done.document["failures"]) == 10
    first = done.document["failures"][0]
    assert first["output"] == ["node 1 holds 0"]
    assert first["differs"] == 1
    again = installed(*shlex.split(first["replay"]), "--json")
    assert again.code == 1
    assert [failure["state"] for failure in again.document["failures"]] == [first["state"]]
    said = installed(*shlex.split(first["replay"]))
    assert f"reproduce: strandline {first['replay']}" in said.out
    whys = [store["why"] for store in first["lacks"] if store["site"] == "list+0x1010"]
    told = [(why["reason"], why["flush"], why["fence"]) for why in whys]
    assert told == [("not_yet_fenced", "list+0x1030", "list+0x1040")]
    assert [(why["flush_at"]["site"], why["fence_at"]["site"]) for why in whys] == [told[0][1:]]
    why = "flushed in list+0x1030, not yet fenced: fenced later in list+0x1040"
    assert f"lacks list+0x1010, at my pool+0x48: {why}\n" in said.out


def test_failures_that_lack_the_same_code_are_one_group(checked: Installed, verify: tuple[str, str]) -> None:
    visit = ("unfenced", "--points", "all", *verify)
    done = checked(*visit, "--json")
    (group,) = done.document["groups"]
    # Every failing state lacks the node's value; half of them also its pointer.
    assert (group["kind"], group["side"], group["code"]) == ("refuses", "lacks", [0x401010])
    assert len(group["states"]) == 10
    # The one that differs least lacks the value alone.
    assert group["state"] == "0:all,1=1"
    assert group["needs"]["lacks"][0]["pc"] == 0x401010
    said = checked(*visit).out
    assert "status 1; 9 more states fail so and lack the stores of this code, or more\n" in said
    assert "failure 2 of" not in said


def test_a_representative_of_each_class_is_visited(checked: Installed, verify: tuple[str, str]) -> None:
    visit = ("unfenced", *verify)
    (result,) = checked(*visit, "--points", "all", "--json").document["results"]
    # The first interval and all later ones: each of three contents of a node and two of the head, without the old ones.
    assert (result["classes"], result["visited_classes"]) == (10, 10)
    (result,) = checked(*visit, "--points", "7", "--json").document["results"]
    assert (result["points"], result["visited_classes"]) == (8, 7), "and the initial state"
    assert "7 of 10" in checked(*visit, "--points", "7").out
    (result,) = checked("fenced", *verify, "--points", "3", "--json").document["results"]
    seen = f"{result['visited_classes']} of {result['classes']} classes"
    assert (result["recovers"], result["verdict"]) == (True, f"no failure in {seen}"), "not all was checked"


def test_what_is_never_flushed_is_lost_where_programs_must_flush(checked: Installed, verify: tuple[str, str]) -> None:
    designs = "x86-pcommit,strandweaver,cosplay,sp,eadr,pmem-spec"
    done = checked("unflushed", "-d", designs, *verify, "--max-failures", "1", "--json")
    assert (done.code, done.err) == (1, "")
    said = {result["design"]: (result["verdict"], result["found"]) for result in done.document["results"]}
    both = ("FAILS", "allowed by px86, shown by 8 simulated runs")
    assert said == {**dict.fromkeys(designs.split(",")[:4], both), "eadr": ("recovers", "allowed by eadr")}
    (left_out,) = done.document["left_out"]
    assert left_out.startswith("pmem-spec (interrupts programs")


def test_visible_stores_are_durable_under_eadr(checked: Installed, verify: tuple[str, str]) -> None:
    done = checked("unfenced", "-d", "eadr,x86", "--points", "all", *verify, "--json")
    assert done.code == 1
    assert [result["recovers"] for result in done.document["results"]] == [True, False]


def test_without_order_a_list_with_its_fences_is_broken_and_the_state_comes_again(
    installed: Installed, checked: Installed, verify: tuple[str, str]
) -> None:
    for name in ("fenced", "unfenced"):
        designs = "unordered,non-atomic"
        done = checked(name, "-d", designs, "--points", "all", *verify, "--json")
        assert done.code == 1
        assert [result["recovers"] for result in done.document["results"]] == [False, False]
        assert {result["found"] for result in done.document["results"]} == {"shown by 8 simulated runs"}
        first = done.document["failures"][0]
        # The failing state that is earliest in its run.
        events = [failure["event"] for failure in done.document["failures"] if failure["design"] == first["design"]]
        assert first["event"] == min(events)
        assert first["lacks"]
        again = installed(*shlex.split(first["replay"]), "--json")
        assert again.code == 1
        assert [failure["state"] for failure in again.document["failures"]] == [first["state"]]


def test_a_design_with_order_of_its_own_keeps_that_of_the_fences(checked: Installed, verify: tuple[str, str]) -> None:
    done = checked("fenced", "-d", "x86-pcommit", "--points", "all", *verify, "--json")
    assert (done.code, done.err) == (0, "")
    (result,) = done.document["results"]
    assert (result["recovers"], result["runs"], result["judged"], result["model"]) == (True, 8, 8, "so")
    assert result["points"] == result["states"], "all of them"


def test_a_design_without_persistence_is_told_to_promise_none(checked: Installed) -> None:
    done = checked("fenced", "-d", "volatile")
    assert done.code == 0
    assert "note: volatile promises no recovery\n" in done.out
    assert "shown by 8 simulated runs" in done.out


def test_states_that_runs_show_are_dumped_as_files(checked: Installed, tmp_path: Path) -> None:
    done = checked("fenced", "-d", "x86-pcommit", "--dump", "the states", "--points", "7")
    assert (done.code, done.err) == (0, "")
    names = {pool.parent.name for pool in (tmp_path / "the states").glob("*/my pool")}
    assert len(names) == 9
    assert sum(name.startswith("run") for name in names) == 3, "the other half are states of px86"


def test_states_are_dumped_as_files(checked: Installed, tmp_path: Path) -> None:
    done = checked("unfenced", "--dump", "the states", "--points", "7")
    assert (done.code, done.err) == (0, "")
    pools = sorted((tmp_path / "the states").glob("*/my pool"))
    assert len(pools) == 9
    assert {pool.stat().st_size for pool in pools} == {1 << 20}


def test_without_a_checker_states_are_counted(checked: Installed) -> None:
    done = checked("unfenced")
    assert (done.code, done.err) == (0, "")
    assert "not checked" in done.out


def test_crash_gives_a_recording_to_check(installed: Installed, verify: tuple[str, str], recordings: Path) -> None:
    words = (str(recordings / "unfenced.strand"), "--points", "7", *verify)
    done = installed("crash", *words)
    assert done.code == 1
    assert done == installed("check", *words)


def test_a_damaged_recording_is_refused_in_a_line(installed: Installed, recordings: Path, tmp_path: Path) -> None:
    whole = (recordings / "fenced.strand").read_bytes()
    (tmp_path / "half.strand").write_bytes(whole[: len(whole) // 2])
    for name in ("half.strand", "none.strand"):
        done = installed("check", name)
        assert (done.code, done.out) == (2, "")
        assert name in done.err
        assert done.err.count("\n") == 1


def test_a_note_does_not_advise_the_design_that_runs(checked: Installed) -> None:
    done = checked("twice", "-d", "x86")
    assert (done.code, done.err) == (0, "")
    assert "mapped at two addresses, which simulated runs do not support\n" in done.out
    assert "choose a design" not in done.out
    other = checked("twice", "-d", "unordered")
    assert (other.code, other.out) == (2, "")
    assert "choose a design with model px86" in other.err


def test_the_page_of_a_failure_says_why_a_store_is_missing(
    checked: Installed, verify: tuple[str, str], tmp_path: Path
) -> None:
    done = checked("unfenced", *verify, "--html", "case.html")
    assert done.code == 1
    page = (tmp_path / "case.html").read_text(encoding="utf-8")
    assert "flushed in list+0x1030, not yet fenced: fenced later in list+0x1040" in page


def test_a_fence_of_the_exit_does_not_hide_that_the_program_has_none(checked: Installed) -> None:
    done = checked("late", "--json")
    assert done.code == 1
    found = {(entry["finding"], entry["site"], entry["kind"]) for entry in done.document["audit"]}
    assert found == {("flushed_fenced_only_at_exit", "list+0x1030", "correctness")}
    assert "flushed, fenced only by the end of the program" in checked("late").out


def test_an_audit_with_findings_of_correctness_exits_with_1(checked: Installed) -> None:
    done = checked("unflushed")
    assert (done.code, done.err) == (1, "")
    assert "the audit fails at 2 places: mend the findings of correctness, or --suppress them" in done.out
    assert checked("unflushed", "--fail-on", "none").code == 0
    assert checked("unflushed", "--fail-on", "performance").code == 0
    assert checked("unflushed", "--verify", "true").code == 0, "the checker judges"
    assert checked("unflushed", "--verify", "true", "--fail-on", "all").code == 1


def test_suppressed_findings_do_not_fail(checked: Installed, tmp_path: Path) -> None:
    accepted = '[[suppress]]\nplace = "list+0x10?0"\nfinding = "stored_never_flushed"\nreason = "rebuilt"\n'
    (tmp_path / "known.toml").write_text(accepted + '[[suppress]]\nfunction = "gone"\nreason = "was mended"\n')
    visit = ("unflushed", "--suppress", "known.toml")
    done = checked(*visit)
    assert (done.code, done.err) == (0, "")
    assert "suppressed: 2 places by known.toml" in done.out
    assert 'warning: known.toml: function = "gone" matches no finding: remove it' in done.out
    document = checked(*visit, "--json").document
    assert document["audit_passes"] is True
    assert [entry["suppressed"] for entry in document["audit"]] == [{"by": "known.toml", "reason": "rebuilt"}] * 2


def test_shipped_suppressions_accept_what_libpmemobj_keeps_in_its_pool(installed: Installed) -> None:
    recording = str(ROOT / "recordings/pmdk-queue.strand")
    assert installed("check", recording).code == 1
    done = installed("check", recording, "--suppress", "libpmemobj")
    assert done.code == 0
    assert "suppressed: 1 place by libpmemobj" in done.out


BAD_SUPPRESSIONS = {
    '[[suppress]]\nfunction = "f"\n': "reason",
    '[[suppress]]\nfunction = "f"\nreason = " "\n': "reason: is empty",
    '[[suppress]]\nreason = "r"\n': "has no place",
    '[[suppress]]\nmodule = "m"\nreason = "r"\nfinding = "stored_never_flush"\n': "mean `stored_never_flushed`",
    '[[suppress]]\nfunctio = "f"\nreason = "r"\n': "functio",
    "suppress = 3\n": "suppress",
    "": "suppress",
    "[[": "not TOML",
}


@pytest.mark.parametrize("text", BAD_SUPPRESSIONS)
def test_a_bad_file_of_suppressions_is_refused_in_a_line(checked: Installed, tmp_path: Path, text: str) -> None:
    (tmp_path / "known.toml").write_text(text)
    done = checked("fenced", "--suppress", "known.toml")
    assert (done.code, done.out) == (2, "")
    assert "known.toml" in done.err
    assert BAD_SUPPRESSIONS[text] in done.err
    assert done.err.count("\n") == 1


BAD = {
    "--suppress none.toml": "neither a file nor one of libpmemobj, malloc, pthread",
    "-d unordered --replay 7:all": "such as run3:412",
    "-d unordered --replay run9:1": "only the runs 0 to 7",
    "-d unordered --replay run0:999": "only",
    "-d none": "none",
    "--replay 1": "no crash state",
    "--replay 99:all --verify true": "no crash state `99:all`",
    "--verify false": "accepts a finished run",
    "--hosts threads": "has one thread",
    "--hosts processes": "'threads'",
    "--hosts threads -d eadr": "leave -d out",
    "--hosts threads --weaken": "excludes --weaken",
    "--hosts threads --replay 1:all": "needs --fails",
    "--fails h1": "needs --hosts",
    "--hosts threads --fails one": "not a whole number",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_input_is_refused_in_a_line(checked: Installed, options: str) -> None:
    done = checked("fenced", *options.split())
    assert (done.code, done.out) == (2, "")
    assert BAD[options] in done.err
    assert done.err.count("\n") == 1


def test_json_is_one_document(checked: Installed) -> None:
    done = checked("unfenced", "--json")
    origin = {"version", "commit", "command", "interrupted"}
    audit = {"audit", "fail_on", "audit_passes", "unused_suppressions"}
    assert set(json.loads(done.out)) == origin | audit | {"failures", "groups", "results", "records", "weakest"}


def test_enough_failures_end_the_visit(checked: Installed, verify: tuple[str, str]) -> None:
    visit = ("unfenced", "--points", "all", *verify)
    done = checked(*visit, "--max-failures", "2", "--json")
    assert done.code == 1
    assert len(done.document["failures"]) == 2
    (result,) = done.document["results"]
    assert (result["complete"], result["early"], result["recovers"]) == (False, "enough failures", False)
    assert "not all states were checked: enough failures" in checked(*visit, "--max-failures", "2").out


def test_a_checker_that_hangs_is_told_apart_and_asked_no_more(checked: Installed, verify: tuple[str, str]) -> None:
    hanging = f"{verify[1]} || sleep 60 #"
    visit = ("unfenced", "--points", "all", "--verify", hanging, "--time-limit", "2")
    done = checked(*visit, "--jobs", "1", "--json")
    assert done.code == 1
    assert [failure["hung"] for failure in done.document["failures"]] == [True] * 3
    assert done.document["results"][0]["early"] == "the checker hangs"


def test_the_report_of_a_recording_says_how_it_was_made(checked: Installed) -> None:
    done = checked("fenced", "--points", "5", "--json")
    (result,) = done.document["results"]
    assert done.document["command"].startswith("strandline check ")
    assert done.document["version"]
    assert done.document["commit"]
    spec = result["spec"]
    assert (spec["design"], spec["points"], spec["seed"], spec["replay"]) == ("x86", 5, 1, None)
    assert spec["parameters"]["machine.core.rob_entries"]
    assert spec["checksum"].startswith("xxh3:")
