"""Describes sandboxes as the API shows them."""

from typing import Final, Literal

from msgspec import convert

from schedviz.access.rights import Right
from schedviz.loop.clock import MAX
from schedviz.sandbox_documents import SandboxAnswer, SandboxMirror, SandboxOrigin, SandboxSummary
from schedviz.store import Sandbox
from schedviz.store.model import Summary
from simulator.api import SECOND
from simulator.apiserver.resources import NODES, PODS
from simulator.objects.durations import format_duration
from simulator.objects.timestamps import timestamp

RIGHTS: Final[dict[Right, Literal["view", "edit", "own"]]] = {
    Right.VIEW: "view",
    Right.EDIT: "edit",
    Right.OWN: "own",
}


def summary_of(found: Summary, right: Right) -> SandboxSummary:
    """Return the summary of a sandbox. found: with the numbers of nodes and pods."""
    meta = found.meta
    return SandboxSummary(
        name=meta.name,
        title=meta.title,
        scenario=meta.scenario,
        created=timestamp(int(meta.created) * SECOND),
        right=RIGHTS[right],
        kubernetes=meta.features().version.patch,
        paused=found.clock.paused,
        nodes=found.counts[NODES.id],
        pods=found.counts[PODS.id],
        pending=found.pending,
    )


def describe(sandbox: Sandbox, right: Right) -> SandboxAnswer:
    """Return the sandbox as it is now. Raises NoSandbox."""
    meta, failure = sandbox.meta(), sandbox.failure()
    clock, wall = sandbox.read_clock()
    seen, _, cycle = sandbox.progress()
    origin = meta.origin
    return SandboxAnswer(
        name=meta.name,
        title=meta.title,
        scenario=meta.scenario,
        created=timestamp(int(meta.created) * SECOND),
        right=RIGHTS[right],
        kubernetes=meta.features().version.patch,
        paused=clock.paused,
        nodes=sandbox.count(NODES.id),
        pods=sandbox.count(PODS.id),
        pending=len(sandbox.queue()[0]),
        summary=meta.summary,
        seed=meta.seed,
        pace=format_duration(meta.pace),
        queue=meta.queue,
        feature_gates=meta.features().gates,
        stands_down=meta.stands_down,
        origin=SandboxOrigin(origin.sandbox, origin.seq, origin.now, origin.change) if origin else None,
        mirror=convert(meta.mirror, SandboxMirror, from_attributes=True) if meta.mirror else None,
        time=clock.now(wall),
        speed=MAX if clock.unpaced else clock.speed,
        until=clock.until or "",
        steps=clock.steps.left if clock.steps else 0,
        observed=seen >= sandbox.version(),
        late=bool(clock.late),
        failure=failure.message if failure else "",
        last_event=sandbox.trace_head(),
        last_cycle=cycle,
        page=f"/s/{meta.name}/",
        kubernetes_api=f"/s/{meta.name}",
    )
