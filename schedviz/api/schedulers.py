"""Changes the configuration of a sandbox's scheduler, its feature gates, and whether it stands down."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from msgspec import UNSET
from msgspec.structs import replace as replace_fields

from schedviz.api.admitted_write import notify
from schedviz.store import Commit, Meta, NoSandbox, Sandbox
from simulator.api import Manifest
from simulator.apiserver.status import Cause, Invalid, NotFound
from simulator.apiserver.value_causes import with_value
from simulator.config import ConfigError
from simulator.plugins.registry import load, profiles
from simulator.recording import Entry
from simulator.scheduler.extender_http import HttpTransport
from simulator.trace import SchedulerConfigured
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.features import Features


def check_configuration(configuration: Manifest | None, name: str, features: Features) -> None:
    """Raise Invalid, with the paths of the invalid fields. name: of the sandbox, for the message."""
    transport = HttpTransport(settings.EXTENDER_HOSTS)
    try:
        profiles(load(configuration, features=features), transport=transport)
    except ConfigError as error:
        causes = [with_value(configuration or {}, path, message) for path, message in error.causes]
        raise Invalid("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io", name, causes) from None


def checked_features(meta: Meta, gates: Mapping[str, bool] | None) -> Features:
    """Return the features of a sandbox with these gates set; None = as they are. Raises Invalid."""
    features = meta.features()
    try:
        return features if gates is None else Features(features.version, gates)
    except FeatureGateError as wrong:
        causes = [Cause("featureGates", str(wrong))]
        raise Invalid(
            "KubeSchedulerConfiguration", "kubescheduler.config.k8s.io", meta.name, causes
        ) from None


def changed_gates(before: Mapping[str, bool], after: Mapping[str, bool]) -> list[str]:
    """Return the paths of the gates that are set otherwise, for the trace."""
    return [
        f"featureGates.{name}" for name in sorted({*before, *after}) if before.get(name) != after.get(name)
    ]


def configure(
    sandbox: Sandbox,
    configuration: Manifest | None,
    fields: Sequence[str],
    *,
    stands_down: bool | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    dry_run: bool = False,
) -> None:
    """Set the KubeSchedulerConfiguration of the sandbox, with which a new leader begins. ``fields``: the
    changed fields, for the trace. ``stands_down``: whether its scheduler leaves all pods to outside
    schedulers; ``feature_gates``: those that are set; None = as before.

    Raises Invalid, with the paths of the invalid fields."""
    try:
        old = sandbox.meta()
        features = checked_features(old, feature_gates)
        check_configuration(configuration, sandbox.name, features)
        if dry_run:
            return
        _, last, _ = sandbox.progress()
        now = max(last, sandbox.now())
        down = old.stands_down if stands_down is None else stands_down
        changed = UNSET if down == old.stands_down else down
        event = SchedulerConfigured(t=now, fields=[*fields], stands_down=changed)
        meta = replace_fields(old, config=configuration, stands_down=down)
        if feature_gates is not None:
            meta = replace_fields(meta, kubernetes=features.version.patch, feature_gates=features.gates)
        sandbox.commit(Commit(meta=meta, trace=[event], journal=Entry(now=now, ended=event)))
    except NoSandbox:
        raise NotFound("sandboxes", sandbox.name) from None
    notify(sandbox)


def switch_scheduler(sandbox: Sandbox, *, stands_down: bool) -> None:
    """Let the sandbox's scheduler stand down, or schedule again. Nothing changes if it does so already."""
    meta = sandbox.meta()
    if stands_down != meta.stands_down:
        configure(sandbox, meta.config, [], stands_down=stands_down)
