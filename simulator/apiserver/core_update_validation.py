"""Validation of updates of the core kinds but for pods: which fields may change.

Upstream: the Validate...Update functions in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.status import Cause
from simulator.apiserver.volume_update_validation import validate_claim_update, validate_volume_update

CORE_UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "persistentvolumeclaims": validate_claim_update,
    "persistentvolumes": validate_volume_update,
}
