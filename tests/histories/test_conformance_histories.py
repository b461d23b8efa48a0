"""As test_histories.py, for the vectors of the conformance suite: in a file of their own, so that another
process takes them. The suites themselves are run by ``make test``, too."""

import pytest

from tests.histories.test_histories import assert_same, of_folders

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", of_folders("conformance-cycle", "conformance-run"))
def test_the_output_equals_the_recorded_one(name: str) -> None:
    assert_same(name)
