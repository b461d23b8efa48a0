"""The scenarios that schedviz brings along."""

from functools import cache
from pathlib import Path
from typing import Final

from simulator.queueing.versions import TODAY
from simulator.scenario import DEFAULT_PACE, Scenario, load_scenario

FOLDER: Final = Path(__file__).resolve().parent / "scenarios"
FIRST: Final = "online-vs-offline"
"""The scenario that is first in the list."""
EMPTY: Final = Scenario(
    name="sandbox", title="", summary="", seed=1, pace=DEFAULT_PACE, config=None, queue=TODAY, manifests=[]
)


@cache
def scenarios() -> dict[str, Scenario]:
    """Return all scenarios by name. The files are read once."""
    found = [load_scenario(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))]
    return {each.name: each for each in sorted(found, key=lambda each: each.name != FIRST)}
