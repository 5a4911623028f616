"""`strandline places`, and what a flush on fail takes."""

import pytest

from strandline.engine import load

from .conftest import Installed


def test_places(installed: Installed) -> None:
    answer = installed("places", "-d", "bbb", "-m", "asap", "--cores", "32")
    assert (answer.code, answer.err) == (0, "")
    heading, _, head, _, *rows = answer.out.splitlines()
    assert heading == "bbb on asap, 32 cores: a store is durable as soon as it is visible."
    assert head.split() == ["place", "bytes", "power", "why"]
    # ASAP VI-D: 64 KiB of buffers for 32 cores.
    by_name = {row[:15].strip(): row[15:].split() for row in rows}
    assert by_name["persist buffers"][:2] == ["65.5k", "flushed"]
    assert (by_name["LLC"][1], by_name["media"][1]) == ("lost", "survives")


def test_reserve_power_that_ends(installed: Installed) -> None:
    arguments = ("places", "-d", "eadr,bbb", "--set", "machine.fail.hold_up=1ms")
    out = installed(*arguments).out
    assert "dirty that fits" not in installed(*arguments[:3]).out
    # Eadr's caches do not fit in a millisecond, the buffers of bbb do.
    rows = {line.split()[0]: line.split() for line in out.splitlines() if "%  " in line}
    assert (rows["eadr"][5], rows["bbb"][5]) == ("dirty", "clean")
    flush = {each["design"]: each["flush"] for each in installed(*arguments, "--json").document["survival"]}
    fits, lost = flush["eadr"]["dirty_in_time"], flush["eadr"]["lost"]
    assert 0 < fits < flush["eadr"]["dirty"]
    assert lost == sum(part[2] for part in flush["eadr"]["parts"]) > 0
    # What fits loses nothing: asked again with so much.
    again = installed(*arguments, "--set", f"machine.fail.dirty={fits}", "--json").document["survival"][0]["flush"]
    assert (again["lost"], again["is_dirty"]) == (0, False)


def test_designs_that_a_machine_cannot_hold_are_left_out_of_all(installed: Installed) -> None:
    assert "eadr, bbb" in " ".join(installed("places", "-d", "all", "-m", "dpo").out.split())
    refused = installed("places", "-d", "eadr", "-m", "dpo")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "needs ADR" in refused.err


@pytest.mark.parametrize("design", ["x86", "hops-rp", "strandweaver", "lb-pp", "dpo", "sp"])
def test_designs_without_a_saved_buffer_write_the_queues_alone(design: str) -> None:
    asked = {"machine": "common", "cores": 8, "set": ()}
    parts = load().surviving(design, asked)["flush"]["parts"]
    assert [name for name, _, _ in parts] == ["write queues"]


def test_a_failing_case_says_whether_the_next_start_is_told(installed: Installed) -> None:
    program = ("crash", "sps", "-d", "eadr,non-atomic", "--tasks", "20", "--points", "20")
    out = installed(*program, "--set", "machine.fail.hold_up=1us").out
    # Reserve power of eadr ends; non-atomic has nothing of its own saved, and loses for want of order.
    eadr, _, non_atomic = out.partition("\nnon-atomic: ")
    assert "dirty shutdown: reserve power ends before " in eadr
    assert "clean shutdown: " in non_atomic
    assert "shutdown" not in installed(*program[:3], "non-atomic", *program[4:]).out
