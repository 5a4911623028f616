"""`strandline` over the fake native module, as a process: `python fake_main.py [SECONDS_A_RUN] -- ARGS`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from fake_native import FakeNative
from strandline.cli.app import App
from strandline.cli.main import main
from strandline.engine import Engine
from strandline.figures.experiments import repository_experiments

if __name__ == "__main__":
    split = sys.argv.index("--")
    engine = Engine(FakeNative(*map(float, sys.argv[1:split])))
    sys.argv = ["strandline", *sys.argv[split + 1 :]]
    main(App(lambda: engine, repository_experiments))
