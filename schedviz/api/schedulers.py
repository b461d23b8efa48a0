"""Changes the configuration of a sandbox's scheduler, and whether it stands down."""

from collections.abc import Sequence

from django.conf import settings
from msgspec import UNSET
from msgspec.structs import replace as replace_fields

from schedviz.api.admitted_write import notify
from schedviz.store import Commit, NoSandbox, Sandbox
from simulator.api import Manifest
from simulator.apiserver.status import Cause, Invalid, NotFound
from simulator.config import ConfigError
from simulator.plugins.registry import load, profiles
from simulator.recording import Entry
from simulator.scheduler.extender_http import HttpTransport
from simulator.trace import SchedulerConfigured
from simulator.versions.features import Features


def check_configuration(configuration: Manifest | None, name: str, features: Features) -> None:
    """Raise Invalid, with the paths of the invalid fields. name: of the sandbox, for the message."""
    transport = HttpTransport(settings.EXTENDER_HOSTS)
    try:
        profiles(load(configuration, features=features), transport=transport)
    except ConfigError as error:
        causes = [Cause(path, message) for path, message in error.causes]
        raise Invalid("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io", name, causes) from None


def configure(
    sandbox: Sandbox,
    configuration: Manifest | None,
    fields: Sequence[str],
    *,
    stands_down: bool | None = None,
    dry_run: bool = False,
) -> None:
    """Set the KubeSchedulerConfiguration of the sandbox, with which a new leader begins. ``fields``: the
    changed fields, for the trace. ``stands_down``: whether its scheduler leaves all pods to outside
    schedulers; None = as before.

    Raises Invalid, with the paths of the invalid fields."""
    try:
        old = sandbox.meta()
        check_configuration(configuration, sandbox.name, old.features())
        if dry_run:
            return
        _, last, _ = sandbox.progress()
        now = max(last, sandbox.now())
        down = old.stands_down if stands_down is None else stands_down
        changed = UNSET if down == old.stands_down else down
        event = SchedulerConfigured(t=now, fields=[*fields], stands_down=changed)
        meta = replace_fields(old, config=configuration, stands_down=down)
        sandbox.commit(Commit(meta=meta, trace=[event], journal=Entry(now=now, ended=event)))
    except NoSandbox:
        raise NotFound("sandboxes", sandbox.name) from None
    notify(sandbox)


def switch_scheduler(sandbox: Sandbox, *, stands_down: bool) -> None:
    """Let the sandbox's scheduler stand down, or schedule again. Nothing changes if it does so already."""
    meta = sandbox.meta()
    if stands_down != meta.stands_down:
        configure(sandbox, meta.config, [], stands_down=stands_down)
