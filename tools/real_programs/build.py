"""Builds the programs into a folder."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline.errors import InputError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

DEFAULT_OUT = ROOT / "target" / "real-programs"
DEFAULT_EXAMPLES = Path("/usr/share/doc/libpmemobj-dev/examples")
"""Debian's location of the examples: `src/examples/libpmemobj` of the source package, without the common header."""

VERSION = "1.12.1"
"""The counts of instructions are valid for this version."""

INSTALL = "install it: apt-get install libpmemobj-dev libpmem-dev gcc"

# Fixed addresses, so that a counter knows a function's address. Recordings name sources from the repository's root.
FLAGS = ("-O2", "-g", f"-fdebug-prefix-map={ROOT}=.", "-no-pie", "-fno-pie", "-Wno-implicit-function-declaration")
# A call at a function's end is told as one of that function, not of its caller.
CALLS = (*FLAGS, "-fno-optimize-sibling-calls")


@dataclass(frozen=True)
class Built:
    """The folder of the programs."""

    folder: Path

    def __getitem__(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise InputError(f"{path} does not exist: build it: python -m tools.real_programs build")
        return path


def build(out: Path = DEFAULT_OUT, examples: Path = DEFAULT_EXAMPLES) -> Built:
    """Compiles everything.

    `examples` may be `src/examples/libpmemobj` of the unpacked source package, or of the unpacked binary package if
    Debian's was installed without its documents.
    """
    examples = examples.resolve()
    _check(examples)
    out.mkdir(parents=True, exist_ok=True)
    _compile(out / "mapcli", _map_sources(examples), _includes(examples), ("-lpmemobj", "-lpmem"))
    _compile(out / "queue", [examples / "queue" / "queue.c"], _includes(examples), ("-lpmemobj",))
    _compile(out / "list", [_list_source(examples)], (), ("-lpmem",), CALLS)
    _compile(out / "pool", [HERE / "programs" / "pool.c"], (), ("-lpmemobj",))
    _compile(out / "arithmetic", [HERE / "programs" / "arithmetic.c"], (), ("-nostdlib", "-static", "-fno-builtin"))
    build_counters(out)
    return Built(out)


def build_counters(out: Path) -> None:
    """Compiles what counts instructions."""
    counters = HERE / "counters"
    _compile(out / "step", [counters / "step.c"], (), ())
    _compile(out / "qemu_plugin.so", [counters / "qemu_plugin.c"], (), (), ("-O2", "-shared", "-fPIC"))


def _check(examples: Path) -> None:
    if shutil.which("gcc") is None:
        raise InputError(f"gcc not found: {INSTALL}")
    for package in ("libpmemobj-dev", "libpmem-dev", "libpmemobj1", "libpmem1"):
        found = _installed(package)
        if found is None:
            raise InputError(f"{package} is not installed: {INSTALL}")
        if not found.startswith(f"{VERSION}-"):
            raise InputError(f"{package} is {found}, but counts are those of {VERSION}: use Debian 12 (bookworm)")
    if not (examples / "map" / "mapcli.c").is_file():
        raise InputError(
            f"{examples}: PMDK's examples are not there: apt-get download libpmemobj-dev, unpack it with "
            "dpkg-deb -x, and name its usr/share/doc/libpmemobj-dev/examples by --examples"
        )


def _installed(package: str) -> str | None:
    """The version of a package."""
    if shutil.which("dpkg-query") is None:
        raise InputError("dpkg-query not found: the programs are built from Debian's packages, on Debian 12 (bookworm)")
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", package]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    status, _, version = done.stdout.partition(" ")
    return version if status == "installed" else None


def _includes(examples: Path) -> tuple[str, ...]:
    # A source package has the real header in its parent folder; ours replaces it otherwise.
    real = examples.parent if (examples.parent / "ex_common.h").is_file() else HERE / "include"
    folders = (real, examples, *(examples / name for name in ("map", "hashmap", "tree_map", "list_map")))
    return tuple(f"-I{folder}" for folder in folders)


def _map_sources(examples: Path) -> list[Path]:
    patterns = ("map/map*.c", "hashmap/*.c", "tree_map/*.c", "list_map/*.c")
    return [source for pattern in patterns for source in sorted(examples.glob(pattern))]


def _list_source(examples: Path) -> Path:
    """PMDK's list if the source package is available, else ours: both have the same arguments."""
    real = examples.parent / "pmreorder" / "pmreorder_list.c"
    return real if real.is_file() else HERE / "programs" / "list.c"


def _compile(
    out: Path, sources: Sequence[Path], includes: Sequence[str], libraries: Sequence[str], flags: Sequence[str] = FLAGS
) -> None:
    command = ["gcc", *flags, *includes, *map(str, sources), "-o", str(out), *libraries]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise InputError(f"{out.name} does not compile: {errors[0] if errors else 'gcc says nothing'}: {INSTALL}")
