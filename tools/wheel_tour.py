"""`python tools/wheel_tour.py [WHEEL]`: runs the README's tour where only a wheel and its dependencies are installed.

The environment and the folder of the commands are outside of the checkout. Without WHEEL one is built. Pictures are
drawn once the extra `plot` is installed. What is installed before it stays below `MOST`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from docs.tour import README, commands, expected_code, programs, saved

ROOT = Path(__file__).resolve().parents[1]
WHEELS = ROOT / "target" / "wheels"

MOST = 100_000_000
"""Bytes of the installed package with its dependencies."""
PICTURE = "--format"
"""An option of a command that draws."""
REPORT = "report out/cosplay-1 --out report.html"
"""A command on what the tour has written."""
RECORDER = "strandline setup-recorder"
"""How to get a recorder: `record` says it where there is none."""


@dataclass(frozen=True)
class Place:
    """An environment, and the empty folder of its commands."""

    environment: Path
    folder: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a program of the environment, which is given nothing of the checkout's."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        home = {"HOME": str(self.folder), "STRANDLINE_STORE": str(self.folder / "store")}
        command = [str(self.environment / "bin" / program), *arguments]
        return subprocess.run(command, cwd=self.folder, env={**kept, **home}, capture_output=True, text=True)

    def install(self, requirement: str) -> None:
        """Installs with the tested versions of dependencies. The environment has no pip of its own."""
        pip = (sys.executable, "-m", "pip", "--python", str(self.environment / "bin" / "python"))
        limits = ("--constraint", str(ROOT / "requirements.lock"))
        subprocess.run([*pip, "install", "--quiet", *limits, requirement], check=True)

    def installed(self) -> int:
        """Bytes of all that is installed."""
        return sum(path.stat().st_size for path in self.environment.glob("lib/**/*") if path.is_file())


@contextmanager
def empty_place() -> Iterator[Place]:
    """An environment with nothing installed, and a folder with what the README's commands name."""
    with tempfile.TemporaryDirectory(prefix="strandline tour ") as folder:
        place = Place(Path(folder) / "environment", Path(folder) / "here")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place.environment)], check=True)
        place.folder.mkdir()
        shutil.copytree(ROOT / "recordings", place.folder / "recordings")
        for name, text in saved(README).items():
            (place.folder / name).write_text(text, encoding="utf-8")
        yield place


def built() -> Path:
    """A wheel of this checkout. It takes what `make setup` has compiled."""
    kept = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"}
    command = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--out", str(WHEELS)]
    shutil.rmtree(WHEELS, ignore_errors=True)
    subprocess.run(command, cwd=ROOT, check=True, env={**kept, "PYO3_PYTHON": sys.executable})
    (wheel,) = WHEELS.glob("*.whl")
    return wheel


def faults(place: Place, lines: list[str]) -> list[str]:
    """The commands that do not end as the README says."""
    found = []
    for line in lines:
        words = shlex.split(line.replace("$PWD", str(place.folder)), comments=True)
        done = place.run("strandline", *words)
        if (done.returncode, done.stderr) != (expected_code(line), "") or not done.stdout:
            found.append(f"strandline {line}: exits {done.returncode}: {done.stderr}")
    return found


def record_says_how(place: Place) -> list[str]:
    """What is wrong with a `record` that finds no recorder: one line names the way to it."""
    done = place.run("strandline", "record", "--", "true")
    if done.returncode == 2 and done.stderr.count("\n") == 1 and RECORDER in done.stderr:
        return []
    return [f"strandline record: exits {done.returncode}: {done.stderr}"]


def in_python(place: Place) -> list[str]:
    """The programs that fail."""
    done = [place.run("python", "-c", program) for program in programs()]
    return [each.stderr for each in done if each.returncode]


def tour(place: Place, wheel: Path) -> list[str]:
    """All that is wrong."""
    if wheel.suffix == ".whl" and "-abi3-" not in wheel.name:
        return [f"{wheel.name}: is for one version of Python"]
    place.install(str(wheel))
    size = place.installed()
    print(f"installed: {size / 1e6:.0f} MB")
    found = [] if size < MOST else [f"{size / 1e6:.0f} MB are installed: more than {MOST / 1e6:.0f}"]
    plain = [line for line in commands() if PICTURE not in line]
    found += [*faults(place, [*plain, REPORT]), *record_says_how(place), *in_python(place)]
    place.install("strandline[plot]")
    print(f"with pictures: {place.installed() / 1e6:.0f} MB")
    return [*found, *faults(place, [line for line in commands() if PICTURE in line])]


def main() -> int:
    """The exit status is 1 if something is wrong."""
    wheel = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else built()
    with empty_place() as place:
        found = tour(place, wheel)
    for each in found:
        print(f"wheel: {each}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
