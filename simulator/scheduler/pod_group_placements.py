"""Tries a group in several placements, and chooses one of them (podGroupSchedulingPlacementAlgorithm and
findBestPlacement in pkg/scheduler/schedule_one_podgroup.go, v1.36)."""

from collections.abc import Sequence

from simulator import trace
from simulator.cluster.cluster import Cluster
from simulator.framework.cycle_state import draw
from simulator.framework.placement import Placement, PlacementAssignments
from simulator.framework.runtime import Framework
from simulator.framework.status import Status, error, unschedulable
from simulator.kernel.requests import Steps
from simulator.objects.pod_group import PodGroup
from simulator.scheduler.pod_group_algorithm import GroupCycle, GroupResult, try_members

NO_PLACEMENTS = "no feasible placements found"


def try_placements(cycle: GroupCycle, *, dry_run: bool = False) -> Steps[GroupResult]:
    """Return the result in the best placement; where the group can be scheduled in none, that in the first
    one."""
    group = cycle.group
    if group is None:
        name = cycle.key.partition("/")[2]
        return GroupResult(status=error(f'podgroup.scheduling.k8s.io "{name}" not found'))
    placements = generate_placements(cycle.scheduler.cache.cluster, cycle.framework, group)
    if isinstance(placements, Status):
        return GroupResult(status=placements)
    results: list[GroupResult] = []
    single = len(placements) == 1
    for placement in placements:
        result = yield from try_members(cycle, placement, dry_run=dry_run, keep=single)
        results.append(result)
        if result.verdict == "error":
            return _keep(cycle, result, kept=single)
    possible = [result for result in results if result.verdict in ("scheduled", "waiting")]
    if not possible:
        for each in results:
            said = each.status.message if each.status else ""
            text = f"0/{len(placements)} placements are available, first placement status: {said}"
            each.status = unschedulable(text)
        first, *first.others = results
        return _keep(cycle, first, kept=single)
    best = possible[0] if len(possible) == 1 else _best(cycle, group, possible, report=not dry_run)
    return _keep(cycle, best, kept=single)


def _keep(cycle: GroupCycle, result: GroupResult, *, kept: bool) -> GroupResult:
    """Keep the records of the searches in the placement that counts."""
    for member in () if kept else result.members:
        if member.search is not None and cycle.acting is not None:
            cycle.acting.decisions.keep(member.search)
    return result


def generate_placements(
    cluster: Cluster, framework: Framework, group: PodGroup
) -> Sequence[Placement] | Status:
    """Run the plugins, each on what the one before it left (RunPlacementGeneratePlugins)."""
    placements: Sequence[Placement] = [Placement("", cluster.order(), whole=True)]
    for plugin in framework.placement_generate_plugins:
        divided: list[Placement] = []
        for parent in placements:
            found = plugin.generate_placements(cluster, group, parent)
            if isinstance(found, Status):
                return found._replace(plugin=plugin.name)
            divided += found
        if not divided:
            return unschedulable(NO_PLACEMENTS)._replace(plugin=plugin.name)
        placements = divided
    return placements


def _best(cycle: GroupCycle, group: PodGroup, results: Sequence[GroupResult], *, report: bool) -> GroupResult:
    """Return the result in the placement with the highest weighted sum of scores; the seed decides between
    equal ones."""
    scheduler, framework = cycle.scheduler, cycle.framework
    assignments = [
        PlacementAssignments(result.placement, [m.info.pod for m in result.members if m.placed])
        for result in results
        if result.placement is not None
    ]
    totals = [0] * len(results)
    by_plugin: dict[str, Sequence[int]] = {}
    for plugin in framework.placement_score_plugins:
        scores = plugin.score_placements(scheduler.cache.cluster, group, assignments)
        weight = framework.placement_weights.get(plugin.name, 1)
        by_plugin[plugin.name] = scores
        totals = [total + score * weight for total, score in zip(totals, scores, strict=True)]
    tied = [i for i, total in enumerate(totals) if total == max(totals)]
    chosen = tied[draw(scheduler.seed, cycle.number, "placement", len(tied))]
    if report and cycle.acting is not None:
        order = sorted(range(len(totals)), key=lambda i: (i != chosen, -totals[i]))
        world = cycle.acting.world
        world.emit(
            trace.PlacementsScored(
                t=world.now,
                cycle=cycle.number,
                group=cycle.key,
                scores=[
                    trace.PlacementScore(
                        assignments[i].placement.name,
                        {name: scores[i] for name, scores in by_plugin.items()},
                        totals[i],
                        len(assignments[i].pods),
                    )
                    for i in order[: trace.PLACEMENTS_AT_MOST]
                ],
                chosen=assignments[chosen].placement.name,
                tied=len(tied),
            )
        )
    best = results[chosen]
    best.equal_placements = [each.placement.name for i in tied if (each := results[i]).placement is not None]
    return best
