"""Errors of Python's functions, as the command line tells them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from strandline.engine import load
from strandline.errors import InputError, UnknownError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def suggesting(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The function, whose error for an unknown name suggests the closest one."""

    @wraps(function)
    def suggested(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            return function(*args, **kwargs)
        except UnknownError as error:
            raise InputError(error.with_suggestion(load().nearest)) from None

    return suggested
