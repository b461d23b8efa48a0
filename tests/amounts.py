"""How many inputs a test uses: a fixed sample in ``make test``, all in ``make test-all``.

A test that asks here has the mark ``sampled``, by which ``make test-all`` chooses it.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")

WHOLE: Final = os.environ.get("WHOLE", "") == "1"
"""Whether the tests use all inputs."""
ONE_OF: Final = 4
"""The sample has one of so many inputs."""
EXAMPLES_AT_LEAST: Final = 4


def sample(inputs: Sequence[T], one_of: int = ONE_OF) -> Sequence[T]:
    """The first input and then one of so many; all of them in the whole run."""
    return inputs if WHOLE else inputs[::one_of]


def examples(number: int) -> int:
    """How many random examples a test makes, of which it makes ``number`` in the whole run."""
    return number if WHOLE else min(number, max(EXAMPLES_AT_LEAST, number // ONE_OF))


def long_but_first(values: Iterable[Any]) -> list[Any]:
    """The values of a parameter, with the mark ``long`` on all but the first."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.long) for value in others)]
