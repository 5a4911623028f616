"""Litmus tests, by models, by designs and by what other simulators show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from strandline import words
from strandline.api.given import Names, Place, Settings, at_least, places, session
from strandline.api.suggesting import suggesting
from strandline.errors import InputError

if TYPE_CHECKING:
    from strandline.api.litmus import Litmus
    from strandline.api.litmus_export import Exported
    from strandline.api.litmus_judge import Judgement
    from strandline.api.random_programs import RandomPrograms


@suggesting
def litmus(
    file: Place | Sequence[Place] = (),
    design: Names = (),
    *,
    model: Names = (),
    machine: Names = (),
    set: Settings = (),  # noqa: A002 - as `--set`
    timings: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
) -> Litmus:
    """Judges litmus tests by models, and by the designs that run them; without `file` all built-in tests.

    The arguments:

    - `file`: a `.litmus` file, a folder of them, the name of a built-in test, or a list of these.
    - `design`: designs to run, or `all`; without it none runs.
    - `model`: models and variants (`px86:weak-locks`); by default all that a test belongs to, or those of the designs.
    - `machine`: machines of the designs; `set`: their parameters, as `{"design.entries": 4}`.
    - `timings`: the number of runs of a design on each machine, with different latencies; `seed` of the first.
    - `jobs`: tests at once; by default as many as there are cores.

    An `InputError` if a test cannot be read, a name is unknown, or nothing is left to judge.

    >>> sl.litmus("classic/2+2w+clwb.sfence", "x86", timings=20).failures
    []
    """
    from strandline.api import litmus as api

    at = session(jobs)
    models = words.models(model) if model else ()
    api.check_models(at.engine, models)
    request = api.Request(
        models,
        api.known_designs(at.engine, words.designs(design) if design else ()),
        _of_designs(set),
        words.machines(machine) if machine else None,
        at_least(1, timings),
        words.whole(seed, 0),
    )
    return api.litmus(at, places(file), request)


@suggesting
def litmus_export(form: Literal["herd", "c"], file: Place | Sequence[Place] = (), *, out: Place) -> Exported:
    """Writes litmus tests into the folder `out` for herd7, or as C programs for other simulators.

    The arguments:

    - `form`: `herd` or `c`.
    - `file`: as for `sl.litmus`; a test with instructions that the form lacks is left out, unless it is named itself.
    - `out`: the folder.

    An `InputError` if a named test cannot be written, or if the folder cannot.

    >>> len(sl.litmus_export("c", "x86/ww+clflush", out="programs").files)
    1
    """
    from strandline.api import litmus_export as api

    if form not in api.SUFFIXES:
        raise InputError(f"form={form!r}: must be herd or c")
    return api.export(session(None), form, places(file), Path(out))


@suggesting
def litmus_judge(
    results: Place, file: Place | Sequence[Place] = (), *, model: str = "px86", jobs: int | None = None
) -> Judgement:
    """Judges the states of litmus tests that another simulator has shown.

    The arguments:

    - `results`: a file with a line of JSON for each state, as the programs of `sl.litmus_export` print.
    - `file`: as for `sl.litmus`; by default the tests are built-in ones.
    - `model`: the model that judges.
    - `jobs`: tests at once; by default as many as there are cores.

    An `InputError` names the line of a state that cannot be one of its test.

    >>> seen = '{"test": "classic/mp+clwb.sfence+dram", "state": {"x": 0, "z": 1}, "count": 12}'
    >>> _ = Path("results.jsonl").write_text(seen)
    >>> [each.keys()["state"] for each in sl.litmus_judge("results.jsonl").failures]
    ['x=0 z=1']
    """
    from strandline.api import litmus as models
    from strandline.api import litmus_judge as api

    at = session(jobs)
    models.check_models(at.engine, (model,))
    return api.judge(at, Path(results), places(file), model)


@suggesting
def litmus_random(
    programs: int,
    design: Names = "all",
    *,
    set: Settings = (),  # noqa: A002 - as `--set`
    seed: int = 1,
    jobs: int | None = None,
) -> RandomPrograms:
    """Runs random programs under designs, and judges every crash state by the designs' models.

    The arguments:

    - `programs`: how many; their seeds count from `seed`.
    - `design`: as for `sl.run`; `set`: the designs' parameters, as `{"design.entries": 4}`.
    - `jobs`: parallel runs; by default as many as there are cores.

    An `InputError` for an unknown design or parameter.

    >>> sl.litmus_random(20, "x86,asap-ep").failures
    ()
    """
    from strandline.api.litmus import known_designs
    from strandline.api.random_programs import random_programs

    at = session(jobs)
    chosen = known_designs(at.engine, words.designs(design))
    return random_programs(at, words.whole(programs, 1), chosen, _of_designs(set), words.whole(seed, 0))


def _of_designs(given: Settings) -> tuple[str, ...]:
    """Settings of designs, `KEY=VALUE`."""
    return words.each_once(words.design_setting(each) for each in words.settings(given))
