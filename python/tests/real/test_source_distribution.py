"""The source distribution has what its crates read outside their folders."""

import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("models", "litmus", "python/strandline.data", "recorder")


def test_the_source_distribution_has_all_that_is_built_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    wanted = {path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
    assert {name for name in wanted if (ROOT / name).is_file()} - names == set()
