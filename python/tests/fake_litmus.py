"""Litmus tests of the fake native module: two locations, x before z, and models that each know one instruction."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any


class InputError(Exception):
    """As `_native.InputError`."""


State = tuple[int, int]

#: By model: a word that a test must hold to belong to it, and the states that it forbids.
MODELS: dict[str, tuple[str, set[State]]] = {
    "eadr": ("MOV", {(0, 1), (1, 0)}),
    "intents": ("PERSIST", {(0, 1)}),
    "none": ("MOV", set()),
    "px86": ("MOV", {(0, 1)}),
    "px86:weak-locks": ("MOV", set()),
    "rp": ("LDAR", set()),
    "so": ("MOV", {(0, 1)}),
    "strand": ("JS", {(0, 1)}),
}
UNDEFINED = ("rp",)
LISTING = [
    {
        "name": name,
        "paper": "StrandWeaver (ISCA 2020)",
        "summary": f"The model {name}",
        "designs": [design for design, model in {"x86": "px86", "eadr": "eadr"}.items() if model == name],
        "variants": ["weak-locks"] if name == "px86" else [],
    }
    for name in MODELS
    if ":" not in name
]

#: By design: its model.
DESIGNS = {
    "x86": "px86",
    "x86-pcommit": "so",
    "eadr": "eadr",
    "unordered": "none",
    "non-atomic": "px86",
    "volatile": "none",
}
#: What a design shows, where it is not every state.
SHOWS: dict[str, list[State]] = {
    "x86": [(0, 0), (1, 1)],
    "x86-pcommit": [(0, 0), (1, 0), (1, 1)],
    "eadr": [(0, 0), (1, 1)],
}

MP = """X86 mp+flushed
"A message that is read only after its payload is durable"
{ x=0; z=0; }
 P0          | P1           ;
 MOV [x],$1  | MOV EAX,[f]  ;
 CLWB [x]    | MOV [z],EAX  ;
~exists (x=0 /\\ z=1)
"""
STRANDS = """X86 strandweaver-2ab
"Two strands that join"
 P0          ;
 JS          ;
exists (x=0 /\\ z=1)
"""
RACE = """X86 race
"A race"
 P0          | P1           ;
 LDAR EAX,[x] | STLR [z],$1 ;
exists (x=0 /\\ z=1)
"""
SHELF = {"papers/mp": MP, "papers/race": RACE, "papers/strandweaver-2ab": STRANDS}


#: A setting with which some machines are judged by a variant of px86, and show what it allows.
WEAK = "entries=1"
#: A setting with which every design's run never ends.
HANGS = "entries=0"
STUCK = {"machine": "asap", "seed": 23, "detail": ["core 0 waits for persist buffer"]}


def litmus(spec: dict[str, Any]) -> dict[str, Any]:
    return {"tests": [_test(test, spec) for test in spec["tests"]]}


def _test(test: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    text, file = _text(test), test.get("file")
    title = re.search(r'^"(.*)"$', text, re.MULTILINE)
    condition = text.strip().splitlines()[-1]
    for model in spec["models"] or ():
        if model not in MODELS:
            raise InputError(f"unknown model `{model}`: `strandline list models` shows all")
    names = [
        name for name in spec["models"] or MODELS if MODELS[name][0] in text and (spec["models"] or ":" not in name)
    ]
    return {
        "name": text.split()[1],
        "file": file,
        "title": title[1] if title else "",
        "text": text,
        "threads": len(set(re.findall(r"\bP\d\b", text))),
        "condition": condition,
        "locations": ["x", "z"],
        "models": [_model(name, condition, test.get("expected")) for name in names],
        "designs": [_design(name, spec["set"]) for name in spec["designs"] or () if _runs(name, text)],
    }


def _runs(design: str, text: str) -> bool:
    """A test of the design's model; designs that only `fake_native` has run none."""
    return design in DESIGNS and MODELS[DESIGNS[design]][0] in text


def _text(test: dict[str, Any]) -> str:
    text = SHELF[test["shelf"]] if "shelf" in test else str(test["text"])
    if not text.startswith("X86 "):
        raise InputError(f"{test['file']}:1: a test begins with `X86` and its name")
    return text


def _states(model: str) -> list[tuple[State, bool]]:
    return [((x, z), (x, z) not in MODELS[model][1]) for x, z in product((0, 1), repeat=2)]


def _model(name: str, condition: str, expected: dict[str, Any] | None) -> dict[str, Any]:
    forbids = (0, 1) in MODELS[name][1]
    return {
        "model": name,
        "undefined": name in UNDEFINED,
        "states": [{"values": state, "allowed": allowed} for state, allowed in _states(name)],
        "condition_holds": forbids == condition.startswith("~"),
        "expected": _compare(name, expected),
    }


def _said(name: str) -> list[str] | None:
    states = [f"x={x} z={z}" for (x, z), allowed in _states(name) if allowed]
    return None if name in UNDEFINED else states


def _compare(name: str, expected: dict[str, Any] | None) -> str:
    if expected is None:
        return "none"
    if name not in expected:
        return "missing"
    return "agrees" if expected[name] == _said(name) else "differs"


def expected(test: dict[str, Any]) -> dict[str, str]:
    """As in `docs/litmus.md`, except for a variant that allows what its model does."""
    text = _text(test)
    lines: dict[str, str] = {}
    for name in MODELS:
        if MODELS[name][0] in text:
            model, _, variant = name.partition(":")
            states = _said(name)
            head = f"  {variant or model} {'undefined' if states is None else len(states)}\n"
            lines[model] = lines.get(model, f"{Path(test['file']).stem}\n") + head
            lines[model] += "".join(f"    {state}\n" for state in states or ())
    return lines


def read_expected(spec: dict[str, Any]) -> dict[str, dict[str, list[str] | None]]:
    said: dict[str, dict[str, list[str] | None]] = {}
    states: list[str] | None = None
    test = ""
    for number, line in enumerate(spec["text"].splitlines(), 1):
        words = line.split()
        if line.startswith("    ") and states is not None:
            states.append(line.strip())
        elif line.startswith("  "):
            label = spec["model"] if words[0] == spec["model"] else f"{spec['model']}:{words[0]}"
            states = None if words[1] == "undefined" else []
            said[test][label] = states
        else:
            test = line
            if test not in spec["tests"]:
                raise InputError(f"{spec['file']}:{number}:1: there is no test `{test}` in this folder")
            said[test] = {}
    return said


def _design(name: str, settings: list[str]) -> dict[str, Any]:
    shown = SHOWS.get(name, [state for state, _ in _states("none")])
    judged = {DESIGNS[name]: _under(DESIGNS[name], "cosplay", shown)}
    if WEAK in settings:
        judged["px86:weak-locks"] = _under("px86:weak-locks", "asap", [(0, 1), (1, 0)])
    violation = {"machine": "cosplay", "seed": 17, "detail": ["z reached the media at cycle 120, x at cycle 340"]}
    return {
        "design": name,
        "model": DESIGNS[name],
        "runs": 40,
        "crash_states": 1234,
        "shown": [*shown, *([(0, 1), (1, 0)] if WEAK in settings else [])],
        "judged": judged,
        "stuck": {**STUCK, "kind": "starved"} if HANGS in settings else None,
        "violations": [{"values": state, **violation} for state in shown if state in MODELS[DESIGNS[name]][1]],
    }


def _under(model: str, machine: str, shown: list[State]) -> dict[str, Any]:
    allowed = [state for state, is_allowed in _states(model) if is_allowed]
    return {"machines": [machine], "runs": 20, "undefined": model in UNDEFINED, "allowed": allowed, "shown": shown}


def export(spec: dict[str, Any]) -> dict[str, Any]:
    """Tests with `JS` are refused."""
    text = _text(spec["test"])
    if "JS" in text:
        return {"text": None, "refused": {"mnemonic": "JS", "why": "x86 has no `JS`"}}
    return {"text": f"{spec['form']}: {text}", "refused": None}


def dot(spec: dict[str, Any]) -> dict[str, Any]:
    values = [int(value) for value in re.findall(r"=(\d+)", spec["state"])]
    if len(values) != 2:
        raise InputError(f"--dot {spec['state']}: names no state of x and z: write it as x=0 z=1")
    allowed = dict(_states(spec["model"]))[values[0], values[1]]
    return {"dot": f'digraph "{spec["model"]}" {{\n  label="{spec["state"]}";\n}}\n', "allowed": allowed}


def random(spec: dict[str, Any]) -> dict[str, Any]:
    """Every hundredth program, from seed 17 on, fails under `non-atomic`; later ones are smaller."""
    seeds = range(spec["first_seed"], spec["first_seed"] + spec["programs"])
    wrong = [seed for seed in seeds if seed % 100 == 17] if "non-atomic" in spec["designs"] else []
    return {
        "designs": [
            {"design": name, "programs": spec["programs"], "crash_states": 23 * spec["programs"]}
            for name in spec["designs"]
        ],
        "violations": [
            {
                "design": "non-atomic",
                "seed": seed,
                "machine": "cosplay",
                "kind": "forbidden",
                "size": max(2, 9 - seed // 100),
                "program": f"X86 random-{seed}\n P0          ;\n MOV [x],$1  ;\n MOV [z],$1  ;\n",
                "detail": ["x=0 z=1 is forbidden by px86"],
            }
            for seed in wrong
        ],
    }
