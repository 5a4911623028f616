"""Builds the recorder from its sources, and installs it where `strandline record` looks for it."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from strandline.errors import InputError, InterruptError
from strandline.interrupts import terminated_as_interrupted
from strandline.recorder import HEAP, LAUNCHER, OVERRIDE, home
from strandline.recorder_needs import missing

NEEDS = "cargo, cmake, make, C and C++ compilers, zlib and libclang"
TAKES = "about 3 minutes of processor time, and a part of it if it was built here before"

BUILT_FROM = "built-from"
"""The file beside an installed recorder that has the digest of its sources."""

SOURCES = ("recorder", "crates/capture")
"""Folders that the recorder is built from."""
CMAKE = Path("recorder") / "cmake.sh"
HEAP_SOURCE = "recorder/heap/heap.c"
HEAP_FLAGS = (
    *("-O2", "-Wall", "-Wextra", "-fPIC", "-shared"),
    *("-fvisibility=hidden", "-ftls-model=initial-exec", "-fno-builtin-malloc"),
)
BUILD = ("cargo", "build", "--release", "--locked")
PRODUCTS = Path("target") / "recorder" / "release"
EXTENSIONS = ("drmgr", "drreg", "drutil")
DYNAMORIO = ("lib64/release/libdynamorio.so", *(f"ext/lib64/release/lib{name}.so" for name in EXTENSIONS))
DYNAMORIO_BUILDS = "build/dynamorio-sys-*/out/build"
OWN = ("libstrandline_client.so", LAUNCHER)


@dataclass(frozen=True)
class Setup:
    """What has become of the recorder."""

    recorder: str
    """The recorder's folder."""
    source: str
    """The folder that has its sources."""
    built: bool
    """Whether it was built; otherwise it was there already, built from these sources."""


def set_up(named: Path | None, say: Callable[[str], None]) -> Setup:
    """Builds and installs what is not there yet. What is there stays until the new one is complete."""
    source, place = sources(named), home()
    wanted = digest(source)
    if _built_from(place) == wanted:
        return Setup(str(place), str(source), built=False)
    if lacking := unfit() or missing():
        raise InputError(f"the recorder cannot be built: {lacking}")
    say(f"building the recorder of {source}: {TAKES} (needs {NEEDS})")
    build(source)
    install(source, place, wanted)
    return Setup(str(place), str(source), built=True)


def sources(named: Path | None) -> Path:
    """The folder that has the recorder's sources: the named one, or the checkout that this package is in."""
    found = (named or Path(__file__).parents[2]).absolute()
    if (found / "recorder" / "Cargo.toml").is_file():
        return found
    if named:
        raise InputError(f"--source {named}: has no file recorder/Cargo.toml: name the root of strandline's sources")
    raise InputError(
        "this installation has no sources of the recorder: name strandline's sources of this version by --source DIR, "
        "a clone of its repository or its unpacked source distribution"
    )


def unfit() -> str | None:
    """Why this machine has no recorder, or nothing."""
    if sys.platform == "linux" and platform.machine() == "x86_64":
        return None
    return f"this is {sys.platform} on {platform.machine()}: it records programs of Linux on x86-64"


def digest(source: Path) -> str:
    """The digest of all that the recorder is built from."""
    found = hashlib.sha256()
    for path in _files(source):
        found.update(f"{path.relative_to(source).as_posix()}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _files(source: Path) -> Iterable[Path]:
    # The tests of the recorder, and what they leave, are not built in.
    tests = source / "recorder" / "tests"
    found = (path for folder in SOURCES for path in (source / folder).rglob("*") if path.is_file())
    return sorted(path for path in found if not path.is_relative_to(tests))


def _built_from(place: Path) -> str | None:
    if not (place / LAUNCHER).is_file() or not (place / BUILT_FROM).is_file():
        return None
    return (place / BUILT_FROM).read_text(encoding="ascii", errors="replace").strip()


def build(source: Path) -> None:
    """Runs cargo, whose messages go to stderr. cargo keeps what is compiled when it is interrupted."""
    forget_other_places(source / PRODUCTS)
    # A source distribution keeps no permissions.
    if (script := source / CMAKE).is_file() and not os.access(script, os.X_OK):
        script.chmod(0o755)
    process = None
    try:
        with terminated_as_interrupted():
            folder = source / "recorder"
            process = subprocess.Popen(BUILD, cwd=folder, stdout=sys.stderr.fileno())  # noqa: S603 (cargo)
            status = process.wait()
    except KeyboardInterrupt:
        if process is not None:
            process.terminate()
            process.wait()
        raise InterruptError(
            "interrupted: what is compiled is kept, and so is an older recorder: repeat the command to continue"
        ) from None
    if status:
        raise InputError(f"the recorder was not built: cargo ended with status {status}: its messages are above")


def build_heap(source: Path, folder: Path) -> None:
    """Compiles the library of `record --pm-heap`, which is no part of cargo's build."""
    command = [*shlex.split(os.environ.get("CC", "cc")), *HEAP_FLAGS, "-o", str(folder / HEAP), HEAP_SOURCE]
    done = subprocess.run(command, cwd=source, stdout=sys.stderr.fileno(), check=False)  # noqa: S603 (the user's compiler)
    if done.returncode:
        raise InputError(f"the recorder was not built: {command[0]} does not compile {source / HEAP_SOURCE}")


def forget_other_places(products: Path) -> None:
    """Removes what cmake has built elsewhere: it refuses to go on with it where the sources have moved."""
    for folder in products.glob(DYNAMORIO_BUILDS):
        cache = folder / "CMakeCache.txt"
        text = cache.read_text(encoding="utf-8", errors="replace") if cache.is_file() else ""
        made_in = re.search("^CMAKE_CACHEFILE_DIR:INTERNAL=(.*)$", text, re.MULTILINE)
        if made_in and Path(made_in[1]).resolve() != folder.resolve():
            shutil.rmtree(folder)


def install(source: Path, place: Path, wanted: str) -> None:
    """Puts the files of a build into place, all at once."""
    products = source / PRODUCTS
    # A toolchain's or a feature's change makes another folder: the newest is that of this build.
    builds = sorted(products.glob(DYNAMORIO_BUILDS), key=lambda path: path.stat().st_mtime)
    if not builds:
        raise InputError(f"{products}: has no build of DynamoRIO: remove {source / 'target' / 'recorder'} and repeat")
    files = [*(builds[-1] / name for name in DYNAMORIO), *(products / name for name in OWN)]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}-") as folder:
            new = Path(folder) / "new"
            new.mkdir()
            for file in files:
                shutil.copy2(file, new)
            build_heap(source, new)
            (new / BUILT_FROM).write_text(f"{wanted}\n", encoding="ascii")
            if place.exists():
                place.rename(Path(folder) / "old")
            new.rename(place)
    except OSError as error:
        raise InputError(
            f"{place}: cannot be written: {error.strerror}: make it writable, or name another folder by {OVERRIDE}"
        ) from error
