"""`strandline setup-recorder`, with a `cargo` of the tests' own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NoReturn

import pytest

from conftest import Strandline
from strandline import recorder_needs, recorder_setup
from strandline.cli.app import App
from strandline.cli.main import execute
from strandline.recorder import HEAP, LAUNCHER

CARGO = """#!/bin/sh
echo "cargo $*" >&2
build=../target/recorder/release/build/dynamorio-sys-1/out/build
mkdir -p "$build/lib64/release" "$build/ext/lib64/release"
cp client/code ../target/recorder/release/libstrandline_client.so
touch ../target/recorder/release/strandline-launch "$build/lib64/release/libdynamorio.so"
for each in drmgr drreg drutil; do touch "$build/ext/lib64/release/lib$each.so"; done
"""
CC = """#!/bin/sh
case $2 in -x) exit 0;; esac
while [ "$1" != -o ]; do shift; done
cp "$3" "$2"
"""
SOURCES = {
    "recorder/Cargo.toml": "",
    "recorder/client/code": "one",
    "recorder/heap/heap.c": "heap",
    "crates/capture/code": "two",
}
BEGINS = "strandline: building the recorder of "


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources of a recorder; what they need is there."""
    folder = tmp_path / "sources of strandline"
    for name, text in SOURCES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(recorder_setup, "missing", lambda: None)
    monkeypatch.setenv("STRANDLINE_RECORDER", str(tmp_path / "environment" / "recorder"))
    return folder


@pytest.fixture
def cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cargo that makes what the real one makes."""
    program = tmp_path / "bin" / "cargo"
    program.parent.mkdir()
    for name, text in {"cargo": CARGO, "compiler": CC}.items():
        (program.parent / name).write_text(text)
        (program.parent / name).chmod(0o755)
    monkeypatch.setenv("CC", str(program.parent / "compiler"))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the recorder is installed."""
    return tmp_path / "environment" / "recorder"


@pytest.mark.usefixtures("cargo")
def test_the_recorder_is_built_once_from_the_same_sources(strandline: Strandline, source: Path, place: Path) -> None:
    first = strandline("setup-recorder", "--source", str(source))
    assert (first.code, first.out) == (0, f"the recorder is built: {place}\n")
    said, called, *_ = first.err.splitlines()
    assert said.startswith(f"{BEGINS}{source}: about ")
    assert re.search(r"about \d+ minutes .*\(needs cargo, cmake, .*libclang\)", said)
    assert called == "cargo build --release --locked"
    assert sorted(path.name for path in place.iterdir() if path.suffix == ".so") == [
        *("libdrmgr.so", "libdrreg.so", "libdrutil.so", "libdynamorio.so"),
        *("libstrandline_client.so", "libstrandline_heap.so"),
    ]
    assert (place / HEAP).read_text() == "heap"
    assert (place / LAUNCHER).is_file()
    again = strandline("setup-recorder", "--source", str(source), "--json")
    assert (again.code, again.err) == (0, "")
    assert again.document == {"recorder": str(place), "source": str(source), "built": False}


@pytest.mark.usefixtures("cargo")
@pytest.mark.parametrize(
    ("changed", "built"),
    [
        ("recorder/client/code", True),
        ("recorder/heap/heap.c", True),
        ("crates/capture/code", True),
        ("recorder/tests/t", False),
    ],
)
def test_it_is_built_anew_if_its_sources_have_changed(
    strandline: Strandline, source: Path, place: Path, changed: str, built: bool
) -> None:
    strandline("setup-recorder", "--source", str(source))
    (source / changed).parent.mkdir(exist_ok=True)
    (source / changed).write_text("three")
    assert strandline("setup-recorder", "--source", str(source), "--json").document["built"] is built
    assert (place / "libstrandline_client.so").read_text() == (source / "recorder/client/code").read_text()
    assert [path.name for path in place.parent.iterdir()] == [place.name], "nothing is left beside it"


def test_what_is_missing_is_said_in_a_line_before_anything_is_built(
    strandline: Strandline, source: Path, cargo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_setup, "missing", recorder_needs.missing)
    monkeypatch.setenv("PATH", str(source))
    lack = "strandline: the recorder cannot be built: "
    assert (
        strandline("setup-recorder", "--source", str(source)).refusal
        == f"{lack}cargo not found: install Rust 1.85 or newer from https://rustup.rs and try again\n"
    )
    monkeypatch.setenv("PATH", str(cargo.parent))
    answer = strandline("setup-recorder", "--source", str(source))
    assert answer.err.startswith(f"{lack}cmake not found: run 'sudo apt-get install cmake make ")
    for name in ("cmake", "make"):
        (cargo.parent / name).symlink_to("/bin/true")
    monkeypatch.setenv("CC", "/bin/false")
    answer = strandline("setup-recorder", "--source", str(source))
    assert answer.err.startswith(f"{lack}/bin/false compiles no C program that includes a standard header: run 'sudo")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    # A compiler that takes every program but one with zlib's header.
    (cargo.parent / "compiler").write_text(
        "#!/bin/sh\nwhile read -r line; do case $line in *zlib*) exit 1;; esac; done\n"
    )
    for variable in ("CC", "CXX"):
        monkeypatch.setenv(variable, str(cargo.parent / "compiler"))
    answer = strandline("setup-recorder", "--source", str(source))
    assert answer.err.startswith(f"{lack}zlib.h not found: run 'sudo apt-get install cmake make ")
    assert not (source / "target").exists()


def test_a_build_that_fails_keeps_the_recorder(strandline: Strandline, source: Path, cargo: Path, place: Path) -> None:
    strandline("setup-recorder", "--source", str(source))
    (source / "recorder/client/code").write_text("wrong")
    cargo.write_text("#!/bin/sh\necho cannot >&2\nexit 101\n")
    answer = strandline("setup-recorder", "--source", str(source))
    assert answer.code == 2
    assert answer.err.splitlines()[1:] == [
        "cannot",
        "strandline: the recorder was not built: cargo ended with status 101: its messages are above",
    ]
    assert (place / "libstrandline_client.so").read_text() == "one"


def test_a_heap_library_that_does_not_compile_keeps_the_recorder(
    strandline: Strandline, source: Path, cargo: Path, place: Path
) -> None:
    strandline("setup-recorder", "--source", str(source))
    (source / "recorder/client/code").write_text("another")
    (cargo.parent / "compiler").write_text("#!/bin/sh\nexit 1\n")
    answer = strandline("setup-recorder", "--source", str(source))
    assert answer.code == 2
    assert answer.err.endswith(f"compiler does not compile {source / 'recorder/heap/heap.c'}\n")
    assert (place / "libstrandline_client.so").read_text() == "one"


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_an_interrupted_build_says_that_it_goes_on_where_it_was(
    strandline: Strandline, source: Path, cargo: Path, place: Path, signal: str
) -> None:
    strandline("setup-recorder", "--source", str(source))
    (source / "recorder/client/code").write_text("another")
    cargo.write_text(f"#!/bin/sh\nkill -{signal} $PPID\nexec sleep 600\n")
    answer = strandline("setup-recorder", "--source", str(source))
    assert answer.code == 130
    assert answer.err.splitlines()[1:] == [
        "strandline: interrupted: what is compiled is kept, and so is an older recorder: repeat the command to continue"
    ]
    assert (place / "libstrandline_client.so").read_text() == "one"


def test_an_installation_without_sources_says_where_to_get_them(
    strandline: Strandline, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_setup, "__file__", str(tmp_path / "site-packages/strandline/recorder_setup.py"))
    answer = strandline("setup-recorder")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert answer.err.startswith("strandline: this installation has no sources of the recorder: name strandline's ")
    answer = strandline("setup-recorder", "--source", str(source / "recorder"))
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "has no file recorder/Cargo.toml: name the root of strandline's sources" in answer.err


def test_the_default_is_the_checkout() -> None:
    assert recorder_setup.sources(None) == Path(__file__).parents[2]


@pytest.mark.usefixtures("cargo")
def test_a_place_that_cannot_be_written_is_named(
    strandline: Strandline, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STRANDLINE_RECORDER", str(tmp_path / "file" / "recorder"))
    answer = strandline("setup-recorder", "--source", str(source))
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith(f"strandline: {tmp_path / 'file' / 'recorder'}: cannot be written: ")


@pytest.mark.usefixtures("cargo")
def test_what_cmake_made_at_another_place_is_made_anew(strandline: Strandline, source: Path) -> None:
    made = source / "target/recorder/release/build/dynamorio-sys-1/out/build"
    made.mkdir(parents=True)
    for where, kept in ((made, True), (source / "elsewhere", False)):
        (made / "CMakeCache.txt").write_text(f"A:B=C\nCMAKE_CACHEFILE_DIR:INTERNAL={where}\n")
        (source / "recorder/client/code").write_text(str(where))
        assert strandline("setup-recorder", "--source", str(source)).code == 0
        assert (made / "CMakeCache.txt").exists() is kept


@pytest.mark.usefixtures("cargo")
def test_the_script_of_a_source_distribution_becomes_executable(strandline: Strandline, source: Path) -> None:
    script = source / "recorder" / "cmake.sh"
    script.touch(mode=0o644)
    assert strandline("setup-recorder", "--source", str(source)).code == 0
    assert os.access(script, os.X_OK)


def test_another_processor_is_refused(strandline: Strandline, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    answer = strandline("setup-recorder", "--source", str(source))
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "aarch64: it records programs of Linux on x86-64" in answer.err


def test_libclang_cpp_is_no_libclang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBCLANG_PATH", str(tmp_path))
    (tmp_path / "libclang-cpp.so.14").touch()
    assert list(recorder_needs.libclangs()) == []
    (tmp_path / "libclang-14.so.1").touch()
    assert list(recorder_needs.libclangs()) == [tmp_path / "libclang-14.so.1"]
    assert not recorder_needs.parses(tmp_path / "libclang-14.so.1"), "it is no library at all"


def test_the_command_needs_no_compiled_module(capfd: pytest.CaptureFixture[str]) -> None:
    def missing_module() -> NoReturn:
        raise AssertionError("`make recorder` may come before `make setup`")

    assert execute(["setup-recorder", "--source", "nowhere"], App(missing_module, missing_module)) == 2
    assert "--source nowhere: has no file recorder/Cargo.toml" in capfd.readouterr().err
