"""Which sandbox a path belongs to."""

import pytest

from schedviz.access.sandbox_path import path_below_sandbox, sandbox_of_path


@pytest.mark.parametrize(
    ("path", "name", "below"),
    [
        ("/s/demo/", "demo", ""),
        ("/s/demo/api/v1/pods", "demo", "api/v1/pods"),
        ("/s/demo", "", "s/demo"),
        ("/api/sandboxes/demo", "demo", ""),
        ("/api/sandboxes/demo/run", "demo", "run"),
        ("/api/sandboxes", "", "api/sandboxes"),
        ("/api/sandboxes/", "", "api/sandboxes/"),
        ("/api/sandboxes/No/run", "", "api/sandboxes/No/run"),
        ("/", "", ""),
    ],
)
def test_the_sandbox_of_a_path(path: str, name: str, below: str) -> None:
    assert (sandbox_of_path(path), path_below_sandbox(path)) == (name, below)
