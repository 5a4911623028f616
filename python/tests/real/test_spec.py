"""The native module declares the options of a run once: all of Python's copies match it."""

import dataclasses
import importlib.metadata
import re
from collections.abc import Mapping
from typing import Any

import pytest

from strandline import engine
from strandline.cli.crash import crash
from strandline.cli.run import run
from strandline.figures import spec as figures
from strandline.records import TOTALS
from strandline.timelines import Part

from .conftest import Installed

#: Keys of a run that no option of the command line sets.
INNER = {"figure", "warm", "recovers", "parameters", "checksum"}


@pytest.fixture(scope="module")
def declared() -> Mapping[str, Any]:
    """The declared keys of a run and of a crash test, and the scopes of `--set`."""
    from strandline import _native

    return _native.spec_fields()


def key(field: "dataclasses.Field[Any]") -> dict[str, Any]:
    """A dataclass' field as the native module declares one."""
    default = {} if field.default_factory is dict else field.default
    required = default is dataclasses.MISSING
    return {
        "name": field.name,
        "type": str(field.type).replace("tuple[str, ...]", "list[str]").replace("Mapping[str, str]", "dict"),
        "required": required,
        "default": None if required else list(default) if isinstance(default, tuple) else default,
    }


@pytest.mark.parametrize(("kind", "mirror"), [("run", engine.RunSpec), ("crash", engine.CrashSpec), ("timeline", Part)])
def test_specifications_have_the_declared_keys(declared: Mapping[str, Any], kind: str, mirror: type[Any]) -> None:
    fields = [{name: field[name] for name in ("name", "type", "required", "default")} for field in declared[kind]]
    assert [key(field) for field in dataclasses.fields(mirror)] == fields
    assert all(field["help"] for field in declared[kind])


def test_options_are_the_declared_keys(declared: Mapping[str, Any]) -> None:
    keys = {field["name"] for field in declared["run"]} - INNER
    renamed = {"designs": "design", "settings": "set"}
    options = {renamed.get(str(each.name), str(each.name)) for each in run.params}
    assert options == keys | {"as_json", "jobs", "out", "fresh", "store", "record", "fences", "counters", "dry_run"}
    inner = {field["name"] for field in declared["crash"]} - {"run"}
    assert inner <= {each.name for each in crash.params}


def test_scopes_are_the_declared_ones(declared: Mapping[str, Any]) -> None:
    assert list(engine.SCOPES) == declared["scopes"]


def test_settings_of_figures_are_declared_keys(declared: Mapping[str, Any]) -> None:
    assert set(figures.RUN_KEYS) <= {field["name"] for field in declared["run"]}
    assert {prefix.removesuffix(".") for prefix in figures.OVERRIDES} <= set(declared["scopes"])


@pytest.mark.parametrize("command", ["run sps -d x86 --tasks 50", "crash sps -d x86 --tasks 10 --points 20"])
def test_a_runtimes_parameter_is_set_from_the_command_line(installed: Installed, command: str) -> None:
    done = installed(*command.split(), "--runtime", "atlas", "--set", "runtime.log_batch=4", "--json")
    assert (done.code, done.err) == (0, "")
    assert [record["params"]["runtime.log_batch"] for record in done.document["records"]] == ["4"]


def test_the_build_is_a_version_and_a_commit() -> None:
    build = engine.load().build()
    assert build["version"] == importlib.metadata.version("strandline")
    assert re.fullmatch(r"[0-9a-f]{12}(-dirty-[0-9a-f]{8})?|unknown", build["commit"])


def test_runs_are_compared_by_task_in_all_that_adds_up() -> None:
    keys = engine.load().listing("keys")
    assert {key["name"] for key in keys if key["adds"] == "sum"} == {*TOTALS, "tasks"}
