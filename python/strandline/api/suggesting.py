"""Errors of Python's functions, as the command line tells them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from strandline.api.wanted import check
from strandline.engine import load
from strandline.errors import InputError, UnknownError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def suggesting(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The function, whose errors suggest the closest name for an unknown one, and say what a wrong type stands for."""

    @wraps(function)
    def suggested(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        check(function, args, kwargs)
        try:
            return function(*args, **kwargs)
        except UnknownError as error:
            raise InputError(error.with_suggestion(load().nearest)) from None

    return suggested
