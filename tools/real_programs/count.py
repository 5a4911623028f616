"""Counts a program's instructions without the recorder.

- `qemu`: in QEMU's user mode with a plug-in. It executes some 30 million instructions a second. The emulated processor
  has no AVX-512, so libraries that choose code by processor may choose differently.
- `step`: on this processor, in single steps. It executes the code of the recorded run, at some 100,000 instructions a
  second.

Both have their own decoders. A string instruction with a `rep` prefix counts once for each iteration, as in a
recording.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strandline.errors import InputError

from .build import Built

Method = Literal["qemu", "step"]


@dataclass(frozen=True)
class Run:
    """A program and its arguments."""

    command: tuple[str, ...]
    stdin: str = ""
    environment: Mapping[str, str] | None = None
    """Environment variables, in addition to the caller's."""
    begin: str | None = None
    """The function of the program at which counting starts."""


def count(run: Run, method: Method, built: Built) -> dict[str, int]:
    """Counts, by the names of a recording's totals: `instructions`, `clwbs`, `sfences`, `stores_nt`, ..."""
    address = symbol(Path(run.command[0]), run.begin) if run.begin else 0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts.json"
        command = [*_counter(method, built, out, address), *run.command]
        environment = {**os.environ, **(run.environment or {})}
        done = subprocess.run(command, input=run.stdin, env=environment, text=True, capture_output=True, check=False)
        if done.returncode != 0 or not out.is_file():
            raise InputError(f"{' '.join(run.command)}: status {done.returncode} under {method}: {done.stderr.strip()}")
        counts: dict[str, int] = json.loads(out.read_text())
        return counts


def _counter(method: Method, built: Built, out: Path, address: int) -> list[str]:
    if method == "step":
        return [str(built["step"]), str(out), hex(address), "0"]
    qemu = shutil.which("qemu-x86_64")
    if qemu is None:
        raise InputError("qemu-x86_64 not found: install it: apt-get install qemu-user")
    begin = f",from={address:#x}" if address else ""
    return [qemu, "-cpu", "max", "-plugin", f"{built['qemu_plugin.so']},out={out}{begin}"]


def symbol(program: Path, name: str) -> int:
    """The address of a function in a program with fixed addresses."""
    lines = _nm(program)
    for line in lines:
        address, _, rest = line.partition(" ")
        if rest.split()[1:] == [name]:
            return int(address, 16)
    raise InputError(f"{program} has no function {name}: name one that `nm {program}` lists")


def _nm(program: Path) -> Sequence[str]:
    if shutil.which("nm") is None:
        raise InputError("nm not found: install it: apt-get install binutils")
    done = subprocess.run(["nm", "--defined-only", str(program)], check=False, capture_output=True, text=True)  # noqa: S607
    if done.returncode != 0:
        raise InputError(f"{program}: {done.stderr.strip()}")
    return done.stdout.splitlines()
