"""strandline: times published designs for persist ordering on one machine and crash-tests them against their models.

    import strandline as sl
    sl.run("sps", "x86,eadr", tasks=500)

`docs/python.md` shows what there is. A function is imported at its first use, so that the command line starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strandline.api.public import (
        claims,
        crash,
        crash_recording,
        designs,
        figure,
        litmus,
        machines,
        run,
        sweep,
        workloads,
    )
    from strandline.errors import FaultError, InputError, StuckError

_ERRORS = ("FaultError", "InputError", "StuckError")

__all__ = [
    "FaultError",
    "InputError",
    "StuckError",
    "claims",
    "crash",
    "crash_recording",
    "designs",
    "figure",
    "litmus",
    "machines",
    "run",
    "sweep",
    "workloads",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        module = "strandline.errors" if name in _ERRORS else "strandline.api.public"
        return getattr(import_module(module), name)
    raise AttributeError(f"module `strandline` has no attribute `{name}`")


def __dir__() -> list[str]:
    return __all__
