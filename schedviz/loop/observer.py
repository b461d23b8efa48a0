"""Measures the work of the scheduler in a worker: extension points, scheduling cycles, and plugins."""

import time
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, wraps
from typing import Any, Final

from prometheus_client import Histogram

from schedviz.log_context import note
from schedviz.metrics.registry import OTHER
from schedviz.metrics.scheduler import ATTEMPT_SECONDS, PLUGIN_SECONDS, POINT_SECONDS, profile_label
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import Plugin
from simulator.framework.observer import AttemptResult
from simulator.framework.status import Status
from simulator.plugins.registry import registered
from simulator.versions.features import FEATURES_CACHED, Features

SAMPLE: Final = 10
"""Plugins are measured in every tenth cycle, as upstream (pluginMetricsSamplePercent)."""

POINTS: Final = {
    "pre_filter": "PreFilter",
    "filter": "Filter",
    "post_filter": "PostFilter",
    "pre_score": "PreScore",
    "score": "Score",
    "normalize": "ScoreExtensionNormalize",
    "reserve": "Reserve",
    "permit": "Permit",
    "bind": "Bind",
    "post_bind": "PostBind",
}
"""Method of a plugin -> upstream's name of the extension point. PreBind may wait in simulated time, and
PreEnqueue belongs to no cycle."""


class WorkObserver:
    """Implements :class:`simulator.framework.observer.Observer`."""

    def now(self) -> float:
        return time.perf_counter()

    def cycle_began(self, cycle: int) -> None:
        note(cycle=str(cycle))

    def point_ran(self, profile: str, point: str, status: str, seconds: float) -> None:
        _of_point(point, status, profile_label(profile)).observe(seconds)

    def cycle_ended(self, profile: str, result: AttemptResult, seconds: float) -> None:
        note(cycle="")
        _of_result(result, profile_label(profile)).observe(seconds)


# The client looks a child up under a lock, several times in each cycle.


@cache
def _of_point(point: str, status: str, profile: str) -> Histogram:
    return POINT_SECONDS.labels(point, status, profile)


@cache
def _of_result(result: AttemptResult, profile: str) -> Histogram:
    return ATTEMPT_SECONDS.labels(result, profile)


@lru_cache(maxsize=FEATURES_CACHED)
def measured_plugins(features: Features) -> Mapping[str, type[Plugin]]:
    """Return all installed plugins, as subclasses whose methods are measured."""
    return {name: _measured(plugin) for name, plugin in registered(features).items()}


@lru_cache(maxsize=128)
def _measured(plugin: type[Plugin]) -> type[Plugin]:
    methods = {
        method: _timed(getattr(plugin, method), plugin.name, point)
        for method, point in POINTS.items()
        if hasattr(plugin, method)
    }
    return type(plugin.__name__, (plugin,), {**methods, "__doc__": plugin.__doc__})


def _timed(function: Callable[..., Any], plugin: str, point: str) -> Callable[..., Any]:
    @wraps(function)
    def timed(self: Plugin, state: CycleState, *arguments: Any) -> Any:
        if state.cycle % SAMPLE:
            return function(self, state, *arguments)
        began, status = time.perf_counter(), "Error"
        try:
            result = function(self, state, *arguments)
            status = _status(result)
        finally:
            PLUGIN_SECONDS.labels(plugin or OTHER, point, status).observe(time.perf_counter() - began)
        return result

    return timed


def _status(result: Any) -> str:
    """Return the code of a plugin's result. PostFilter and Permit return a pair; Filter and Score return
    columns, in which each node has a status of its own."""
    if isinstance(result, tuple) and not isinstance(result, Status):
        result = next((each for each in result if isinstance(each, Status)), None)
    return result.code if isinstance(result, Status) else "Success"
