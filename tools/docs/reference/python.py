"""The Python interface, from its documentation."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import strandline
from strandline import api
from strandline.api.pictures import InteractiveChart
from strandline.api.result import Result

from .markdown import table

HEAD = """# Python interface

Use this page to look up a function of `import strandline as sl`, and what its result offers.
[Python](../sweeps.md#python) shows them in use.
"""


def page() -> str:
    """The functions, the errors, and the results."""
    public = {name: getattr(strandline, name) for name in sorted(strandline.__all__)}
    functions = [_function(name, found) for name, found in public.items() if inspect.isfunction(found)]
    errors = [(f"`sl.{name}`", inspect.getdoc(found)) for name, found in public.items() if inspect.isclass(found)]
    results = [_result(found) for found in sorted(_results(), key=lambda found: found.__name__)]
    parts = (HEAD, *functions, f"## Errors\n\n{table(('error', 'what'), errors)}", "## Results\n", *results)
    return "\n".join(parts)


def _function(name: str, function: object) -> str:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    arguments = "".join(f"    {each},\n" for each in _arguments(signature))
    call = f"sl.{name}(\n{arguments})" if arguments else f"sl.{name}()"
    return f"## sl.{name}\n\n```python\n{call} -> {signature.return_annotation}\n```\n\n{inspect.getdoc(function)}\n"


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    """The parameters, with the mark behind which they need their names."""
    is_marked = False
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not is_marked:
            yield "*"
            is_marked = True
        default = "" if each.default is each.empty else f" = {each.default!r}"
        yield f"{each.name}: {each.annotation}{default}"


def _results() -> set[type]:
    for module in pkgutil.iter_modules(api.__path__, f"{api.__name__}."):
        import_module(module.name)
    return {InteractiveChart, Result, *Result.__subclasses__()}


def _result(found: type) -> str:
    """What it is, and what it offers beyond every result."""
    own = [(name, each) for name, each in vars(found).items() if not name.startswith("_") and inspect.getdoc(each)]
    rows = [(f"`{name}`", (inspect.getdoc(each) or "").partition("\n")[0]) for name, each in own if _is_own(each)]
    return f"### {found.__name__}\n\n{inspect.getdoc(found)}\n\n" + (table(("attribute", "what"), rows) if rows else "")


def _is_own(attribute: object) -> bool:
    return isinstance(attribute, property) or inspect.isfunction(attribute)
