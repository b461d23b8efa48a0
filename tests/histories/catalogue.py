"""All histories by name, and how each is run."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.histories.answers import KINDS, answers
from tests.histories.conformance import categories, cycle, run
from tests.histories.random_history import random_history
from tests.histories.scenarios import scenario, scenarios
from tests.histories.themes import THEMES


def histories() -> Mapping[str, Callable[[], list[bytes]]]:
    """Name (``random/volumes-3``, ``scenarios/gang``) -> the function that runs the history and returns its
    lines."""
    return {
        **{f"scenarios/{name}": partial(scenario, name) for name in scenarios()},
        **{
            f"random/{name}-{number}": partial(random_history, name, number)
            for name, theme in THEMES.items()
            for number in range(theme.histories)
        },
        **{f"conformance-cycle/{name}": partial(cycle, name) for name in categories("cycle")},
        **{f"conformance-run/{name}": partial(run, name) for name in categories("run")},
        **{f"answers/{command}": partial(answers, command) for command in KINDS},
    }
