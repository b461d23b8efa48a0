"""Extenders in a KubeSchedulerConfiguration, v1.34: staging/src/k8s.io/kube-scheduler/config/v1/types.go, and
validateExtenders in pkg/scheduler/apis/config/validation/validation.go."""

from collections.abc import Iterator, Sequence

import msgspec

from simulator.api import Manifest, Micros
from simulator.config.args import Cause
from simulator.objects import durations

DEFAULT_TIMEOUT = "5s"
MAX_TIMEOUT = "30s"
"""The scheduler stands still while it waits: longer would look like a scheduler that has stopped."""
MAX_EXTENDERS = 8
"""More than anybody runs, and a bound on what one attempt can call."""
MAX_EXTENDER_WEIGHT = (1 << 63) // 100 // 100


class ExtenderManagedResource(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    name: str
    ignored_by_scheduler: bool = False


class ExtenderConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A verb that is "" is one that the extender does not have."""

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
    """The extender knows the nodes: it is sent, and sends, names."""
    managed_resources: list[ExtenderManagedResource] = []
    """Only pods that request one of these are of interest to it; without any, all pods."""
    ignorable: bool = False
    """Without an answer, scheduling goes on as if there were no such extender."""

    @property
    def timeout(self) -> Micros:
        return durations.parse(self.http_timeout)


def in_order(extenders: Sequence[ExtenderConfig]) -> list[ExtenderConfig]:
    """As the scheduler calls them: the ignorable ones last."""
    return sorted(extenders, key=lambda extender: extender.ignorable)


def ignored_by_scheduler(extenders: Sequence[ExtenderConfig]) -> list[str]:
    """Resources that an extender looks after alone, so that NodeResourcesFit ignores them."""
    return [r.name for extender in extenders for r in extender.managed_resources if r.ignored_by_scheduler]


def validate(extenders: Sequence[ExtenderConfig]) -> Iterator[Cause]:
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
        yield from _timeout(f"{path}.httpTimeout", extender.http_timeout)
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


def _timeout(path: str, text: str) -> Iterator[Cause]:
    try:
        timeout = durations.parse(text)
    except ValueError as failure:
        yield path, str(failure)
        return
    if not 0 < timeout <= durations.parse(MAX_TIMEOUT):
        yield path, f"must be more than nothing and at most {MAX_TIMEOUT}"
