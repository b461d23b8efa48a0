"""The version of Kubernetes whose API is served now, with its feature gates.

Upstream's code reads DefaultFeatureGate, the gates of the process. One process serves many clusters here, so
who answers a request or decides a write says for how long its cluster's are in force (:func:`serving`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast

from simulator.versions.features import UNSTATED_FEATURES, Features
from simulator.versions.kubernetes_version import KubernetesVersion

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class _Server(Protocol):
    features: Features


S = TypeVar("S", bound=_Server)

_served: Final[ContextVar[Features]] = ContextVar("served_features", default=UNSTATED_FEATURES)


@contextmanager
def serving(features: Features) -> Iterator[None]:
    """Serve the API of a version in a ``with`` block."""
    token = _served.set(features)
    try:
        yield
    finally:
        _served.reset(token)


def in_version(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Decorate a method of an API server that decides by the rules of its version."""

    @wraps(method)
    def decide(server: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        token = _served.set(server.features)  # as in serving(), without the cost of a context manager
        try:
            return method(server, *args, **kwargs)
        finally:
            _served.reset(token)

    return decide


def served_features() -> Features:
    """Return what is served; that of clusters without a version where nobody says it."""
    return _served.get()


def served_version() -> KubernetesVersion:
    return _served.get().version


def enabled(gate: str) -> bool:
    """Return whether a feature gate is on (DefaultFeatureGate.Enabled)."""
    return _served.get().enabled(gate)


def once_per_version(kept: int | None = None) -> Callable[[F], F]:
    """Decorate a function of positional arguments that depends on the version that is served, but not on its
    gates. Its results are kept: the last ``kept`` ones, None = all."""

    def decorate(make: F) -> F:
        @lru_cache(kept)
        def make_once(_: str, *args: Any) -> Any:
            return make(*args)

        @wraps(make)
        def find(*args: Any) -> Any:
            return make_once(_served.get().version.patch, *args)

        return cast("F", find)

    return decorate
