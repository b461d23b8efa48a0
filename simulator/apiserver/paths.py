"""Checks of paths in a file system.

Upstream: validateLocalDescendingPath and its neighbours in pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Iterator

from simulator.apiserver.status import Cause, invalid


def check_no_steps_back(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validatePathNoBacksteps reports."""
    if ".." in text.split("/"):
        yield invalid(path, text, "must not contain '..'")


def check_descending_path(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateLocalDescendingPath reports."""
    if text.startswith("/"):
        yield invalid(path, text, "must be a relative path")
    yield from check_no_steps_back(text, path)


def check_file_path(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateLocalNonReservedPath reports."""
    yield from check_descending_path(text, path)
    if text.startswith("..") and not text.startswith("../"):
        yield invalid(path, text, "must not start with '..'")
