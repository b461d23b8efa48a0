"""Creates sandboxes from scenarios, and chooses those that are to be deleted after a while."""

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from schedviz.access.record import read_record
from schedviz.api.new_sandbox import numbered
from schedviz.api.write import create_sandbox
from schedviz.bundled_scenarios import EMPTY, scenarios
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND
from simulator.queueing.queue_version import QueueVersion
from simulator.scenario import Scenario
from simulator.versions.features import Features, chosen_features


def create(
    store: Store,
    made: Scenario,
    scenario: str,
    names: Iterable[str],
    *,
    queue: QueueVersion | None = None,
    features: Features | None = None,
    stands_down: bool = False,
    paused: bool = False,
    access: str = "",
) -> Sandbox:
    """Create a sandbox from a scenario, with the first free one of the names.

    scenario: ``Meta.scenario``. queue, features: None = the scenario's. stands_down: whether its scheduler
    leaves all pods to outside schedulers. paused: whether simulated time stands still at the beginning.
    access: see :meth:`Store.create`. Raises StatusError, ValueError for a name that is not a DNS label.
    """
    now = store.wall()
    made = replace(made, queue=queue or made.queue, features=features or made.features)
    meta = replace(meta_of(made, now, stands_down=stands_down), scenario=scenario)
    clock = Clock(sim=int(now) * SECOND, wall=now, paused=paused)
    return create_sandbox(store, meta, made.manifests, clock, names=names, access=access)


def meta_of(made: Scenario, created: float, *, stands_down: bool = False) -> Meta:
    """Return the description of a new sandbox with the settings of a scenario, without a name."""
    return Meta(
        name="",
        title=made.title,
        summary=made.summary,
        created=created,
        seed=made.seed,
        pace=made.pace,
        config=made.config,
        queue=made.queue,
        stands_down=stands_down,
        kubernetes=made.features.version.patch,
        feature_gates=made.features.gates,
    )


def create_from_scenario(
    store: Store,
    scenario: str,
    name: str = "",
    queue: QueueVersion | None = None,
    kubernetes: str = "",
    *,
    paused: bool = False,
    access: str = "",
) -> Sandbox:
    """Create a sandbox from a bundled scenario.

    scenario: its name; "" = an empty sandbox. name: "" = the scenario's name, with a number if that is taken.
    kubernetes: the version, "" = the scenario's. Raises KeyError for an unknown scenario; UnknownVersion;
    further as :func:`create`.
    """
    made = scenarios()[scenario] if scenario else EMPTY
    features = chosen_features(made.features, kubernetes, {})
    names = [name] if name else numbered(store, made.name)
    return create(store, made, scenario, names, queue=queue, features=features, paused=paused, access=access)


def names_to_delete(
    metas: Iterable[Meta],
    now: float,
    *,
    kept_seconds: float,
    at_most: int,
    groups: Mapping[str, str] = {},
    held: Collection[str] = (),
) -> list[str]:
    """Return the names of the sandboxes to delete: those that are older than ``kept_seconds``, and as long as
    there are too many, the oldest one of the group that has most. groups: name -> address or owner; a
    sandbox that is not in it is of the group "". held: those that a presenter holds, which are not
    deleted."""
    seen = list(metas)
    free = [meta for meta in seen if meta.name not in held]
    old = [meta.name for meta in free if now - meta.created >= kept_seconds]
    fresh: dict[str, list[str]] = {}
    for meta in free:
        if now - meta.created < kept_seconds:
            fresh.setdefault(groups.get(meta.name, ""), []).append(meta.name)
    too_many = min(len(seen) - len(old) - at_most, len(free) - len(old))
    return old + [max(fresh.values(), key=len).pop(0) for _ in range(too_many)]


def groups_of(records: Mapping[str, str]) -> dict[str, str]:
    """Return for each sandbox by name the address that created it, or else its owner. records: access
    records."""
    found = {name: read_record(record) for name, record in records.items()}
    return {name: record.address or record.owner for name, record in found.items()}
