"""The extension points PreFilter and PostFilter (pkg/scheduler/framework/runtime/framework.go)."""

from typing import NamedTuple

from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.node_batch import NodeBatch
from simulator.framework.runtime import Framework
from simulator.framework.status import PluginError, PostFilterResult, Status, error, go_list
from simulator.objects.pod import Pod


class PreFilterOutcome(NamedTuple):
    """The result of RunPreFilterPlugins. ``status`` None = Success; ``node_names`` None = all nodes."""

    status: Status | None
    node_names: frozenset[str] | None
    narrowed_by: list[str]
    """The names of the plugins that returned a PreFilterResult, sorted."""
    skipped: list[str]


def run_pre_filter(framework: Framework, state: CycleState, pod: Pod) -> PreFilterOutcome:
    """Run the PreFilter plugins (RunPreFilterPlugins). Write those that returned Skip to
    ``state.skip_filter``."""
    names: frozenset[str] | None = None
    narrowed_by: set[str] = set()
    refusal: Status | None = None
    nodes = NodeBatch(state.cluster)
    skip = framework.skipped_by_spec(pod)
    skipped: list[str] = []

    def outcome(status: Status | None) -> PreFilterOutcome:
        state.skip_filter = frozenset(skipped)
        return PreFilterOutcome(status, names, sorted(narrowed_by), sorted(skipped))

    def end(status: Status) -> PreFilterOutcome:
        """Return this status without the node names that earlier plugins returned."""
        return outcome(status)._replace(node_names=None, narrowed_by=[])

    for plugin in framework.pre_filter_plugins:
        if plugin.name in skip:
            skipped.append(plugin.name)
            continue
        try:
            result = plugin.pre_filter(state, pod, nodes)
        except PluginError as fault:
            result = error(str(fault))
        if result is None:
            continue
        if isinstance(result, Status):
            if result.code == "Skip":
                skipped.append(plugin.name)
            elif result.code == "Unschedulable":
                # A later plugin may return UnschedulableAndUnresolvable, which takes precedence.
                refusal = result._replace(plugin=plugin.name)
            elif result.rejected:
                return end(result._replace(plugin=plugin.name))
            else:
                text = f'running PreFilter plugin "{plugin.name}": {result.message}'
                return end(error(text)._replace(plugin=plugin.name))
            continue
        narrowed_by.add(plugin.name)
        names = result.node_names if names is None else names & result.node_names
        if not names:
            who = go_list(narrowed_by)
            said = f"plugin(s) {who} simultaneously" if len(narrowed_by) > 1 else f"plugin {who[1:-1]}"
            reason = f"node(s) didn't satisfy {said}"
            return outcome(Status("UnschedulableAndUnresolvable", (reason,)))
    return outcome(refusal)


def run_post_filter(
    framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis
) -> tuple[PostFilterResult | None, Status]:
    """Return the result of the first plugin that succeeds; if none does, the last result that is not empty,
    and a status with the reasons of all plugins (RunPostFilterPlugins)."""
    result: PostFilterResult | None = None
    reasons: list[str] = []
    rejector = ""
    for plugin in framework.post_filter_plugins:
        try:
            found, status = plugin.post_filter(state, pod, diagnosis)
        except PluginError as fault:
            found, status = None, error(str(fault))
        if status is None:
            return found, Status("Success")
        if status.code == "UnschedulableAndUnresolvable":
            return found, status._replace(plugin=plugin.name)
        if not status.rejected:
            return None, error(status.message)._replace(plugin=plugin.name)
        if found is not None and found.nominated_node is not None:
            result = found
        reasons += status.reasons
        rejector = rejector or plugin.name
    return result, Status("Unschedulable", tuple(reasons), rejector)
