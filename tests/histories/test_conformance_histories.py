"""As test_histories.py, for the vectors of the conformance suite: in a file of their own, so that another
process takes them."""

import pytest

from tests.histories.test_histories import assert_same, of_folders


@pytest.mark.parametrize("name", of_folders("conformance-cycle"))
def test_the_output_equals_the_recorded_one(name: str) -> None:
    assert_same(name)
