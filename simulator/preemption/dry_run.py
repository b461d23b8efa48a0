"""The search for candidates: what evicting pods of lower priority would make possible, node by node."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simulator.cluster.columns import Rows
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import CycleState, PluginError, Status, unresolvable
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.preemption import on_columns
from simulator.preemption.budgets import Budget
from simulator.preemption.candidates import Candidates, as_columns, joined
from simulator.preemption.on_columns import Outcome
from simulator.preemption.on_node import select_victims_on_node

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
"""What is said of nodes that were not tried."""
HOPELESS = "Preemption/hopeless"
"""Where somebody who asks the same many times may note in the state, as bool[width], nodes that cannot be
candidates whatever is evicted there. They are not tried, which changes no candidate, but what is said of
them."""


class DryRun(NamedTuple):
    candidates: Candidates
    diagnosis: Diagnosis
    """Why the other nodes that were tried are none."""


def dry_run(
    framework: Framework, state: CycleState, pod: Pod, rows: Rows, *, enough: int, pdbs: Sequence[Budget]
) -> DryRun:
    """DryRunPreemption: go through ``rows`` in order until there are ``enough`` candidates, one of them at
    least without PDB violation. Raises PluginError where no candidate but a fault was found."""
    diagnosis = Diagnosis(state.cluster)
    diagnosis.absent = NOT_HELPFUL
    found: list[Candidates] = []
    clean = total = 0
    hopeless = state.find(HOPELESS)
    if hopeless is not None:
        rows = rows[~hopeless[rows]]
    for start in range(0, len(rows), enough):
        part = rows[start : start + enough]
        codes, statuses, candidates = select_victims(framework, state, pod, part, pdbs)
        violations = candidates.pdb_violations()
        cleans = clean + np.cumsum(violations == 0)
        totals = total + np.arange(1, len(violations) + 1)
        stop = np.flatnonzero((cleans > 0) & (totals >= enough))
        if len(stop):
            tried = int(np.flatnonzero(codes == 0)[stop[0]]) + 1
            part, codes = part[:tried], codes[:tried]
            candidates = candidates.taken(np.arange(stop[0] + 1))
        diagnosis.record(part, codes, statuses)
        found.append(candidates)
        if len(stop):
            break
        clean, total = int(np.count_nonzero(violations == 0)) + clean, total + len(violations)
    candidates = joined(found or [as_columns([])])
    if not len(candidates.rows):
        faulty = np.unique(diagnosis.codes[diagnosis.codes > 0]).tolist()
        faults = [s.message for s in (diagnosis.statuses[code - 1] for code in faulty) if s.code == "Error"]
        if faults:
            raise PluginError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return DryRun(candidates, diagnosis)


def select_victims(
    framework: Framework, state: CycleState, pod: Pod, rows: Rows, pdbs: Sequence[Budget]
) -> Outcome:
    """SelectVictimsOnNode for many nodes: all at once where only sums over pods matter, else one at a
    time."""
    alone = np.ones(len(rows), dtype=np.bool_)
    if on_columns.applicable(framework, state):
        nominated = [state.cluster.rows.get(name, -1) for name in state.nominated]
        alone = np.isin(rows, nominated)
        if not alone.any():
            return on_columns.select_victims(framework, state, pod, rows, pdbs)
    codes = np.zeros(len(rows), dtype=np.int64)
    statuses: list[Status] = []
    found = []
    for i in np.flatnonzero(alone).tolist():
        result = select_victims_on_node(framework, state, pod, int(rows[i]), pdbs)
        if isinstance(result, Status):
            statuses.append(result)
            codes[i] = len(statuses)
        else:
            found.append((int(rows[i]), *result))
    candidates = as_columns(found)
    if not alone.all():
        others = on_columns.select_victims(framework, state, pod, rows[~alone], pdbs)
        codes[~alone] = np.where(others.codes > 0, others.codes + len(statuses), 0)
        statuses += others.statuses
        candidates = joined([candidates, others.candidates])
        place = np.empty(state.cluster.width, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        candidates = candidates.taken(np.argsort(place[candidates.rows]))
    return Outcome(codes, statuses, candidates)
