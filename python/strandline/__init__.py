"""strandline: times published designs for persist ordering on one machine and crash-tests them against their models.

    import strandline as sl
    sl.run("sps", "x86,eadr", tasks=500)

`docs/sweeps.md` shows what there is. A function is imported at its first use, so that the command line starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strandline.api.public.crashes import check, crash, crash_recording
    from strandline.api.public.diffs import diff
    from strandline.api.public.litmus import litmus, litmus_export, litmus_judge, litmus_random
    from strandline.api.public.names import designs, explain, listing, machines, places, workloads
    from strandline.api.public.runs import claims, figure, inputs, prune_store, repeat, run, store, sweep, why
    from strandline.api.public.validations import validate
    from strandline.api.public.views import report, timeline
    from strandline.errors import FaultError, InputError, StuckError

_MODULES = {
    "errors": ("FaultError", "InputError", "StuckError"),
    "api.public.crashes": ("check", "crash", "crash_recording"),
    "api.public.diffs": ("diff",),
    "api.public.litmus": ("litmus", "litmus_export", "litmus_judge", "litmus_random"),
    "api.public.names": ("designs", "explain", "listing", "machines", "places", "workloads"),
    "api.public.runs": ("claims", "figure", "inputs", "prune_store", "repeat", "run", "store", "sweep", "why"),
    "api.public.validations": ("validate",),
    "api.public.views": ("report", "timeline"),
}
"""Where each name is."""

__all__ = [
    "FaultError",
    "InputError",
    "StuckError",
    "check",
    "claims",
    "crash",
    "crash_recording",
    "designs",
    "diff",
    "explain",
    "figure",
    "inputs",
    "listing",
    "litmus",
    "litmus_export",
    "litmus_judge",
    "litmus_random",
    "machines",
    "places",
    "prune_store",
    "repeat",
    "report",
    "run",
    "store",
    "sweep",
    "timeline",
    "validate",
    "why",
    "workloads",
]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"strandline.{module}"), name)
    raise AttributeError(f"module `strandline` has no attribute `{name}`")


def __dir__() -> list[str]:
    return __all__
