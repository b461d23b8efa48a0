"""Extenders in a KubeSchedulerConfiguration: staging/src/k8s.io/kube-scheduler/config/v1/types.go, and
validateExtenders in pkg/scheduler/apis/config/validation/validation.go."""

from collections.abc import Iterator, Sequence

import msgspec

from simulator.api import Manifest, Micros
from simulator.config.args import Cause
from simulator.objects import durations

DEFAULT_TIMEOUT = "5s"
MAX_TIMEOUT = "30s"
"""Maximum httpTimeout. The simulation does nothing else while it waits for an extender."""
MAX_EXTENDERS = 8
"""Maximum number of extenders, a bound on the HTTP requests of one scheduling attempt."""
MAX_EXTENDER_WEIGHT = (1 << 63) // 100 // 100


class ExtenderManagedResource(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    name: str
    ignored_by_scheduler: bool = False


class ExtenderConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The configuration of one extender. An empty verb means that the extender does not support it."""

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(name="enableHTTPS", default=False)
    tls_config: Manifest | None = msgspec.field(name="tlsConfig", default=None)
    http_timeout: str = msgspec.field(name="httpTimeout", default=DEFAULT_TIMEOUT)
    node_cache_capable: bool = False
    """Whether the extender caches nodes. Requests and responses then contain node names instead of nodes."""
    managed_resources: list[ExtenderManagedResource] = []
    """The extender is called for pods that request one of these resources; for all pods if the list is
    empty."""
    ignorable: bool = False
    """Whether scheduling continues without the extender if it cannot be reached or returns an error."""

    @property
    def timeout(self) -> Micros:
        return durations.parse_duration(self.http_timeout)


def in_call_order(extenders: Sequence[ExtenderConfig]) -> list[ExtenderConfig]:
    """Return the extenders in the order in which they are called: the ignorable ones last."""
    return sorted(extenders, key=lambda extender: extender.ignorable)


def ignored_resources(extenders: Sequence[ExtenderConfig]) -> list[str]:
    """Return the resources with ignoredByScheduler, which NodeResourcesFit ignores."""
    return [r.name for extender in extenders for r in extender.managed_resources if r.ignored_by_scheduler]


def validate_extenders(extenders: Sequence[ExtenderConfig]) -> Iterator[Cause]:
    if len(extenders) > MAX_EXTENDERS:
        yield "extenders", f"at most {MAX_EXTENDERS} extenders"
    managed: set[str] = set()
    for i, extender in enumerate(extenders):
        path = f"extenders[{i}]"
        if not extender.url_prefix.startswith(("http://", "https://")):
            yield f"{path}.urlPrefix", "must be an http or https URL"
        if extender.prioritize_verb and not 0 < extender.weight <= MAX_EXTENDER_WEIGHT:
            yield f"{path}.weight", "must have a positive weight applied to it"
        if extender.tls_config is not None:
            yield f"{path}.tlsConfig", "not supported: certificates are those that this machine trusts"
        yield from _validate_timeout(f"{path}.httpTimeout", extender.http_timeout)
        for j, resource in enumerate(extender.managed_resources):
            where = f"{path}.managedResources[{j}].name"
            if "/" not in resource.name or resource.name.partition("/")[0].endswith("kubernetes.io"):
                yield where, "must be an extended resource: a name with a domain that is not kubernetes.io"
            if resource.name in managed:
                yield where, "duplicate extender managed resource name"
            managed.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        yield (
            "extenders",
            f"found {binders} extenders implementing bind: only one extender can implement bind",
        )


def _validate_timeout(path: str, text: str) -> Iterator[Cause]:
    try:
        timeout = durations.parse_duration(text)
    except ValueError as failure:
        yield path, str(failure)
        return
    if not 0 < timeout <= durations.parse_duration(MAX_TIMEOUT):
        yield path, f"must be more than nothing and at most {MAX_TIMEOUT}"
