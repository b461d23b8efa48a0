"""Validation of the probes and the lifecycle handlers of containers.

Upstream: validateProbe, validateHandler and validateLifecycle in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import SCHEMES
from simulator.apiserver.field_checks import check_port
from simulator.apiserver.shapes import (
    all_of,
    each,
    field,
    in_range,
    matches,
    may_not_have,
    must_have,
    not_negative,
    one_of,
    union,
    where,
)
from simulator.apiserver.status import Cause, invalid

_HEADER_RULE: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used "
    "for validation is '[-A-Za-z0-9]+')"
)
GRACE: Final = "terminationGracePeriodSeconds"


def validate_probes(container: Manifest, path: str, grace_seconds: int) -> Iterator[Cause]:
    """Validate the lifecycle and the probes of a container that runs as long as its pod."""
    lifecycle = container.get("lifecycle", {})
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            yield from _handler(lifecycle[name], f"{path}.lifecycle.{name}", grace_seconds)
    for kind, rules in _PROBES.items():
        if kind in container:
            yield from _handler(container[kind], f"{path}.{kind}", grace_seconds)
            yield from rules(container[kind], f"{path}.{kind}")


def _handler(handler: Manifest, path: str, grace_seconds: int) -> Iterator[Cause]:
    yield from _HANDLER(handler, path)
    if "sleep" in handler and not any(kind in handler for kind in _ACTIONS):
        seconds = handler["sleep"].get("seconds", 0)
        if not 0 <= seconds <= grace_seconds:
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
            yield invalid(f"{path}.sleep", seconds, detail)


def _port(action: Manifest, path: str) -> Iterable[Cause]:
    return check_port(action.get("port"), f"{path}.port")


_HEADER_NAME: Final = field("name", matches("[-A-Za-z0-9]+", _HEADER_RULE), shown="")
_ACTIONS: Final = {
    "exec": field("exec", must_have("command")),
    "httpGet": field(
        "httpGet",
        must_have("path"),
        _port,
        field("scheme", one_of(SCHEMES)),
        each("httpHeaders", _HEADER_NAME, indexed=False),
    ),
    "tcpSocket": field("tcpSocket", _port),
    "grpc": field("grpc", _port),
}
_HANDLER: Final = union(
    {**_ACTIONS, "sleep": all_of()},
    none="must specify a handler type",
    several="may not specify more than 1 handler type",
)
_PROBE: Final = all_of(
    not_negative(
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
    ),
    field(GRACE, in_range(1, detail="must be greater than 0")),
)
_LONG_PROBE: Final = all_of(_PROBE, field("successThreshold", where(lambda count: count == 1, "must be 1")))
_PROBES: Final = {
    "livenessProbe": _LONG_PROBE,
    "readinessProbe": all_of(
        _PROBE, field(GRACE, where(lambda _: False, "must not be set for readinessProbes"))
    ),
    "startupProbe": _LONG_PROBE,
}
NO_PROBES: Final = may_not_have(
    *("lifecycle", *_PROBES),
    detail="may not be set for init containers without restartPolicy=Always",
    even_empty=True,
)
"""The rule for an init container that ends before the others start."""
