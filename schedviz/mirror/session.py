"""One session of a mirror: from the first lists until it is stopped, or something ends it."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import Empty
from typing import Final, NamedTuple

from msgspec.structs import replace
from redis.exceptions import RedisError

from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.links import make_link
from schedviz.access.record import digest_of, new_token, owned_by
from schedviz.api.new_sandbox import new_sandbox
from schedviz.kubectl_plugin.assumptions import Assumptions
from schedviz.loop import ring
from schedviz.loop.leader import Leader
from schedviz.loop.mirror_silence import ENDED, is_silent
from schedviz.mirror.first_lists import FirstLists
from schedviz.mirror.judging import MirrorJudge
from schedviz.mirror.progress import ProgressNotes
from schedviz.mirror.writer import Followed, Listener, MirrorWriter, stored_objects
from schedviz.real_cluster.cluster import SALT_BYTES
from schedviz.real_cluster.errors import ClusterError
from schedviz.real_cluster.follow import ClusterFollower, Message
from schedviz.real_cluster.read_resources import FOLLOWED
from schedviz.real_cluster.reader import ClusterReader
from schedviz.store import Clock, Commit, Failure, Lease, Meta, NoSandbox, Renewal, Sandbox, StaleLease, Store
from schedviz.store.model import Mirrored
from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.resources import NODES
from simulator.apiserver.status import StatusError
from simulator.commands.clean import refusal_lines
from simulator.dumps.followed_objects import FollowedObjects
from simulator.dumps.kubelet_versions import kubelet_version
from simulator.framework.extender import Transport
from simulator.simulation import Simulation
from simulator.trace import AnyEvent
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.versions.features import Features

REFUSED_NAMED: Final = 5
"""Maximum number of invalid objects that the page names."""
BATCH_SECONDS: Final = 0.1
"""Time for which changes are collected that are stored together."""
IDLE_SECONDS: Final = 0.5
"""The longest time between two renewals of the lease."""
BATCH: Final = 500
SLICE_SECONDS: Final = 0.25
BEHIND_SECONDS: Final = 2.0
"""A mirror that stores a change later than this is behind."""
BEHIND: Final = "more happens in the cluster than is stored in time"
CLOCK_SECONDS: Final = 1.5
"""The difference from the clock of the cluster above which that of the sandbox is set. The header Date has
whole seconds."""


ELSEWHERE: Final = (
    "other namespaces (not asked for): of their pods only the room that they take is known, so spreading and "
    "affinity with them is not"
)
NO_ROOM: Final = (
    "pods of other namespaces (forbidden): the room that they take on the nodes; so the decisions of the "
    "scheduler are not judged"
)


class MirrorError(Exception):
    """The mirror cannot begin or go on, and will not by trying again. The message is one line."""


class Cluster(NamedTuple):
    """What is mirrored, and how it is read. ``connect`` reads the kubeconfig again."""

    connect: Callable[[], ClusterReader]
    context: str
    server: str
    version: str
    """What the API server says."""
    features: Features
    configuration: Manifest | None
    """The KubeSchedulerConfiguration; None = the default one."""
    transport: Transport | None = None
    """Calls the scheduler's extenders; None = it has none."""
    source: str = "its default configuration"
    """Where the configuration is from."""
    gates: str = "its default feature gates"
    namespaces: Sequence[str] = ()
    """Those that are followed; none = all."""
    all_pods: bool = True
    """Whether the pods of all namespaces may be listed."""
    totals: Mapping[str, int] = {}
    """Of nodes and pods: how many there are, about; those that have ended count."""


class Session:
    """Follows a cluster in the sandbox ``name``, which it makes if there is none."""

    def __init__(
        self,
        store: Store,
        name: str,
        cluster: Cluster,
        say: Callable[[str], object],
        *,
        listener: Listener | None = None,
        progress: ProgressNotes | None = None,
        access: str | None = None,
    ) -> None:
        """``access``: the access record of a new sandbox; None = that of a mirror without an owner."""
        self._store = store
        self._name = name
        self._cluster = cluster
        self._say = say
        self._listener = listener
        self._progress = progress
        self._access = access
        served = {
            resource: unknown
            for resource, unknown in FOLLOWED.items()
            if not resource.gate or cluster.features.enabled(resource.gate)
        }
        self._reader = cluster.connect()
        self.follower = ClusterFollower(
            self._reader.another, served, cluster.namespaces, all_pods=cluster.all_pods
        )
        if cluster.namespaces:
            self.follower.unknown.append(ELSEWHERE if cluster.all_pods else NO_ROOM)
        self._trouble_since: float | None = None
        self._noted = ""
        self._kubelets: dict[str, int] = {}
        """The minor versions of the kubelets, each with the number of nodes."""
        self._judge = MirrorJudge(
            JudgedScheduler(
                cluster.features, cluster.configuration, said=cluster.version, transport=cluster.transport
            ),
            cluster.namespaces,
        )

    def run(self, stopping: threading.Event) -> None:
        """Follow until ``stopping`` is set. Raises ClusterError, MirrorError, StaleLease, NoSandbox,
        RedisError and other errors of the store."""
        self.follower.pulse.ask(self._reader)
        objects = FollowedObjects(
            self._now(),
            secrets.token_bytes(SALT_BYTES),
            self._cluster.features,
            self._cluster.namespaces,
        )
        first = self._read_first(objects)
        sandbox = self._sandbox(first)
        lease = self._lead(sandbox)
        ended = ENDED
        try:
            renewal = self._renewed(sandbox, lease)
            self._keep_clock(sandbox, renewal)
            leader = Leader(sandbox, self._renewed(sandbox, lease), Simulation, first.decode)
            sandbox.set_failure(None, lease)
            stored = stored_objects(sandbox)
            writer = MirrorWriter(leader, objects, stored.known, self._hear)
            writer.begin(first)
            if self._cluster.all_pods:
                self._judge.begin(first.manifests(), self._now(), stored.waiting)
            del first
            self.follower.start()
            followed = f"{self._cluster.context} ({self._cluster.server})"
            if self._progress:
                self._progress.follow()
            self._say(f"the mirror {self._name} follows {followed}; its page is /s/{self._name}/")
            self._follow(leader, writer, stopping)
        except ClusterError as failure:
            ended = str(failure)
            raise
        finally:
            self.follower.stop()
            with suppress(RedisError, StaleLease, NoSandbox):
                sandbox.set_failure(Failure(ended, 1, self._trouble_since or sandbox.wall(), 0.0), lease)
                sandbox.release_lease(lease)
                ring(self._name)

    def _read_first(self, objects: FollowedObjects) -> FirstLists:
        first = FirstLists(objects)

        def take(message: Message) -> None:
            first.take(message)
            if self._progress:
                self._progress.take(message)

        self.follower.list_all(take, first.forget)
        first.add_missing(self._now())
        first.fit()
        for left_out in first.left_out:
            self.follower.leave_out(left_out)
        refused = [*refusal_lines(objects.report)]
        self.follower.unknown += refused[:REFUSED_NAMED]
        if len(refused) > REFUSED_NAMED:
            self.follower.unknown.append(f"{objects.report.refusals} invalid objects in all")
        nodes = first.manifests().get(NODES.id, {}).values()
        self._kubelets = Counter(filter(None, map(kubelet_version, nodes)))
        return first

    def _sandbox(self, first: FirstLists) -> Sandbox:
        try:
            meta = self._store.sandbox(self._name).meta()
        except NoSandbox:
            return self._create(first)
        if meta.mirror is None:
            raise MirrorError(f"there is a sandbox {self._name}, which is no mirror; choose another --name")
        if meta.mirror.server != self._cluster.server:
            raise MirrorError(
                f"the mirror {self._name} follows {meta.mirror.server}; choose another --name, or delete it"
            )
        return self._store.handle(self._name)

    def _described(self, meta: Meta) -> Meta:
        """Return the description with what is known of the cluster now: it may have been upgraded."""
        cluster, features = self._cluster, self._cluster.features
        return replace(
            meta,
            title=cluster.context,
            config=cluster.configuration,
            kubernetes=features.version.patch,
            feature_gates=features.gates,
            mirror=Mirrored(
                cluster.context,
                cluster.server,
                cluster.version,
                self.follower.unknown,
                [*self._assumptions().of_scheduler()],
                [*cluster.namespaces],
            ),
        )

    def _create(self, first: FirstLists) -> Sandbox:
        wall = self._store.wall()
        meta = self._described(Meta(name=self._name, created=wall, stands_down=True))
        clock = Clock(sim=self._now(), wall=wall)
        try:
            with new_sandbox(
                self._store,
                [self._name],
                meta,
                first.changes(),
                clock,
                access=_access() if self._access is None else self._access,
            ) as sandbox:
                if sandboxes_have_owners() and self._access is None:
                    _, token = make_link(sandbox, "view", "mirror")
                    self._say(f"who has this link may see the mirror: /share/{self._name}/{token}/")
                return sandbox
        except (StatusError, ValueError) as refused:
            raise MirrorError(f"--name {self._name}: {refused}") from None

    def _assumptions(self) -> Assumptions:
        cluster = self._cluster
        return Assumptions(
            cluster.context,
            cluster.server,
            cluster.version,
            cluster.features.version.patch,
            cluster.source,
            cluster.gates,
            kubelets=self._kubelets,
        )

    def _lead(self, sandbox: Sandbox) -> Lease:
        held = first = sandbox.lease()
        while held and not is_silent(sandbox):
            # One that was killed has renewed its lease a moment ago, and will not again.
            if first is None or held.renewed != first.renewed:
                raise MirrorError(f"another process mirrors into {self._name} ({held.holder})")
            time.sleep(IDLE_SECONDS)
            held = sandbox.lease()
        meta = sandbox.meta()
        if (described := self._described(meta)) != meta:
            sandbox.commit(Commit(meta=described))
            held = sandbox.lease()
        lease = sandbox.take_lease(f"mirror-{secrets.token_hex(4)}", held)
        if lease is None:
            raise MirrorError(f"another process has just begun to mirror into {self._name}")
        return lease

    def _renewed(self, sandbox: Sandbox, lease: Lease) -> Renewal:
        renewal = sandbox.renew_lease(lease)
        if renewal is None:
            if not self._store.exists(self._name):
                raise NoSandbox(self._name)
            raise StaleLease(f"another process mirrors into {self._name}")
        return renewal

    def _follow(self, leader: Leader, writer: MirrorWriter, stopping: threading.Event) -> None:
        sandbox = leader.sandbox
        while not (stopping.is_set() or self.follower.unauthorized):
            batch = self._gather()
            is_behind = bool(self.follower.trouble) or writer.is_listing
            self._judge.follows(self._now(), is_behind=is_behind)
            writer.take(batch)
            renewal = self._renewed(sandbox, leader.lease)
            if self._keep_clock(sandbox, renewal):
                renewal = self._renewed(sandbox, leader.lease)
            leader.run(renewal, SLICE_SECONDS)
            if self._judge.begun:
                # The Simulation has noted by now what was decided.
                _note(leader, renewal, self._judge.take(self._now()))
            received = [each.received for each in batch if each.received]
            self._note_trouble(sandbox, leader.lease, time.monotonic() - min(received) if received else 0.0)
            ring(self._name)
        if self._judge.begun:
            renewal = self._renewed(sandbox, leader.lease)
            _note(leader, renewal, self._judge.end(self._now()))
            leader.run(renewal, SLICE_SECONDS)
        if self.follower.unauthorized:
            raise ClusterError(self.follower.unauthorized)

    def _hear(self, followed: Sequence[Followed]) -> Sequence[AnyEvent]:
        if self._judge.begun:
            self._judge.hear(followed, self._now())
        return self._listener(followed) if self._listener else ()

    def _gather(self) -> list[Message]:
        inbox = self.follower.inbox
        batch: list[Message] = []
        with suppress(Empty):
            batch.append(inbox.get(timeout=IDLE_SECONDS))
            until = time.monotonic() + BATCH_SECONDS
            while len(batch) < BATCH:
                batch.append(inbox.get(timeout=max(0.0, until - time.monotonic())))
        return batch

    def _note_trouble(self, sandbox: Sandbox, lease: Lease, lag: float) -> None:
        """Write that the mirror is cut off or behind, and since when."""
        trouble = self.follower.trouble or (BEHIND if lag > BEHIND_SECONDS else "")
        if trouble == self._noted:
            return
        wall = sandbox.wall()
        if not trouble:
            self._trouble_since = None
            sandbox.set_failure(None, lease)
        else:
            self._trouble_since = self._trouble_since or wall - lag
            sandbox.set_failure(Failure(trouble, 1, self._trouble_since, 0.0), lease)
        self._say(trouble or "the mirror follows again")
        self._noted = trouble

    # Time

    def _now(self) -> Micros:
        """Return the time by the clock of the cluster; by Redis's where the cluster does not say it."""
        clock = self.follower.pulse.clock
        seconds = self._store.wall() if clock is None else clock[0] + time.monotonic() - clock[1]
        return round(seconds * SECOND)

    def _keep_clock(self, sandbox: Sandbox, renewal: Renewal) -> bool:
        """Set the clock of the sandbox to that of the cluster; whether it had to be set."""
        wall, now = renewal.wall.now(), self._now()
        clock = renewal.clock
        if not clock.paused and clock.speed == 1.0 and abs(clock.now(wall) - now) <= CLOCK_SECONDS * SECOND:
            return False
        sandbox.set_clock(Clock(sim=now, wall=wall), clock, renewal.lease)
        return True


def _note(leader: Leader, renewal: Renewal, verdicts: Sequence[AnyEvent]) -> None:
    now = leader.clock.now(renewal.wall.now())
    leader.note([replace(each, t=now) for each in verdicts])


def _access() -> str:
    """Return the access record of a new mirror. Where sandboxes have owners, it is of nobody but the
    administrators, as the cluster is not for all visitors; others need its link."""
    return owned_by(digest_of(new_token())) if sandboxes_have_owners() else ""
