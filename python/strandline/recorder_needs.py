"""Checks for the recorder's build dependencies: what is missing is found before DynamoRIO is built.

cargo builds the recorder, and cmake DynamoRIO, with C and C++ compilers. bindgen makes its bindings: it parses the
headers with libclang, clang's own headers (`stddef.h`) and those of the C library. DynamoRIO reads symbols with zlib.
Each is tried on a few lines.
"""

from __future__ import annotations

import ctypes
import glob
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

RUST = "install Rust 1.85 or newer from https://rustup.rs and try again"
PACKAGES = "run 'sudo apt-get install cmake make gcc g++ libc6-dev libclang-dev zlib1g-dev' and try again"

C = "#include <stddef.h>\n#include <stdio.h>\nsize_t size;\n"
ZLIB = "#include <zlib.h>\n"
CXX = "#include <cstddef>\n#include <new>\nstd::size_t size;\n"

LIBRARIES = ("libclang.so", "libclang-*.so", "libclang.so.*", "libclang-*.so.*")
FOLDERS = (
    "/usr/local/llvm*/lib*",
    *(f"/usr{local}/lib*{below}" for local in ("/local", "") for below in ("/*/*", "/*", "")),
)
"""bindgen's search path for libclang (crate clang-sys), after the environment's."""

ERROR = 3
"""The severity at which clang stops."""


def missing() -> str | None:
    """What is missing, and how to get it; or nothing."""
    if shutil.which("cargo") is None:
        return f"cargo not found: {RUST}"
    found = _missing_package()
    return f"{found}: {PACKAGES}" if found else None


def _missing_package() -> str | None:
    for program in ("cmake", "make"):
        if shutil.which(program) is None:
            return f"{program} not found"
    compilers = (("CC", "cc", "c", C), ("CXX", "c++", "c++", CXX))
    for variable, default, language, source in compilers:
        compiler = os.environ.get(variable, default)
        if not compiles(compiler, language, source):
            return (
                f"{compiler} compiles no {'C++' if language == 'c++' else 'C'} program that includes a standard header"
            )
    if not compiles(os.environ.get("CC", "cc"), "c", ZLIB):
        return "zlib.h not found"
    libraries = list(libclangs())
    if not libraries:
        return "libclang not found (libclang-cpp is another library)"
    if not parses(libraries[0]):
        return f"{libraries[0]} finds no standard headers (stddef.h, stdio.h)"
    return None


def compiles(compiler: str, language: str, source: str) -> bool:
    """Whether a compiler accepts this program."""
    command = [*shlex.split(compiler), "-x", language, "-c", "-o", os.devnull, "-"]
    try:
        done = subprocess.run(  # noqa: S603 (the user's compiler)
            command, input=source, encoding="utf-8", errors="replace", capture_output=True, check=False
        )
        return done.returncode == 0
    except OSError:
        return False


def libclangs() -> Iterator[Path]:
    """The libraries that bindgen would use, in its search order."""
    named = os.environ.get("LIBCLANG_PATH")
    if named and Path(named).is_file():
        yield Path(named)
        return
    for folder in [named] if named else _folders():
        for pattern in LIBRARIES:
            found = sorted(glob.glob(f"{folder}/{pattern}"))  # noqa: PTH207 (folders are patterns, too)
            yield from (Path(path) for path in found if "-cpp." not in path)


def _folders() -> Iterator[str]:
    if config := shutil.which("llvm-config"):
        prefix = _printed(config, "--prefix")
        yield from (f"{prefix}/lib", f"{prefix}/lib64")
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    yield from FOLDERS


def parses(library: Path) -> bool:
    """Whether this libclang parses a C program that includes standard headers."""
    try:
        clang = ctypes.CDLL(str(library))
    except OSError:
        return False
    for name in ("clang_createIndex", "clang_parseTranslationUnit", "clang_getDiagnostic"):
        getattr(clang, name).restype = ctypes.c_void_p
    arguments = [argument.encode() for argument in _arguments()]
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(C)
        file.flush()
        index = ctypes.c_void_p(clang.clang_createIndex(0, 0))
        words = (ctypes.c_char_p * len(arguments))(*arguments)
        unit = clang.clang_parseTranslationUnit(index, file.name.encode(), words, len(arguments), None, 0, 0)
    if not unit:
        return False
    unit = ctypes.c_void_p(unit)
    diagnostics = (clang.clang_getDiagnostic(unit, number) for number in range(clang.clang_getNumDiagnostics(unit)))
    return all(clang.clang_getDiagnosticSeverity(ctypes.c_void_p(diagnostic)) < ERROR for diagnostic in diagnostics)


def _arguments() -> list[str]:
    """The arguments of bindgen, with the header paths of an installed `clang`, as bindgen adds them."""
    arguments = shlex.split(os.environ.get("BINDGEN_EXTRA_CLANG_ARGS", ""))
    if clang := shutil.which("clang"):
        arguments += ["-isystem", f"{_printed(clang, '-print-resource-dir')}/include"]
    return arguments


def _printed(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)  # noqa: S603 (LLVM's own programs)
    return done.stdout.strip()
