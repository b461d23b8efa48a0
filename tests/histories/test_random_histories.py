"""As test_histories.py, for the random histories: a file of their own, so that another process takes them.
``make test`` runs the first of each theme."""

import pytest

from tests.histories.test_histories import assert_same, of_folders


@pytest.mark.parametrize(
    "name",
    [
        name if name.endswith("-0") else pytest.param(name, marks=pytest.mark.long)
        for name in of_folders("random")
    ],
)
def test_the_output_equals_the_recorded_one(name: str) -> None:
    assert_same(name)
