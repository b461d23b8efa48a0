"""``/s/<name>/scheduler``: the scheduler's configuration, its feature gates, and whether it stands down for
an outside one."""

from itertools import islice
from typing import Final

import msgspec
from django.http import HttpRequest, HttpResponse
from msgspec import UNSET, UnsetType

from schedviz.api import body, schedulers
from schedviz.api.cross_site import SAFE_METHODS
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.request_errors import MethodNotAllowed
from simulator.apiserver.status import BadRequest
from simulator.kernel.prepared_types import prepared

FIELDS_AT_MOST: Final = 20
"""Maximum number of changed fields that the trace event has."""


class SchedulerSettings(msgspec.Struct, frozen=True, rename="camel"):
    stands_down: bool
    """Whether the scheduler leaves all pods to outside schedulers."""
    kubernetes: str
    """The version of Kubernetes, which stays as it is."""
    feature_gates: dict[str, bool]
    """The feature gates that are set."""
    configuration: Manifest | None
    """A KubeSchedulerConfiguration; None = the default one."""


class SettingsPatch(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A change of the settings. A field that is UNSET stays as it is."""

    stands_down: bool | UnsetType = UNSET
    configuration: Manifest | UnsetType | None = UNSET
    feature_gates: dict[str, bool] | UnsetType = UNSET
    """All gates that are set then; the others have their default."""


def respond(request: HttpRequest, sandbox: Sandbox) -> HttpResponse:
    """Return the settings for GET; for PATCH, change those in its body. Raises StatusError."""
    if request.method == "PATCH":
        _change(sandbox, request.body)
    elif request.method not in SAFE_METHODS:
        raise MethodNotAllowed()
    meta = sandbox.meta()
    features = meta.features()
    settings = SchedulerSettings(meta.stands_down, features.version.patch, features.gates, meta.config)
    return body.answer(msgspec.to_builtins(settings))


def _change(sandbox: Sandbox, data: bytes) -> None:
    try:
        patch = msgspec.json.decode(data, type=prepared(SettingsPatch))
    except msgspec.MsgspecError as error:
        raise BadRequest(
            f"the body must be an object with standsDown, configuration or featureGates: {error}"
        ) from None
    meta = sandbox.meta()
    before = meta.features().gates
    down = meta.stands_down if patch.stands_down is UNSET else patch.stands_down
    configuration = meta.config if patch.configuration is UNSET else patch.configuration
    gates = before if patch.feature_gates is UNSET else patch.feature_gates
    if (down, configuration, gates) == (meta.stands_down, meta.config, before):
        return
    old, new = meta.config or {}, configuration or {}
    changed = sorted(field for field in {*old, *new} if old.get(field) != new.get(field))
    changed += schedulers.changed_gates(before, gates)
    schedulers.configure(
        sandbox,
        configuration,
        [*islice(changed, FIELDS_AT_MOST)],
        stands_down=down,
        feature_gates=None if patch.feature_gates is UNSET else gates,
    )
